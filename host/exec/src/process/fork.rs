//! Mode `fork`: the server itself spawns one process per request.

use async_trait::async_trait;

use crate::error::StartError;
use crate::executor::Executor;
use crate::invocation::Invocation;
use crate::running::Running;

/// Spawns one process per request.
#[derive(Debug, Default)]
pub struct Fork {}

impl Fork {
    /// The executor.
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl Executor for Fork {
    async fn start(&self, _invocation: Invocation) -> Result<Running, StartError> {
        todo!()
    }
}
