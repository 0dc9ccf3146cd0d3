//! Runs one CGI invocation in any mode: an [`Invocation`] in, a [`Running`] program out whose output streams
//! and whose end is measured.
//!
//! Owns: spawning, feeding, limiting, killing and reaping programs; the WebAssembly engine, artifacts and
//! warm pools. Must not know: HTTP connections, routes, the store, the dashboard.

pub mod error;
pub mod executor;
pub mod invocation;
pub mod limits;
pub mod mode;
pub mod outcome;
pub mod process;
pub mod runnable;
pub mod running;
pub mod runs;
pub mod wasm;

pub use error::StartError;
pub use executor::{Executor, Executors};
pub use invocation::{Body, BodyError, Invocation};
pub use limits::Limits;
pub use mode::{Family, Mode};
pub use outcome::Outcome;
pub use runnable::{Native, Runnable};
pub use running::{Cut, Exit, Finished, Output, Running, StopReason, Stopper};
pub use runs::Runs;
