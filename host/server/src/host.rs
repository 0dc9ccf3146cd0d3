//! Everything a running host shares between requests.

use std::sync::Arc;

use warmbin_exec::Executors;
use warmbin_exec::wasm::WasmHost;
use warmbin_store::{Recorder, Store};

use crate::catalog::Catalog;

/// The running host.
#[derive(Debug)]
pub struct Host {
    /// Timings, programs, sessions.
    pub store: Arc<dyn Store>,
    /// Where finished requests go.
    pub recorder: Recorder,
    /// The modes.
    pub executors: Executors,
    /// The WebAssembly engine.
    pub wasm: Arc<WasmHost>,
    /// The programs.
    pub catalog: Catalog,
    // config, admin token hash, data folder, shutdown token, in-flight counter follow
}
