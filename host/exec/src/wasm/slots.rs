//! How many instances may exist. The allocator has a fixed number of places; asking here first means that it is
//! never asked in vain.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a request waits for a place. Longer queues are the server's, which knows whose turn it is.
const PATIENCE: Duration = Duration::from_millis(100);

/// The places of the allocator.
#[derive(Debug)]
pub(super) struct Slots {
    free: Arc<Semaphore>,
    /// Places that warm instances leave to requests.
    reserve: usize,
}

impl Slots {
    /// `total` places, a quarter of which is never taken by instances that wait.
    pub(super) fn new(total: u32) -> Self {
        let total = usize::try_from(total)
            .unwrap_or(usize::MAX)
            .min(Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(total)),
            reserve: total / 4,
        }
    }

    /// A place for a request.
    pub(super) fn take(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// A place for a request, waited for a moment: instances that have ended hold theirs until they are taken apart.
    pub(super) async fn wait(&self) -> Option<OwnedSemaphorePermit> {
        let place = Arc::clone(&self.free).acquire_owned();
        tokio::time::timeout(PATIENCE, place).await.ok()?.ok()
    }

    /// A place for an instance that nobody waits for.
    pub(super) fn take_spare(&self) -> Option<OwnedSemaphorePermit> {
        if self.free.available_permits() > self.reserve {
            self.take()
        } else {
            None
        }
    }
}
