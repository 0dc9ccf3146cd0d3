//! The batched writer: requests hand over their record and go on; one task writes.

use std::sync::Arc;

use tokio::sync::broadcast;

use crate::record::{Record, RecordDetail};
use crate::store::Store;

/// Something to tell live listeners.
#[derive(Debug, Clone)]
pub struct LiveEvent {
    /// The record that was just finished.
    pub record: Arc<Record>,
}

/// How the writer is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecorderStats {
    /// Records handed over and not yet written.
    pub backlog: u64,
    /// Records written.
    pub written: u64,
    /// Records lost because the queue was full or the store refused them to the end.
    pub lost: u64,
}

/// Hands records to the writer. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Recorder {}

impl Recorder {
    /// Starts the writer on the current runtime. It writes what has gathered every 100 ms at the latest.
    pub fn start(_store: Arc<dyn Store>) -> Self {
        todo!()
    }

    /// Hands over a record. Never blocks and never fails the request.
    pub fn record(&self, _record: Record, _detail: RecordDetail) {
        todo!()
    }

    /// Live listeners; a slow one misses events and is told how many.
    pub fn subscribe(&self) -> broadcast::Receiver<LiveEvent> {
        todo!()
    }

    /// How the writer is doing.
    pub fn stats(&self) -> RecorderStats {
        todo!()
    }

    /// Resolves once everything handed over before the call has been written or given up.
    pub async fn flush(&self) {
        todo!()
    }
}
