//! The ways of running a program. These words are config values, header values, database values and chart
//! labels alike.

use std::fmt;
use std::str::FromStr;

/// How a request is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// The server itself spawns one process per request.
    Fork,
    /// A small single-threaded spawner daemon spawns it.
    Forkd,
    /// A process forked ahead of time waits just before exec.
    Prefork,
    /// A long-lived FastCGI worker answers many requests.
    Persistent,
    /// A compiled module is instantiated inside the request.
    WasmCold,
    /// A ready instance, never started, is taken from a pool, used once and thrown away.
    WasmWarm,
    /// An instance that has run up to its first question about the request.
    WasmParked,
}

/// Which kind of artifact a mode runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// An executable file or script, as an operating-system process.
    Native,
    /// A WebAssembly module in a sandbox.
    Wasm,
}

impl Mode {
    /// Every mode, in the order tables and charts show them.
    pub const ALL: [Self; 7] = [
        Self::Fork,
        Self::Forkd,
        Self::Prefork,
        Self::Persistent,
        Self::WasmCold,
        Self::WasmWarm,
        Self::WasmParked,
    ];

    /// The word for this mode.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Forkd => "forkd",
            Self::Prefork => "prefork",
            Self::Persistent => "persistent",
            Self::WasmCold => "wasm-cold",
            Self::WasmWarm => "wasm-warm",
            Self::WasmParked => "wasm-parked",
        }
    }

    /// The artifact this mode needs.
    pub const fn family(self) -> Family {
        match self {
            Self::Fork | Self::Forkd | Self::Prefork | Self::Persistent => Family::Native,
            Self::WasmCold | Self::WasmWarm | Self::WasmParked => Family::Wasm,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown mode {0:?}; the modes are fork, forkd, prefork, persistent, wasm-cold, wasm-warm, wasm-parked"
)]
pub struct UnknownMode(pub String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(word: &str) -> Result<Self, UnknownMode> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.as_str() == word)
            .ok_or_else(|| UnknownMode(word.to_owned()))
    }
}

impl Family {
    /// The word for this family; also the field name of its artifact in uploads.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Wasm => "wasm",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
