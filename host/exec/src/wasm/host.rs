//! The engine, its epoch thread, the linker, and loading of artifacts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::wasm::artifact::{ArtifactError, WasmProgram};
use crate::wasm::warm::PoolSettings;

/// How the engine is set up.
#[derive(Debug, Clone)]
pub struct WasmHostConfig {
    /// Where compiled artifacts are kept; made with mode 0700.
    pub cache_dir: PathBuf,
    /// The largest memory any module may have, in bytes.
    pub max_memory_bytes: u64,
    /// Instances that may exist at once, warm ones included.
    pub max_instances: u32,
}

/// What the engine turned out to be; shown on the dashboard.
#[derive(Debug, Clone)]
pub struct EngineFacts {
    /// "pooling" or "on-demand", and why.
    pub allocator: String,
    /// The wasmtime version.
    pub version: &'static str,
}

/// The engine and everything shared by all modules.
#[derive(Debug)]
pub struct WasmHost {}

impl WasmHost {
    /// Starts the engine and its epoch thread.
    pub fn new(_config: WasmHostConfig) -> Result<Arc<Self>, ArtifactError> {
        todo!()
    }

    /// What the engine turned out to be.
    pub fn facts(&self) -> EngineFacts {
        todo!()
    }

    /// Validates a module, compiles it unless its compiled form is cached, and prepares its instantiation. Blocks
    /// for as long as compiling takes (seconds for large interpreters): call it on a blocking thread.
    pub fn load(
        self: &Arc<Self>,
        _name: &str,
        _path: &Path,
        _pool: PoolSettings,
    ) -> Result<Arc<WasmProgram>, ArtifactError> {
        todo!()
    }
}
