//! What the reader of a program's output and the feeder of its input tell its supervisor.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// When a byte last moved in either direction, how many went in, and whether the output has ended.
#[derive(Debug)]
pub(super) struct Progress {
    start: Instant,
    last_us: AtomicU64,
    fed: AtomicU64,
    output_ended: CancellationToken,
}

impl Progress {
    /// Progress of a run that starts now.
    pub(super) fn new() -> Self {
        Self {
            start: Instant::now(),
            last_us: AtomicU64::new(0),
            fed: AtomicU64::new(0),
            output_ended: CancellationToken::new(),
        }
    }

    /// When the run started.
    pub(super) fn start(&self) -> Instant {
        self.start
    }

    /// Bytes moved.
    pub(super) fn moved(&self) {
        let now = u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.last_us.store(now, Ordering::Relaxed);
    }

    /// When bytes last moved; the start, if none ever did.
    pub(super) fn last(&self) -> Instant {
        self.start + Duration::from_micros(self.last_us.load(Ordering::Relaxed))
    }

    /// The program was given `bytes` of its input.
    pub(super) fn fed(&self, bytes: u64) {
        self.fed.fetch_add(bytes, Ordering::Relaxed);
        self.moved();
    }

    /// Bytes of input the program was given so far.
    pub(super) fn fed_bytes(&self) -> u64 {
        self.fed.load(Ordering::Relaxed)
    }

    /// The reader saw the end of the output, or went away.
    pub(super) fn end_output(&self) {
        self.output_ended.cancel();
    }

    /// Whether nothing more will be read.
    pub(super) fn is_output_ended(&self) -> bool {
        self.output_ended.is_cancelled()
    }

    /// Resolves when nothing more will be read.
    pub(super) async fn output_ended(&self) {
        self.output_ended.cancelled().await;
    }
}
