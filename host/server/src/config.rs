//! Configuration: defaults < file < environment < flags, every key checked before anything is bound.
//!
//! One file per concern. A source is read into a [`layer::Layer`]; [`Config::resolve`] lays them over each
//! other and keeps where each value came from.

pub mod check;
pub mod entry;
pub mod environment;
pub mod error_documents;
pub mod file;
pub mod layer;
pub mod limits;
pub mod network;
pub mod origin;
pub mod policy;
pub mod program;
pub mod quantity;
mod resolve;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ipnet::IpNet;

pub use entry::{DirectoryEntry, ProgramEntry};
pub use error_documents::ErrorDocuments;
pub use network::ModeOverride;
pub use origin::{Origin, Setting};
pub use policy::{Inherited, Policy};
pub use program::ProgramSettings;
pub use resolve::Sources;

/// Everything an operator decides.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file it was read from, if any.
    pub file: Option<PathBuf>,
    /// Where programs are served.
    pub listen: SocketAddr,
    /// Where dashboard, API, metrics and health are served.
    pub admin_listen: SocketAddr,
    /// The data folder, absolute.
    pub data: PathBuf,
    /// The store's URL.
    pub store: String,
    /// The admin token, if it is not to be generated.
    pub admin_token: Option<Secret>,
    /// Whether a generated token will do for a listener that other machines reach.
    pub admin_token_generate: bool,
    /// Who may pick a mode.
    pub mode_override: ModeOverride,
    /// Networks whose forwarding headers count.
    pub trusted_proxies: Vec<IpNet>,
    /// What programs inherit.
    pub inherited: Inherited,
    /// A folder of files served below `/`.
    pub documents: Option<PathBuf>,
    /// Which address makes the page for which status.
    pub error_documents: ErrorDocuments,
    /// Whether responses say how they were run and how long it took.
    pub expose_timing: bool,
    /// Threads; the number of processors if absent.
    pub workers: Option<u32>,
    /// What is logged: a `tracing` filter.
    pub log: String,
    /// Declared programs.
    pub programs: Vec<ProgramEntry>,
    /// Folders of drop-in programs.
    pub directories: Vec<DirectoryEntry>,
    /// Every effective top-level value and where it came from.
    pub shown: Vec<Setting>,
    /// What is set and has no effect, one sentence each.
    pub warnings: Vec<String>,
}

impl Config {
    /// The store of a data folder, unless another one is configured.
    pub fn store_in(data: &Path) -> String {
        format!("sqlite:{}", data.join("warmbin.db").display())
    }
}

/// A value that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Why a configuration is refused: everything that is wrong, one line each.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.join("\n"))]
pub struct ConfigError {
    /// The lines.
    pub problems: Vec<String>,
}

impl ConfigError {
    /// A single problem.
    pub fn one(problem: impl Into<String>) -> Self {
        Self {
            problems: vec![problem.into()],
        }
    }
}
