//! WebAssembly programs: engine, artifacts, streams and the warm pool.
//!
//! A module is validated and compiled once ([`WasmHost::load`]), instances are made from it (ahead of requests in mode
//! `wasm-warm`), and each instance is bound to one request, runs as one task and is thrown away.

mod artifact;
mod cache;
mod cold;
mod engine;
mod epoch;
mod guest;
mod host;
mod instance;
mod keeper;
mod limiter;
mod linker;
mod meter;
mod movement;
mod policy;
mod pool;
mod program;
mod run;
mod slots;
mod stderr;
mod stdin;
mod stdio;
mod stdout;
mod validate;
mod variables;
mod warm;

#[cfg(test)]
mod tests;

pub use artifact::ArtifactError;
pub use cold::WasmCold;
pub use host::{EngineFacts, WasmHost, WasmHostConfig};
pub use program::WasmProgram;
pub use warm::{PoolSettings, PoolStatus, WasmWarm};
