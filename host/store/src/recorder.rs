//! The batched writer: requests hand over their record and go on; one task writes.
//!
//! Owns: what was handed over and is not in the store yet. It waits in memory (`queue`); when the store cannot keep up
//! it moves to a file (`spill`) and comes back in order (`writer`). Must not know: SQL, or who listens.

mod queue;
mod spill;
mod writer;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, broadcast, watch};
use tokio::task::JoinHandle;

pub(crate) use self::queue::Limits;
use self::queue::{Queue, Waiting};
use self::spill::Spill;
use crate::record::{Record, RecordDetail};
use crate::store::Store;

/// Events that a listener may be behind before it misses some.
const LIVE_CAPACITY: usize = 1024;

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
    /// Those of the backlog that wait in the spill file.
    pub spilled: u64,
    /// Records written.
    pub written: u64,
    /// Records lost: the queue was full and the spill file could not be written or read.
    pub lost: u64,
}

/// Hands records to the writer. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
    tasks: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Recorder {
    /// Starts the writer on the current runtime. It writes what has gathered every 100 ms at the latest. What does not
    /// fit into memory while the store fails goes to a file in `spill_folder`, which is made when first needed; files
    /// left there by an earlier run are written first.
    ///
    /// The writer ends with [`Self::close`] or with the runtime.
    pub fn start(store: Arc<dyn Store>, spill_folder: PathBuf) -> Self {
        Self::start_with(store, spill_folder, Limits::DEFAULT)
    }

    pub(crate) fn start_with(store: Arc<dyn Store>, spill_folder: PathBuf, limits: Limits) -> Self {
        let spill = Spill::adopt(spill_folder);
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue::new(limits, spill.records())),
            spill: Mutex::new(spill),
            arrived: Notify::new(),
            crowded: Notify::new(),
            settled: watch::Sender::new(0),
            closing: watch::Sender::new(false),
            live: broadcast::Sender::new(LIVE_CAPACITY),
        });
        let tasks = vec![
            tokio::spawn(writer::write(Arc::clone(&shared), store)),
            tokio::spawn(writer::spill(Arc::clone(&shared))),
        ];
        Self {
            shared,
            tasks: Arc::new(Mutex::new(tasks)),
        }
    }

    /// Hands over a record. Never blocks and never fails the request. Live listeners hear of it at once; the store has it
    /// a moment later (100 ms and the time of a write, as long as the store is well).
    pub fn record(&self, record: impl Into<Arc<Record>>, detail: RecordDetail) {
        let record = record.into();
        let live = LiveEvent {
            record: Arc::clone(&record),
        };
        let (wake_writer, crowded) = {
            let mut queue = self.shared.queue();
            let before = queue.len();
            queue.push(Waiting::new(record, detail));
            (
                queue.len() == 1 || before < queue::BATCH && queue.len() >= queue::BATCH,
                queue.is_crowded(),
            )
        };
        if wake_writer {
            self.shared.arrived.notify_one();
        }
        if crowded {
            self.shared.crowded.notify_one();
        }
        // Fails when nobody listens.
        let _ = self.shared.live.send(live);
    }

    /// Live listeners; a slow one misses events and is told how many.
    pub fn subscribe(&self) -> broadcast::Receiver<LiveEvent> {
        self.shared.live.subscribe()
    }

    /// How the writer is doing.
    pub fn stats(&self) -> RecorderStats {
        let settled = *self.shared.settled.borrow();
        self.shared.queue().stats(settled)
    }

    /// Resolves once everything handed over before the call has been written or given up. It waits for a store that
    /// fails: a shutdown should call [`Self::close`], which does not.
    pub async fn flush(&self) {
        let target = self.shared.queue().flush();
        self.shared.arrived.notify_one();
        let (mut settled, mut closing) = (self.shared.settled.subscribe(), self.shared.closing.subscribe());
        tokio::select! {
            _ = settled.wait_for(|settled| *settled >= target) => {}
            _ = closing.wait_for(|closing| *closing) => {}
        }
    }

    /// Ends the writer: flushes, and after `grace` puts what the store did not take into the spill file, for the next
    /// start. Records handed over afterwards are counted as lost.
    pub async fn close(&self, grace: Duration) {
        let _ = tokio::time::timeout(grace, self.flush()).await;
        self.shared.closing.send_replace(true);
        let tasks = std::mem::take(&mut *lock(&self.tasks));
        for task in tasks {
            // Only fails if the task panicked, and then there is nothing left to wait for.
            let _ = task.await;
        }
        let shared = Arc::clone(&self.shared);
        let _ = tokio::task::spawn_blocking(move || shared.put_by()).await;
    }
}

/// What the recorder and its tasks share. Whoever needs both locks takes `spill` first.
#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    /// Locked for the length of file operations: only on threads that may block.
    spill: Mutex<Spill>,
    /// Wakes the writer: a first record, a full batch, a flush.
    arrived: Notify,
    /// Wakes the task that spills.
    crowded: Notify,
    /// How many of the accepted records are done with, written or lost. They are so in the order of acceptance.
    settled: watch::Sender<u64>,
    /// Tells both tasks to stop where they are.
    closing: watch::Sender<bool>,
    live: broadcast::Sender<LiveEvent>,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    fn spill(&self) -> MutexGuard<'_, Spill> {
        lock(&self.spill)
    }
}

/// Locks. What the locks guard is changed in steps that do not panic, so a poisoned one is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
