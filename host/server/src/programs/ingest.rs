//! From files that arrived to a stored version.

use std::path::PathBuf;
use std::sync::Arc;

use warmbin_exec::wasm::WasmHost;
use warmbin_store::{Source, Store, Version};

/// Files and settings that arrived for a new version.
#[derive(Debug)]
pub struct Arrived {
    /// The program's name.
    pub name: String,
    /// The native artifact's file. From an upload it is a temporary file and is moved; from the configuration it stays where it is.
    pub native: Option<PathBuf>,
    /// The WebAssembly module's file; likewise.
    pub wasm: Option<PathBuf>,
    /// Settings as JSON.
    pub settings: Option<String>,
    /// Where it came from.
    pub source: Source,
    /// Who sent it.
    pub created_by: String,
    /// Whether it becomes active at once.
    pub activate: bool,
}

/// Why a version was refused. The text is for whoever sent it: it names what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// One field is wrong.
    #[error("{field}: {detail}")]
    Invalid {
        /// `name`, `native`, `wasm` or `settings`.
        field: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// The store or the disk failed.
    #[error("{0}")]
    Failed(String),
}

/// Detects, validates, compiles, stores. Files of `Upload` and `Cli` versions go to `DATA/programs/NAME/VERSION/`. The caller reloads the catalog.
pub async fn ingest(
    _arrived: Arrived,
    _data: &std::path::Path,
    _store: &Arc<dyn Store>,
    _wasm: &Arc<WasmHost>,
) -> Result<Version, IngestError> {
    todo!()
}
