//! Mode `wasm-cold`: a compiled module is instantiated inside the request.

use std::sync::Arc;

use async_trait::async_trait;
use wasmtime::PoolConcurrencyLimitError;

use crate::error::StartError;
use crate::executor::Executor;
use crate::invocation::Invocation;
use crate::running::Running;
use crate::wasm::host::WasmHost;
use crate::wasm::instance::Instance;
use crate::wasm::program::WasmProgram;
use crate::wasm::run::{Origin, launch};

/// Instantiates inside the request.
#[derive(Debug)]
pub struct WasmCold {
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
    async fn start(&self, invocation: Invocation) -> Result<Running, StartError> {
        let program = program_of(&invocation)?;
        let instance = instantiate(&self.host, &program, &invocation.runnable.name).await?;
        Ok(launch(instance, invocation, Origin::Cold))
    }
}

/// The module of an invocation.
pub(super) fn program_of(invocation: &Invocation) -> Result<Arc<WasmProgram>, StartError> {
    invocation
        .runnable
        .wasm
        .clone()
        .ok_or_else(|| StartError::Unsupported {
            program: invocation.runnable.name.to_string(),
            mode: invocation.mode,
            reason: "it has no WebAssembly module".to_owned(),
        })
}

/// An instance for this request alone.
pub(super) async fn instantiate(
    host: &WasmHost,
    program: &WasmProgram,
    name: &str,
) -> Result<Instance, StartError> {
    let slot = host.slot().await.ok_or_else(|| StartError::Exhausted {
        program: name.to_string(),
        reason: "every instance the host may have is running".to_owned(),
    })?;
    program.make(slot).await.map_err(|error| {
        let reason = format!("{error:#}");
        if error.is::<PoolConcurrencyLimitError>() {
            StartError::Exhausted {
                program: name.to_string(),
                reason,
            }
        } else {
            StartError::Other {
                program: name.to_string(),
                reason,
            }
        }
    })
}
