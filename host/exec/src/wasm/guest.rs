//! What a store holds for its guest: the WASI context, the limiter, and the variables and arguments of the request.

use std::fmt;
use std::sync::Arc;

use warmbin_cgi::Environment;
use wasmtime_wasi::WasiCtxBuilder;
use wasmtime_wasi::p1::WasiP1Ctx;

use crate::wasm::limiter::MemoryLimiter;
use crate::wasm::stderr::StderrEnd;
use crate::wasm::stdin::StdinEnd;
use crate::wasm::stdio::Stdio;
use crate::wasm::stdout::StdoutEnd;

/// The host's side of one instance.
pub(super) struct Guest {
    pub(super) wasi: WasiP1Ctx,
    pub(super) limiter: MemoryLimiter,
    pub(super) environment: Environment,
    /// `argv`, beginning with the program's name.
    pub(super) arguments: Vec<Vec<u8>>,
}

impl Guest {
    /// A guest without a request. Its context is complete and of no other instance's making: its streams, clocks and
    /// random numbers are its own, and what derives from a request is put in place at checkout.
    pub(super) fn unbound(stdio: &Arc<Stdio>, limiter: MemoryLimiter) -> Self {
        let wasi = WasiCtxBuilder::new()
            .stdin(StdinEnd(Arc::clone(stdio)))
            .stdout(StdoutEnd(Arc::clone(stdio)))
            .stderr(StderrEnd(Arc::clone(stdio)))
            // Guests share the executor's threads: a sleep or a file operation that blocked one would stall requests
            // that have nothing to do with it, and no timeout could end it.
            .allow_blocking_current_thread(false)
            .allow_tcp(false)
            .allow_udp(false)
            .build_p1();
        Self {
            wasi,
            limiter,
            environment: Environment::new(),
            arguments: Vec::new(),
        }
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guest")
            .field("limiter", &self.limiter)
            .field("variables", &self.environment.len())
            .finish_non_exhaustive()
    }
}
