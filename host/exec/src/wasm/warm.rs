//! Mode `wasm-warm`: a ready instance, never started, is taken from a pool, used once and thrown away. When none is
//! ready the request takes the cold path.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::StartError;
use crate::executor::Executor;
use crate::invocation::Invocation;
use crate::running::Running;
use crate::wasm::cold::{instantiate, program_of};
use crate::wasm::host::WasmHost;
use crate::wasm::run::{Origin, launch};

/// How many ready instances a program keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSettings {
    /// Kept ready even when nobody asks.
    pub min: u32,
    /// Never more than this many ready.
    pub max: u32,
}

impl Default for PoolSettings {
    fn default() -> Self {
        Self { min: 1, max: 64 }
    }
}

/// The state of a pool, for the dashboard and `/api/v1/pools`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolStatus {
    /// How many it means to keep ready.
    pub target: u32,
    /// Ready now.
    pub ready: u32,
    /// Running now.
    pub busy: u32,
    /// Requests that found a ready instance.
    pub hits: u64,
    /// Requests that took the cold path.
    pub misses: u64,
    /// Mean time to make one instance.
    pub refill: Option<Duration>,
}

/// Takes ready instances.
#[derive(Debug)]
pub struct WasmWarm {
    host: Arc<WasmHost>,
}

impl WasmWarm {
    /// The executor.
    pub fn new(host: Arc<WasmHost>) -> Self {
        Self { host }
    }
}

#[async_trait]
impl Executor for WasmWarm {
    async fn start(&self, invocation: Invocation) -> Result<Running, StartError> {
        let program = program_of(&invocation)?;
        let (ready, lease) = program.warm_pool().check_out();
        let was_warm = ready.is_some();
        let instance = match ready {
            Some(instance) => instance,
            None => instantiate(&self.host, &program, &invocation.runnable.name).await?,
        };
        Ok(launch(instance, invocation, Origin::Pool { lease, was_warm }))
    }
}
