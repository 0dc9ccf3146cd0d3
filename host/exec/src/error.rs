//! Why a program could not be started. Programs that start and then fail are not errors: see
//! [`crate::running::Finished`].

use std::io;

/// A program could not be started. The text is for the record and the log, never for the client.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The file, or the interpreter its first line names, does not exist.
    #[error("cannot start {program}: {source}")]
    NotFound {
        /// What was to be run.
        program: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The file may not be executed.
    #[error("cannot start {program}: {source} (is its executable bit set?)")]
    NotExecutable {
        /// What was to be run.
        program: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// Environment and arguments are larger than the system takes: a client's doing (431).
    #[error("cannot start {program}: the environment is larger than the system allows: {source}")]
    TooLarge {
        /// What was to be run.
        program: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The system lacks processes, descriptors or memory, or the pool is exhausted: 503, worth retrying.
    #[error("cannot start {program}: {reason}")]
    Exhausted {
        /// What was to be run.
        program: String,
        /// What is exhausted.
        reason: String,
    },
    /// The version has no artifact for the mode, or the mode is not one this host runs.
    #[error("{program} cannot be run in mode {mode}: {reason}")]
    Unsupported {
        /// What was to be run.
        program: String,
        /// The mode asked for.
        mode: crate::mode::Mode,
        /// Why not.
        reason: String,
    },
    /// Anything else.
    #[error("cannot start {program}: {reason}")]
    Other {
        /// What was to be run.
        program: String,
        /// The cause.
        reason: String,
    },
}
