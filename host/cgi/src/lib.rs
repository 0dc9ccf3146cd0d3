//! The Common Gateway Interface, version 1.1 (RFC 3875), as pure functions: paths to script and extra path,
//! requests to meta-variables, a program's output to a response head.
//!
//! Owns: what the protocol says. Must not know: files, sockets, processes, clocks, async. Everything here is a
//! function of its arguments, panics on no input, and is bounded by limits the caller gives.
#![forbid(unsafe_code)]

pub mod authority;
pub mod chunked;
pub mod environment;
pub mod head;
mod hop_by_hop;
pub mod meta_variables;
pub mod path;

pub use chunked::{ChunkDecoder, ChunkError};
pub use environment::Environment;
pub use head::{HeadError, HeadLimits, HeadParser, HeadStyle, Progress, ResponseHead, ResponseKind};
pub use meta_variables::{MetaVariables, Redirected, RequestFacts};
pub use path::{EncodedSlashes, PathError};
