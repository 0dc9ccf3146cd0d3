//! The clock that interrupts guests: one operating-system thread that advances the engine's epoch.
//!
//! It is not a task: an executor whose workers are all busy with guests would never run it. While nothing runs
//! it sleeps for good, so that an idle host wakes no processor.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wasmtime::EngineWeak;

use crate::wasm::artifact::ArtifactError;

/// The time between two epochs: how long a guest that never blocks keeps a worker before others get their turn.
pub(super) const TICK: Duration = Duration::from_millis(1);

/// Ticks without a running guest before the thread goes to sleep.
const IDLE_TICKS: u32 = 100;

/// The running clock; dropping it ends the thread.
#[derive(Debug)]
pub(super) struct EpochClock {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    running: AtomicUsize,
    asleep: AtomicBool,
    stop: AtomicBool,
}

/// Keeps the clock going while a guest runs.
#[derive(Debug)]
pub(super) struct Running {
    shared: Arc<Shared>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl EpochClock {
    /// Starts the thread for `engine`.
    pub(super) fn start(engine: EngineWeak) -> Result<Self, ArtifactError> {
        let shared = Arc::new(Shared::default());
        let thread = thread::Builder::new()
            .name("wasm-epoch".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || tick(&engine, &shared)
            })
            .map_err(|source| ArtifactError::Io {
                context: "cannot start the epoch thread".to_owned(),
                source,
            })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Announces a guest that runs until the guard is dropped.
    pub(super) fn running(&self) -> Running {
        // Either this load sees that the thread is about to sleep, or the thread sees the new guest: both orders
        // are sequentially consistent, so no guest runs beside a sleeping clock.
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.load(Ordering::SeqCst) {
            self.wake();
        }
        Running {
            shared: Arc::clone(&self.shared),
        }
    }

    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for EpochClock {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.wake();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported by its hook.
            drop(thread.join());
        }
    }
}

fn tick(engine: &EngineWeak, shared: &Shared) {
    let mut idle = 0;
    while !shared.stop.load(Ordering::SeqCst) {
        if idle < IDLE_TICKS {
            thread::park_timeout(TICK);
        } else {
            shared.asleep.store(true, Ordering::SeqCst);
            if shared.running.load(Ordering::SeqCst) == 0 && !shared.stop.load(Ordering::SeqCst) {
                thread::park();
            }
            shared.asleep.store(false, Ordering::SeqCst);
            idle = 0;
        }
        let Some(engine) = engine.upgrade() else { return };
        engine.increment_epoch();
        idle = if shared.running.load(Ordering::SeqCst) == 0 {
            idle + 1
        } else {
            0
        };
    }
}
