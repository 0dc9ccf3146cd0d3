//! Uploaded modules: why one is refused, and how its machine code comes into memory.
//!
//! The only file of the WebAssembly side with `unsafe`: it decides which bytes are run as code.

use std::fs::File;

use wasmtime::{Engine, Module};

use crate::wasm::cache::Cache;

/// The compiled form of `wasm`, which must have been validated: from the cache, or compiled now. Blocks.
pub(super) fn compiled(engine: &Engine, cache: &Cache, wasm: &[u8]) -> Result<Module, ArtifactError> {
    let key = cache.key(wasm);
    if let Some(entry) = cache.find(&key) {
        match map(engine, entry) {
            Ok(module) => return Ok(module),
            Err(error) => tracing::warn!(
                cache.key = %key, error = %format_args!("{error:#}"),
                "a cached module cannot be loaded and is compiled again",
            ),
        }
    }
    let code = engine
        .precompile_module(wasm)
        .map_err(|error| ArtifactError::Invalid(format!("it cannot be compiled: {error:#}")))?;
    match cache.insert(&key, &code) {
        Ok(entry) => map(engine, entry).or_else(|_| adopt(engine, &code)),
        Err(error) => {
            tracing::warn!(cache.key = %key, %error, "a compiled module cannot be cached");
            adopt(engine, &code)
        }
    }
    .map_err(|error| ArtifactError::OverLimit(format!("{error:#}")))
}

/// Maps an entry of the cache.
#[expect(unsafe_code, reason = "running cached machine code is what the cache is for")]
fn map(engine: &Engine, entry: File) -> wasmtime::Result<Module> {
    // SAFETY: the file came out of the cache, whose folder only this user can enter; it was written by this engine
    // version from a validated module, its checksum has just been verified through this very handle, and entries are
    // replaced by rename, never written in place, so the mapped bytes do not change.
    unsafe { Module::deserialize_open_file(engine, entry) }
}

/// Loads code that was compiled a moment ago, when it cannot be mapped from the cache.
#[expect(unsafe_code, reason = "the code comes straight from the compiler")]
fn adopt(engine: &Engine, code: &[u8]) -> wasmtime::Result<Module> {
    // SAFETY: the caller got the bytes from this engine's compiler and nobody has touched them since.
    unsafe { Module::deserialize(engine, code) }
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
