//! What one invocation may use. The executor enforces these; request-side limits (body size, queue,
//! concurrency) are the server's.

use std::time::Duration;

/// Limits of one invocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall clock of the whole request, from start.
    pub wall: Duration,
    /// Longest time without a byte moving in either direction.
    pub idle: Duration,
    /// From SIGTERM to SIGKILL, and how long a grandchild may hold the output open after the program left.
    pub grace: Duration,
    /// Processor time, user and system together.
    pub cpu: Duration,
    /// Private writable memory of a process, or total linear memory of a module, in bytes.
    pub memory: u64,
    /// Bytes of standard error kept for the record; the rest is drained and dropped.
    pub stderr: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(30),
            idle: Duration::from_secs(15),
            grace: Duration::from_secs(2),
            cpu: Duration::from_secs(10),
            memory: 256 << 20,
            stderr: 64 << 10,
        }
    }
}
