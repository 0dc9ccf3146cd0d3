//! A started program: its output, the means to stop it, and how it ended.
//!
//! Three parties share a run. The *reader* (the server) pulls [`Output`]; the *supervisor* (a task or a guest,
//! owned by the executor) feeds the body, drains standard error, watches limits and reaps; the *stopper* is
//! whoever decides that the run must end. They meet in the [`Cut`]: set once, it ends the output at once,
//! whatever the program does, so that a client never waits for a program that ignores signals.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::outcome::Outcome;
use crate::runs::Entry;

/// A program that has been started. Dropping its [`Output`] before the end stops the program as
/// [`StopReason::ClientGone`]; its end is still measured and still arrives at `finished`.
#[derive(Debug)]
pub struct Running {
    /// Standard output.
    pub output: Output,
    /// Stops the program.
    pub stopper: Stopper,
    /// How it ended; resolves once the program is reaped or the instance is gone.
    pub finished: oneshot::Receiver<Finished>,
}

/// Why the output ended before the program closed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The host stopped the program: what was read so far is not a complete answer.
    Stopped(StopReason),
    /// The program left, but something it started still holds the output open: what was read is complete.
    LeaderGone,
}

/// Why the host ended a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The client closed its connection.
    ClientGone,
    /// The wall-clock limit passed.
    Wall,
    /// Nothing moved for longer than the idle limit.
    Idle,
    /// The processor-time limit passed.
    Cpu,
    /// The memory limit was met.
    Memory,
    /// The output limit was met.
    Output,
    /// The header block was malformed: nothing it writes can be used.
    BadOutput,
    /// The request body broke off.
    RequestBody,
    /// The answer is complete without the rest of the output (HEAD, 304, a redirect).
    NotNeeded,
    /// The host is shutting down.
    Shutdown,
}

/// Ends a run, once. Cheap to clone; the first reason wins.
#[derive(Debug, Clone, Default)]
pub struct Stopper {
    shared: Arc<StopperShared>,
}

#[derive(Debug, Default)]
pub(crate) struct StopperShared {
    cut: OnceLock<Cut>,
    token: CancellationToken,
    /// Leaves the list of runs with the last clone.
    entry: OnceLock<Entry>,
}

impl Stopper {
    /// A stopper nobody has used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for the program to be stopped. Only the first call counts.
    pub fn stop(&self, reason: StopReason) {
        self.cut(Cut::Stopped(reason));
    }

    /// Ends the output for `cut`. Only the first call counts.
    pub fn cut(&self, cut: Cut) {
        if self.shared.cut.set(cut).is_ok() {
            self.shared.token.cancel();
        }
    }

    /// What ended the output early, if anything did.
    pub fn get(&self) -> Option<Cut> {
        self.shared.cut.get().copied()
    }

    /// Resolves when the output is cut.
    pub async fn cancelled(&self) {
        self.shared.token.cancelled().await;
    }

    /// Keeps the run's place in the list of runs for as long as the run lasts.
    pub(crate) fn keep(&self, entry: Entry) {
        // A run enters one list, once; a second entry would be dropped here and thereby leave its list.
        drop(self.shared.entry.set(entry));
    }

    pub(crate) fn downgrade(&self) -> Weak<StopperShared> {
        Arc::downgrade(&self.shared)
    }

    pub(crate) fn upgrade(shared: &Weak<StopperShared>) -> Option<Self> {
        Some(Self {
            shared: shared.upgrade()?,
        })
    }

    fn cancelled_owned(&self) -> WaitForCancellationFutureOwned {
        self.shared.token.clone().cancelled_owned()
    }
}

/// The bytes a program writes to standard output, as they come.
pub struct Output {
    source: Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>,
    stopper: Stopper,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    bytes: u64,
    ended: bool,
}

impl Drop for Output {
    fn drop(&mut self) {
        if !self.ended {
            self.stopper.stop(StopReason::ClientGone);
        }
    }
}

