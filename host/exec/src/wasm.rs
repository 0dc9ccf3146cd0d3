//! WebAssembly programs: engine, artifacts, streams and the warm pool.

mod artifact;
mod cold;
mod host;
mod warm;

pub use artifact::{ArtifactError, WasmProgram};
pub use cold::WasmCold;
pub use host::{EngineFacts, WasmHost, WasmHostConfig};
pub use warm::{PoolSettings, PoolStatus, WasmWarm};
