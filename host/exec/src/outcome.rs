//! How a request ended, in one word.

use std::fmt;
use std::str::FromStr;

/// How a request ended. Stored, filtered on and shown under these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A complete answer was delivered.
    Ok,
    /// The client left before the answer was complete; the program was stopped.
    ClientGone,
    /// The wall-clock or idle limit passed.
    Timeout,
    /// The program used up its processor time.
    CpuLimit,
    /// The program asked for more memory than it may have.
    MemoryLimit,
    /// The program wrote more than it may.
    OutputLimit,
    /// The program exited with a code other than zero.
    ExitNonzero,
    /// The program was ended by a signal the host did not send.
    Signalled,
    /// A WebAssembly trap.
    Trap,
    /// The header block was missing or malformed.
    BadOutput,
    /// The program could not be started.
    SpawnFailed,
    /// No slot was free and the queue was full.
    Overloaded,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 12] = [
        Self::Ok,
        Self::ClientGone,
        Self::Timeout,
        Self::CpuLimit,
        Self::MemoryLimit,
        Self::OutputLimit,
        Self::ExitNonzero,
        Self::Signalled,
        Self::Trap,
        Self::BadOutput,
        Self::SpawnFailed,
        Self::Overloaded,
    ];

    /// The word for this outcome.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ClientGone => "client_gone",
            Self::Timeout => "timeout",
            Self::CpuLimit => "cpu_limit",
            Self::MemoryLimit => "memory_limit",
            Self::OutputLimit => "output_limit",
            Self::ExitNonzero => "exit_nonzero",
            Self::Signalled => "signalled",
            Self::Trap => "trap",
            Self::BadOutput => "bad_output",
            Self::SpawnFailed => "spawn_failed",
            Self::Overloaded => "overloaded",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown outcome {0:?}")]
pub struct UnknownOutcome(pub String);

impl FromStr for Outcome {
    type Err = UnknownOutcome;

    fn from_str(word: &str) -> Result<Self, UnknownOutcome> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == word)
            .ok_or_else(|| UnknownOutcome(word.to_owned()))
    }
}