impl Output {
    /// An output that reads `source` until it ends or `stopper` cuts it.
    pub fn new(source: impl Stream<Item = io::Result<Bytes>> + Send + 'static, stopper: &Stopper) -> Self {
        Self {
            source: Box::pin(source),
            cancelled: Box::pin(stopper.cancelled_owned()),
            stopper: stopper.clone(),
            bytes: 0,
            ended: false,
        }
    }

    /// Bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next piece: `Ok(None)` at the end of a complete output, `Err` when the host cut it short or reading failed.
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, OutputError>> {
        let mut cut = self.stopper.get().is_some();
        loop {
            // What the program managed to write comes before the news that it was cut.
            match self.source.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(chunk))) => {
                    self.bytes += chunk.len() as u64;
                    return Poll::Ready(Ok(Some(chunk)));
                }
                Poll::Ready(Some(Err(error))) => {
                    self.ended = true;
                    return Poll::Ready(Err(OutputError::Io(error)));
                }
                Poll::Ready(None) => return Poll::Ready(self.end()),
                Poll::Pending if cut => return Poll::Ready(self.end()),
                Poll::Pending => {}
            }
            match Future::poll(self.cancelled.as_mut(), cx) {
                Poll::Pending => return Poll::Pending,
                // Cut since the source was asked: it may have been written to in between, so it is asked once more.
                Poll::Ready(()) => cut = true,
            }
        }
    }

    fn end(&mut self) -> Result<Option<Bytes>, OutputError> {
        self.ended = true;
        match self.stopper.get() {
            Some(Cut::Stopped(reason)) => Err(OutputError::Stopped(reason)),
            Some(Cut::LeaderGone) | None => Ok(None),
        }
    }

    /// The next piece; see [`Self::poll_chunk`].
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, OutputError> {
        std::future::poll_fn(|cx| self.poll_chunk(cx)).await
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output")
            .field("bytes", &self.bytes)
            .field("cut", &self.stopper.get())
            .finish_non_exhaustive()
    }
}

/// Why output broke off.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The host stopped the program.
    #[error("the program was stopped: {0:?}")]
    Stopped(StopReason),
    /// The pipe failed.
    #[error("reading the program's output failed: {0}")]
    Io(#[from] io::Error),
}

/// How a program ended, and what it used.
#[derive(Debug, Clone)]
pub struct Finished {
    /// How it left.
    pub exit: Exit,
    /// Why the host stopped it, if it did.
    pub stopped: Option<StopReason>,
    /// User and system time of the program and what it waited for.
    pub cpu: Option<Duration>,
    /// Largest resident set of a process, or largest total linear memory of an instance.
    pub peak_memory_bytes: Option<u64>,
    /// Bytes of the request body it was given.
    pub request_bytes: u64,
    /// What it wrote to standard error, up to the limit.
    pub stderr: Bytes,
    /// Whether it wrote more than that.
    pub stderr_truncated: bool,
    /// Whether the instance came from a warm pool.
    pub was_warm: bool,
}

/// How a program left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// The module trapped; the text names the trap.
    Trap(String),
    /// It never ran or its end could not be learned; the text says why.
    Unknown(String),
}

impl Finished {
    /// The outcome as far as the program's end decides it. A response that could not be parsed is the caller's to judge.
    pub fn outcome(&self) -> Outcome {
        match self.stopped {
            Some(StopReason::ClientGone | StopReason::RequestBody | StopReason::Shutdown) => {
                Outcome::ClientGone
            }
            Some(StopReason::Wall | StopReason::Idle) => Outcome::Timeout,
            Some(StopReason::Cpu) => Outcome::CpuLimit,
            Some(StopReason::Memory) => Outcome::MemoryLimit,
            Some(StopReason::Output) => Outcome::OutputLimit,
            Some(StopReason::BadOutput) => Outcome::BadOutput,
            Some(StopReason::NotNeeded) => Outcome::Ok,
            None => match self.exit {
                Exit::Code(0) => Outcome::Ok,
                Exit::Code(_) | Exit::Unknown(_) => Outcome::ExitNonzero,
                Exit::Signal(_) => Outcome::Signalled,
                Exit::Trap(_) => Outcome::Trap,
            },
        }
    }
}
