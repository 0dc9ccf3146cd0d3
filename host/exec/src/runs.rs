//! Every run that is now going on, in any mode: what a host needs to count, stop and await them at shutdown.
//!
//! Owns: the list of live [`Stopper`]s. Must not know: what kind of program a run is, or when a host shuts down.
//! A run counts from [`Runs::enter`] until the last clone of its stopper is gone, which is when its reader and
//! its supervisor are both done with it; executors need do nothing for that but hold a clone while they work.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;

use crate::running::{StopReason, Stopper, StopperShared};

/// The runs now going on. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    list: Mutex<List>,
    empty: Notify,
}

#[derive(Debug, Default)]
struct List {
    next: u64,
    live: HashMap<u64, Weak<StopperShared>>,
    /// Set by [`Runs::stop_all`]: a run that enters later is stopped at once.
    closed: Option<StopReason>,
}

/// A run's place in the list; it lives inside the run's stopper and leaves with it.
#[derive(Debug)]
pub(crate) struct Entry {
    id: u64,
    runs: Runs,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut list = self.runs.list();
        list.live.remove(&self.id);
        if list.live.is_empty() {
            self.runs.shared.empty.notify_waiters();
        }
    }
}

impl Runs {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts the run of `stopper` until it is over. After [`Self::stop_all`] the run is stopped at once.
    pub fn enter(&self, stopper: &Stopper) {
        let (id, closed) = {
            let mut list = self.list();
            let id = list.next;
            list.next += 1;
            list.live.insert(id, stopper.downgrade());
            (id, list.closed)
        };
        stopper.keep(Entry {
            id,
            runs: self.clone(),
        });
        if let Some(reason) = closed {
            stopper.stop(reason);
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.list().live.len()
    }

    /// Stops every run for `reason`, and from now on every run that enters.
    pub fn stop_all(&self, reason: StopReason) {
        // Collected first: a stopper dropped under the lock could be the last and would want the lock itself.
        let stoppers: Vec<Stopper> = {
            let mut list = self.list();
            list.closed = Some(reason);
            list.live.values().filter_map(Stopper::upgrade).collect()
        };
        for stopper in stoppers {
            stopper.stop(reason);
        }
    }

    /// Resolves when there is none: every program is reaped and every instance gone.
    pub async fn idle(&self) {
        loop {
            // Registered before the look, so that an end in between is not missed.
            let mut empty = std::pin::pin!(self.shared.empty.notified());
            empty.as_mut().enable();
            if self.list().live.is_empty() {
                return;
            }
            empty.await;
        }
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.shared.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::running::Cut;

    #[tokio::test]
    async fn a_run_counts_until_its_last_stopper_is_gone() {
        let runs = Runs::new();
        let reader = Stopper::new();
        let supervisor = reader.clone();
        runs.enter(&reader);
        drop(reader);
        assert_eq!(runs.count(), 1);
        let waiting = tokio::spawn({
            let runs = runs.clone();
            async move { runs.idle().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(supervisor);
        waiting.await.unwrap();
        assert_eq!(runs.count(), 0);
    }

    #[tokio::test]
    async fn stopping_all_reaches_present_and_later_runs() {
        let runs = Runs::new();
        let (present, later) = (Stopper::new(), Stopper::new());
        runs.enter(&present);
        runs.stop_all(StopReason::Shutdown);
        runs.enter(&later);
        for stopper in [present, later] {
            assert_eq!(stopper.get(), Some(Cut::Stopped(StopReason::Shutdown)));
        }
        runs.idle().await;
    }
}
