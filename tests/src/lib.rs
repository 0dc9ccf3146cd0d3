//! The harness of the black-box tests: it starts the real binary and talks to it over real sockets.
//!
//! Owns: a host with a folder and a configuration of its own, raw connections, commands, a browser. Must not know
//! anything of warmbin that a user could not know: it links none of its crates.
#![forbid(unsafe_code)]

mod browser;
mod command;
mod config;
mod host;
mod raw;
mod wait;

pub use browser::Browser;
pub use command::{git, warmbin};
pub use config::{HostBuilder, guest, repository};
pub use host::{MODES, TOKEN, TestHost, chunked};
pub use raw::{Answer, Connection, exchange};
pub use wait::wait_until;
