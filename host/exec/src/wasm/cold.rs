//! Mode `wasm-cold`: a compiled module is instantiated inside the request.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::StartError;
use crate::executor::Executor;
use crate::invocation::Invocation;
use crate::running::Running;
use crate::wasm::host::WasmHost;

/// Instantiates inside the request.
#[derive(Debug)]
pub struct WasmCold {
    #[expect(dead_code, reason = "skeleton")]
    host: Arc<WasmHost>,
}

impl WasmCold {
    /// The executor.
    pub fn new(host: Arc<WasmHost>) -> Self {
        Self { host }
    }
}

#[async_trait]
impl Executor for WasmCold {
    async fn start(&self, _invocation: Invocation) -> Result<Running, StartError> {
        todo!()
    }
}
