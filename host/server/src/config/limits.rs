//! `[limits]`: what one request of one program may use, and how many may run and wait.

use serde::{Deserialize, Serialize};

use super::quantity::{Size, Span};

/// Limits as set in one place; an absent one is inherited.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// Wall clock of the whole request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<Span>,
    /// Longest time without progress in either direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Span>,
    /// From SIGTERM to SIGKILL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace: Option<Span>,
    /// Processor time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Span>,
    /// Memory of a process or an instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Size>,
    /// Largest request body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_body: Option<Size>,
    /// Largest response body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_body: Option<Size>,
    /// Largest header block of a program's output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header_block: Option<Size>,
    /// Running at once, per program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Waiting, per program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<u32>,
    /// Processes one request may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
    /// Standard error kept per request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Size>,
}

/// Limits with every value decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitValues {
    /// Wall clock of the whole request.
    pub wall: Span,
    /// Longest time without progress in either direction.
    pub idle: Span,
    /// From SIGTERM to SIGKILL.
    pub grace: Span,
    /// Processor time.
    pub cpu: Span,
    /// Memory of a process or an instance.
    pub memory: Size,
    /// Largest request body.
    pub request_body: Size,
    /// Largest response body.
    pub response_body: Size,
    /// Largest header block of a program's output.
    pub header_block: Size,
    /// Running at once, per program.
    pub concurrency: u32,
    /// Waiting, per program.
    pub queue: u32,
    /// Processes one request may have.
    pub processes: u32,
    /// Standard error kept per request.
    pub stderr: Size,
}

impl Default for LimitValues {
    fn default() -> Self {
        let exec = warmbin_exec::Limits::default();
        Self {
            wall: Span(exec.wall),
            idle: Span(exec.idle),
            grace: Span(exec.grace),
            cpu: Span(exec.cpu),
            memory: Size(exec.memory),
            request_body: Size(64 << 20),
            response_body: Size(1 << 30),
            header_block: Size(64 << 10),
            concurrency: 64,
            queue: 256,
            processes: 64,
            stderr: Size(exec.stderr as u64),
        }
    }
}

impl LimitValues {
    /// These limits with what `over` sets.
    #[must_use]
    pub fn with(self, over: &LimitSettings) -> Self {
        Self {
            wall: over.wall.unwrap_or(self.wall),
            idle: over.idle.unwrap_or(self.idle),
            grace: over.grace.unwrap_or(self.grace),
            cpu: over.cpu.unwrap_or(self.cpu),
            memory: over.memory.unwrap_or(self.memory),
            request_body: over.request_body.unwrap_or(self.request_body),
            response_body: over.response_body.unwrap_or(self.response_body),
            header_block: over.header_block.unwrap_or(self.header_block),
            concurrency: over.concurrency.unwrap_or(self.concurrency),
            queue: over.queue.unwrap_or(self.queue),
            processes: over.processes.unwrap_or(self.processes),
            stderr: over.stderr.unwrap_or(self.stderr),
        }
    }

    /// What executors enforce.
    pub fn for_exec(&self) -> warmbin_exec::Limits {
        warmbin_exec::Limits {
            wall: self.wall.0,
            idle: self.idle.0,
            grace: self.grace.0,
            cpu: self.cpu.0,
            memory: self.memory.0,
            stderr: usize::try_from(self.stderr.0).unwrap_or(usize::MAX),
        }
    }
}

impl LimitSettings {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What is wrong with these values: each entry names the key.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (key, zero) in [
            ("wall", self.wall.is_some_and(|v| v.0.is_zero())),
            ("idle", self.idle.is_some_and(|v| v.0.is_zero())),
            ("cpu", self.cpu.is_some_and(|v| v.0.is_zero())),
            ("memory", self.memory.is_some_and(|v| v.0 == 0)),
            ("header_block", self.header_block.is_some_and(|v| v.0 == 0)),
            ("concurrency", self.concurrency == Some(0)),
            ("processes", self.processes == Some(0)),
        ] {
            if zero {
                problems.push(format!("limits.{key}: must be more than zero"));
            }
        }
        problems
    }
}
