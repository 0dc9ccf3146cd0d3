//! The one shape all modes share, and the table of them.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::StartError;
use crate::invocation::Invocation;
use crate::mode::Mode;
use crate::process::Fork;
use crate::running::{Running, StopReason};
use crate::runs::Runs;
use crate::wasm::{WasmCold, WasmHost, WasmWarm};

/// Starts programs in one mode.
#[async_trait]
pub trait Executor: Send + Sync + Debug {
    /// Starts the program. Returns as soon as it can run (the end of the phase `start`); its output then streams
    /// from the returned [`Running`], and dropping that stops it.
    async fn start(&self, invocation: Invocation) -> Result<Running, StartError>;
}

/// Every mode this host runs.
#[derive(Debug)]
pub struct Executors {
    fork: Fork,
    wasm_cold: WasmCold,
    wasm_warm: WasmWarm,
    runs: Runs,
}

impl Executors {
    /// The executors of a host whose modules live in `wasm`'s engine.
    pub fn new(wasm: &Arc<WasmHost>) -> Self {
        Self {
            fork: Fork::new(),
            wasm_cold: WasmCold::new(Arc::clone(wasm)),
            wasm_warm: WasmWarm::new(Arc::clone(wasm)),
            runs: Runs::new(),
        }
    }

    /// The modes that [`Self::start`] accepts.
    pub const AVAILABLE: [Mode; 3] = [Mode::Fork, Mode::WasmCold, Mode::WasmWarm];

    /// Starts `invocation` in the mode it names.
    pub async fn start(&self, invocation: Invocation) -> Result<Running, StartError> {
        let executor: &dyn Executor = match invocation.mode {
            Mode::Fork => &self.fork,
            Mode::WasmCold => &self.wasm_cold,
            Mode::WasmWarm => &self.wasm_warm,
            mode @ (Mode::Forkd | Mode::Prefork | Mode::Persistent | Mode::WasmParked) => {
                return Err(StartError::Unsupported {
                    program: invocation.runnable.name.to_string(),
                    mode,
                    reason: "this host does not run that mode".to_owned(),
                });
            }
        };
        let running = executor.start(invocation).await?;
        self.runs.enter(&running.stopper);
        Ok(running)
    }

    /// How many programs run now, in all modes.
    pub fn running_count(&self) -> usize {
        self.runs.count()
    }

    /// Stops every running program, and from now on every one that is started.
    pub fn stop_all(&self, reason: StopReason) {
        self.runs.stop_all(reason);
    }

    /// Resolves when no program runs: all are reaped, all instances gone.
    pub async fn idle(&self) {
        self.runs.idle().await;
    }
}
