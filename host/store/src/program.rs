//! Programs and their versions. Artifacts are files in the data folder; the store keeps where and what they are.

use serde::Serialize;

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name: a letter or digit, then letters, digits, `.`, `_`, `-`; at most 64.
    pub name: String,
    /// The active version's number, if one is active.
    pub active: Option<u32>,
    /// Its versions, newest first.
    pub versions: Vec<Version>,
    /// When it was first added, microseconds since the epoch.
    pub created_at: i64,
}

/// One version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// 1, 2, 3 …
    pub number: u32,
    /// Where it came from.
    pub source: Source,
    /// The native artifact.
    pub native: Option<Artifact>,
    /// The WebAssembly artifact.
    pub wasm: Option<Artifact>,
    /// The settings as JSON text, as given.
    pub settings: String,
    /// Who put it there: a token's name, "config" or "cli".
    pub created_by: String,
    /// When, microseconds since the epoch.
    pub created_at: i64,
}

/// A stored file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Artifact {
    /// Its path.
    pub path: String,
    /// SHA-256 of its content, hexadecimal.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
    /// What it was found to be: "ELF executable", "script (#!/usr/bin/perl)", "WebAssembly module (preview1)".
    pub kind: String,
}

/// Where a version came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A `[[program]]` of the configuration.
    Config,
    /// The dashboard or the API.
    Upload,
    /// `warmbin program add`.
    Cli,
}

impl Source {
    /// The word for this source.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Upload => "upload",
            Self::Cli => "cli",
        }
    }
}

/// A version to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVersion {
    /// The program; made if it does not exist.
    pub program: String,
    /// Where it came from.
    pub source: Source,
    /// The native artifact.
    pub native: Option<Artifact>,
    /// The WebAssembly artifact.
    pub wasm: Option<Artifact>,
    /// The settings as JSON text.
    pub settings: String,
    /// Who put it there.
    pub created_by: String,
    /// Whether it becomes the active one at once.
    pub activate: bool,
}
