//! The two tasks behind a recorder: one writes to the store, one moves a crowded queue to the spill file.

use std::sync::Arc;
use std::time::Duration;

use super::Shared;
use super::queue::{BATCH, Entry, Next, Waiting};
use super::spill::Lines;
use crate::store::Store;

/// The first pause after a failed write, doubled with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// The longest pause: a store that is well again is noticed within this.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// What is written in one transaction.
#[derive(Debug)]
enum Batch {
    Memory(Vec<Entry>),
    Spill(Lines),
}

/// Writes until told to stop.
pub(super) async fn write(shared: Arc<Shared>, store: Arc<dyn Store>) {
    while let Some(batch) = next(&shared).await {
        let entries = match &batch {
            Batch::Memory(entries) => entries,
            Batch::Spill(lines) => &lines.entries,
        };
        let written = entries.is_empty() || insert(&shared, &*store, entries).await;
        match (batch, written) {
            (Batch::Memory(entries), true) => {
                shared.queue().written(entries.len() as u64);
                shared.settle(entries.len() as u64);
            }
            (Batch::Spill(lines), true) => {
                blocking(&shared, move |shared| shared.spilled_lines_done(&lines)).await;
            }
            (Batch::Memory(entries), false) => return shared.queue().give_back(entries),
            // The file still has them.
            (Batch::Spill(_), false) => return,
        }
    }
}

/// Moves a crowded queue to the spill file, until told to stop.
pub(super) async fn spill(shared: Arc<Shared>) {
    let mut closing = shared.closing.subscribe();
    loop {
        tokio::select! {
            () = shared.crowded.notified() => {}
            _ = closing.wait_for(|closing| *closing) => return,
        }
        blocking(&shared, Shared::spill_crowd).await;
    }
}

/// Waits for something to write; `None` if told to stop.
async fn next(shared: &Arc<Shared>) -> Option<Batch> {
    let mut closing = shared.closing.subscribe();
    loop {
        if *closing.borrow() {
            return None;
        }
        let next = {
            let mut queue = shared.queue();
            match queue.next() {
                Next::Memory => return Some(Batch::Memory(queue.take_batch())),
                next => next,
            }
        };
        let Next::Wait(pause) = next else {
            if let Some(lines) = blocking(shared, Shared::read_spill).await.flatten() {
                return Some(Batch::Spill(lines));
            }
            // Nothing could be read although something is there: not at once again.
            tokio::time::sleep(FIRST_PAUSE).await;
            continue;
        };
        tokio::select! {
            () = shared.arrived.notified() => {}
            () = tokio::time::sleep(pause.unwrap_or(Duration::from_hours(1))) => {}
            _ = closing.wait_for(|closing| *closing) => {}
        }
    }
}

/// Tries until the store takes the records. False if told to stop first.
async fn insert(shared: &Shared, store: &dyn Store, entries: &[Entry]) -> bool {
    let mut closing = shared.closing.subscribe();
    let mut pause = FIRST_PAUSE;
    let mut failures = 0_u64;
    loop {
        // Giving up on a write that is under way is harmless: what it did write, the next one passes over.
        let result = tokio::select! {
            result = store.insert_requests(entries) => result,
            _ = closing.wait_for(|closing| *closing) => return false,
        };
        let Err(error) = result else {
            if failures > 0 {
                tracing::info!(target: "store", failures, "the store takes records again");
            }
            return true;
        };
        failures += 1;
        if failures == 1 {
            tracing::warn!(target: "store", records = entries.len(), %error, "cannot write records; trying again");
        } else {
            tracing::debug!(target: "store", records = entries.len(), failures, %error, "still cannot write records");
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = closing.wait_for(|closing| *closing) => return false,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Runs a step with file I/O where it may block. `None` if it panicked.
async fn blocking<T: Send + 'static>(
    shared: &Arc<Shared>,
    step: impl FnOnce(&Shared) -> T + Send + 'static,
) -> Option<T> {
    let shared = Arc::clone(shared);
    tokio::task::spawn_blocking(move || step(&shared)).await.ok()
}

// The steps that need both locks.
impl Shared {
    fn settle(&self, count: u64) {
        self.settled.send_modify(|settled| *settled += count);
    }

    fn spill_crowd(&self) {
        let mut spill = self.spill();
        let taken = {
            let mut queue = self.queue();
            if !queue.is_crowded() {
                return;
            }
            queue.take_for_spill()
        };
        match spill.append(taken.iter().map(Waiting::entry)) {
            Ok(()) => {
                tracing::warn!(target: "store", records = taken.len(), "the store cannot keep up: records wait in a file");
                self.arrived.notify_one();
            }
            Err(error) => {
                tracing::error!(target: "store", %error, "cannot write the spill file: records will be lost");
                self.queue().spill_failed(taken);
            }
        }
    }

    /// The oldest lines of the spill file; `None` if it turned out to have none.
    fn read_spill(&self) -> Option<Lines> {
        let mut spill = self.spill();
        match spill.read(BATCH) {
            Ok(Some(lines)) => return Some(lines),
            Ok(None) => {}
            Err(error) => {
                let lost = spill.give_up();
                tracing::error!(target: "store", lost, %error, "cannot read a spill file: its records are given up");
                self.queue().spill_done(0, lost);
                self.settle(lost);
            }
        }
        None
    }

    fn spilled_lines_done(&self, lines: &Lines) {
        let mut spill = self.spill();
        spill.done(lines);
        let written = lines.entries.len() as u64;
        let lost = lines.count.saturating_sub(written);
        if lost > 0 {
            tracing::error!(target: "store", lost, "a spill file had lines that are not whole");
        }
        self.queue().spill_done(written, lost);
        self.settle(lines.count);
    }

    /// Puts all that is in memory into the spill file, after both tasks have ended.
    pub(super) fn put_by(&self) {
        let mut spill = self.spill();
        let taken = {
            let mut queue = self.queue();
            queue.close();
            queue.take_for_spill()
        };
        if taken.is_empty() {
            return;
        }
        match spill.append(taken.iter().map(Waiting::entry)) {
            Ok(()) => {
                tracing::warn!(target: "store", records = taken.len(), "records were put by for the next start");
            }
            Err(error) => {
                tracing::error!(target: "store", lost = taken.len(), %error, "cannot write the spill file");
                self.queue().spill_done(0, taken.len() as u64);
            }
        }
    }
}
