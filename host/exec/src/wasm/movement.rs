//! When a run last made progress: the clock of the idle limit.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The time of the last byte that moved, in either direction.
#[derive(Debug)]
pub(super) struct Movement {
    origin: Instant,
    /// Microseconds from `origin`.
    last: AtomicU64,
}

impl Movement {
    /// Starts now.
    pub(super) fn new() -> Self {
        Self {
            origin: Instant::now(),
            last: AtomicU64::new(0),
        }
    }

    /// Something moved.
    pub(super) fn touch(&self) {
        let micros = u64::try_from(self.origin.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.last.store(micros, Ordering::Relaxed);
    }

    /// When something last moved.
    pub(super) fn last(&self) -> Instant {
        self.origin + Duration::from_micros(self.last.load(Ordering::Relaxed))
    }
}
