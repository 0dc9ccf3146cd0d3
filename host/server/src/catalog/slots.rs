//! How many requests of one program run at once, and how many may wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The slots of one program.
#[derive(Debug)]
pub struct Slots {
    permits: Arc<Semaphore>,
    concurrency: u32,
    queue: u32,
    running: AtomicU32,
    waiting: AtomicU32,
}

/// The right to run. Dropping it lets the next one in.
#[derive(Debug)]
pub struct Slot {
    slots: Arc<Slots>,
    _permit: OwnedSemaphorePermit,
    /// Requests that were running when this one started, itself included.
    pub concurrency: u32,
}

/// Why no slot was granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Overloaded {
    /// As many are waiting as may.
    #[error("{running} requests are running and {waiting} are waiting, which is the limit")]
    QueueFull {
        /// Running now.
        running: u32,
        /// Waiting now.
        waiting: u32,
    },
    /// None came free in time.
    #[error("no slot came free within {0:?}")]
    WaitedTooLong(Duration),
}

impl Slots {
    /// `concurrency` may run and `queue` may wait.
    pub fn new(concurrency: u32, queue: u32) -> Arc<Self> {
        let permits = usize::try_from(concurrency)
            .unwrap_or(usize::MAX)
            .min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            permits: Arc::new(Semaphore::new(permits)),
            concurrency,
            queue,
            running: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
        })
    }

    /// Whether these slots have these limits.
    pub fn has_limits(&self, concurrency: u32, queue: u32) -> bool {
        self.concurrency == concurrency && self.queue == queue
    }

    /// Running now.
    pub fn running(&self) -> u32 {
        self.running.load(Ordering::Relaxed)
    }

    /// Waiting now.
    pub fn waiting(&self) -> u32 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// A slot: at once if one is free, else in the order of arrival, within `patience`.
    pub async fn acquire(self: &Arc<Self>, patience: Duration) -> Result<Slot, Overloaded> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(self.grant(permit));
        }
        let waiting = Waiting::enter(self)?;
        let permit = tokio::time::timeout(patience, Arc::clone(&self.permits).acquire_owned()).await;
        drop(waiting);
        match permit {
            Ok(Ok(permit)) => Ok(self.grant(permit)),
            // The semaphore is never closed; a timeout is the only way here.
            Ok(Err(_)) | Err(_) => Err(Overloaded::WaitedTooLong(patience)),
        }
    }

    fn grant(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> Slot {
        let concurrency = self.running.fetch_add(1, Ordering::Relaxed) + 1;
        Slot {
            slots: Arc::clone(self),
            _permit: permit,
            concurrency,
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A place in the queue; left by dropping it, also when the client leaves.
struct Waiting<'a>(&'a Slots);

impl<'a> Waiting<'a> {
    fn enter(slots: &'a Slots) -> Result<Self, Overloaded> {
        let waiting = slots.waiting.fetch_add(1, Ordering::Relaxed);
        let place = Self(slots);
        if waiting >= slots.queue {
            return Err(Overloaded::QueueFull {
                running: slots.running(),
                waiting,
            });
        }
        Ok(place)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Overloaded, Slots};

    const PATIENCE: Duration = Duration::from_hours(1);

    #[tokio::test]
    async fn the_queue_is_bounded_and_served_in_order() {
        let slots = Slots::new(1, 1);
        let first = slots.acquire(PATIENCE).await.unwrap();
        assert_eq!(first.concurrency, 1);
        let mut second = Box::pin(slots.acquire(PATIENCE));
        assert!(futures_util::future::poll_immediate(&mut second).await.is_none());
        let third = slots.acquire(PATIENCE).await.unwrap_err();
        assert_eq!(
            third,
            Overloaded::QueueFull {
                running: 1,
                waiting: 1
            }
        );
        assert_eq!(slots.waiting(), 1);
        drop(first);
        assert_eq!(second.await.unwrap().concurrency, 1);
        assert_eq!((slots.running(), slots.waiting()), (0, 0));
    }

    #[tokio::test]
    async fn a_waiter_that_leaves_gives_up_its_place() {
        let slots = Slots::new(1, 1);
        let _running = slots.acquire(PATIENCE).await.unwrap();
        let mut waiter = Box::pin(slots.acquire(PATIENCE));
        assert!(futures_util::future::poll_immediate(&mut waiter).await.is_none());
        drop(waiter);
        assert_eq!(slots.waiting(), 0);
        let late = slots.acquire(Duration::from_millis(1)).await.unwrap_err();
        assert_eq!(late, Overloaded::WaitedTooLong(Duration::from_millis(1)));
    }
}
