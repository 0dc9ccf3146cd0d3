//! One version of one program, as executors see it: what to run, not where it is routed.

use std::path::PathBuf;
use std::sync::Arc;

use crate::mode::{Family, Mode};
use crate::wasm::WasmProgram;

/// One version of one program, ready to be run.
#[derive(Debug)]
pub struct Runnable {
    /// The program's name, for spans and pool tables.
    pub name: Arc<str>,
    /// The version; `None` for drop-in files of a directory.
    pub version: Option<u32>,
    /// Its native artifact, if it has one.
    pub native: Option<Native>,
    /// Its WebAssembly artifact, loaded, if it has one.
    pub wasm: Option<Arc<WasmProgram>>,
}

/// A native executable or script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Native {
    /// The file as it was named (symlinks unresolved); also `argv[0]`.
    pub path: PathBuf,
    /// A program that runs the file (`php-cgi`), found by extension. It is started with no argument.
    pub interpreter: Option<PathBuf>,
    /// The working directory: the program's folder unless the settings say otherwise.
    pub working_dir: PathBuf,
}

impl Runnable {
    /// Whether there is an artifact that `mode` can run.
    pub fn supports(&self, mode: Mode) -> bool {
        match mode.family() {
            Family::Native => self.native.is_some(),
            Family::Wasm => self.wasm.is_some(),
        }
    }
}
