//! Uploaded modules: what is accepted, why not, and the cache of compiled forms.

use crate::wasm::warm::PoolStatus;

/// A module that is compiled and linked, with its warm pool. Dropping it empties the pool.
#[derive(Debug)]
pub struct WasmProgram {}

impl WasmProgram {
    /// The state of its warm pool.
    pub fn pool(&self) -> PoolStatus {
        todo!()
    }

    /// Fills the warm pool to its minimum and returns once that is done.
    pub async fn warm(&self) {
        todo!()
    }
}

/// Why a module is refused. The text is shown to whoever uploads it.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// Not WebAssembly, or not valid.
    #[error("this is not a valid WebAssembly module: {0}")]
    Invalid(String),
    /// A component, where a preview1 command module is needed.
    #[error(
        "this is a WebAssembly component; only preview1 command modules (target wasm32-wasip1) are run here"
    )]
    Component,
    /// An already compiled artifact. Running one would be running arbitrary native code.
    #[error("this is a precompiled artifact; upload the .wasm module it was made from")]
    Precompiled,
    /// A module without an entry point.
    #[error(
        "the module exports no `_start` function: build it as a command (a program with `main`), not as a library"
    )]
    NoStart,
    /// Imports this host does not provide.
    #[error("the module imports functions this host does not provide: {}", .0.join(", "))]
    UnknownImports(Vec<String>),
    /// Larger than the engine's limits.
    #[error("the module is over a limit: {0}")]
    OverLimit(String),
    /// The file or the cache folder could not be read or written.
    #[error("{context}: {source}")]
    Io {
        /// What was being done.
        context: String,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// The engine failed.
    #[error("the WebAssembly engine failed: {0}")]
    Engine(String),
}
