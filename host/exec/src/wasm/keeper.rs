//! Housekeeping off the request path: one operating-system thread that takes large instances apart and shrinks pools.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::wasm::artifact::ArtifactError;
use crate::wasm::instance::Instance;
use crate::wasm::pool::Pools;

/// How often pools are shrunk.
const INTERVAL: Duration = Duration::from_secs(1);

/// The running housekeeper; dropping it ends the thread once its work is done.
#[derive(Debug)]
pub(super) struct Keeper {
    work: Option<Sender<Instance>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Starts the thread for `pools`.
    pub(super) fn start(pools: Arc<Pools>) -> Result<Self, ArtifactError> {
        let (work, queue) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("wasm-keeper".to_owned())
            .spawn(move || keep(&queue, &pools))
            .map_err(|source| ArtifactError::Io {
                context: "cannot start the housekeeping thread".to_owned(),
                source,
            })?;
        Ok(Self {
            work: Some(work),
            thread: Some(thread),
        })
    }

    /// Takes a used instance apart. As many wait as there are places in the allocator, at most.
    pub(super) fn dismantle(&self, instance: Instance) {
        if let Some(work) = &self.work {
            // If the thread is gone the instance comes back with the error and is dropped here.
            drop(work.send(instance));
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.work = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported by its hook.
            drop(thread.join());
        }
    }
}

fn keep(queue: &Receiver<Instance>, pools: &Pools) {
    let mut next = Instant::now() + INTERVAL;
    loop {
        match queue.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Ok(instance) => drop(instance),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if Instant::now() >= next {
            drop(pools.surplus());
            next = Instant::now() + INTERVAL;
        }
    }
}
