//! Stays with one child from its start to its end: moves its input and errors, watches its limits, stops it when
//! told to, reaps it, and reports how it ended.
//!
//! Owns: the order TERM → grace → KILL, and what becomes of processes that outlive the program: they have `grace` to
//! finish an answer they still write, then TERM and another `grace`; what runs in the background ends with its request.
//! Must not know: which mode spawned the child.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use crate::invocation::Body;
use crate::limits::Limits;
use crate::process::child::Child;
use crate::process::feed::feed;
use crate::process::progress::Progress;
use crate::process::spawn::Spawned;
use crate::process::stderr::Kept;
use crate::process::stdout::Stdout;
use crate::process::sys::Reaped;
use crate::process::verdict;
use crate::running::{Cut, Exit, Finished, Output, Running, StopReason, Stopper};

/// Longer than any run: stands in for a limit that cannot be added to the clock.
const FOREVER: Duration = Duration::from_hours(365 * 24);

/// How long a program whose client has left has to notice that by itself. Whoever writes gets SIGPIPE, and may have a
/// handler that puts things in order and that SIGTERM must not come before.
const BROKEN_PIPE: Duration = Duration::from_millis(250);

/// Starts a supervisor for `spawned` and hands out the reader's side.
pub(super) fn supervise(spawned: Spawned, body: Body, limits: Arc<Limits>) -> Running {
    let Spawned {
        child,
        stdin,
        stdout,
        stderr,
    } = spawned;
    let stopper = Stopper::new();
    let progress = Arc::new(Progress::new());
    let output = Output::new(
        Stdout::new(stdout, Arc::clone(&progress), stopper.clone()),
        &stopper,
    );
    let (report, finished) = oneshot::channel();
    let supervisor = Supervisor {
        child,
        limits,
        progress,
        stopper: stopper.clone(),
    };
    tokio::spawn(supervisor.run(stdin, body, stderr, report));
    Running {
        output,
        stopper,
        finished,
    }
}

struct Supervisor {
    child: Child,
    limits: Arc<Limits>,
    progress: Arc<Progress>,
    stopper: Stopper,
}

impl Supervisor {
    async fn run(
        self,
        stdin: Option<tokio::net::unix::pipe::Sender>,
        body: Body,
        mut stderr: tokio::net::unix::pipe::Receiver,
        report: oneshot::Sender<Finished>,
    ) {
        let mut kept = Kept::new(self.limits.stderr);
        let feeding = async {
            if let (Some(stdin), Body::Stream(body)) = (stdin, body) {
                // What comes back stays open until the program has left.
                let _held = feed(body, stdin, &self.progress, &self.stopper).await;
                pending::<()>().await;
            }
        };
        let pumps = async {
            tokio::join!(feeding, kept.drain(&mut stderr));
            pending::<Infallible>().await
        };
        let kill_at = tokio::select! {
            kill_at = self.lifetime() => kill_at,
            never = pumps => match never {},
        };
        let Self {
            child,
            limits,
            progress,
            stopper,
        } = self;
        let (reaped, remainder) = child.reap();
        kept.drain_rest(&stderr);
        // Nobody may be waiting any more; the group is ended all the same.
        drop(report.send(finish(reaped, kept, &limits, &progress, stopper.get())));
        remainder.end(kill_at).await;
    }

    /// Returns when the child has left and whatever is left of its group has been told to: the time until which that has.
    async fn lifetime(&self) -> Instant {
        tokio::select! {
            biased;
            () = self.stopper.cancelled() => return self.stop().await,
            () = self.child.exited() => {}
            reason = self.limit_passed() => {
                self.stopper.stop(reason);
                return self.stop().await;
            }
        }
        tokio::select! {
            biased;
            () = self.progress.output_ended() => {}
            () = self.stopper.cancelled() => {}
            () = sleep(self.limits.grace) => self.stopper.cut(Cut::LeaderGone),
        }
        self.terminate()
    }

    async fn stop(&self) -> Instant {
        if self.stopper.get() == Some(Cut::Stopped(StopReason::ClientGone)) {
            let notices = BROKEN_PIPE.min(self.limits.grace);
            // Either way the rest of its group is told.
            let _ = timeout(notices, self.child.exited()).await;
        }
        let kill_at = self.terminate();
        if timeout(self.limits.grace, self.child.exited()).await.is_err() {
            self.child.signal_group(Signal::KILL);
            self.child.exited().await;
        }
        kill_at
    }

    fn terminate(&self) -> Instant {
        self.child.signal_group(Signal::TERM);
        later(Instant::now(), self.limits.grace)
    }

    async fn limit_passed(&self) -> StopReason {
        let wall = later(self.progress.start(), self.limits.wall);
        loop {
            // A program that has closed its output moves nothing any more and may still have work to do.
            let idle = if self.progress.is_output_ended() {
                wall
            } else {
                later(self.progress.last(), self.limits.idle)
            };
            let now = Instant::now();
            if now >= wall {
                return StopReason::Wall;
            }
            if now >= idle {
                return StopReason::Idle;
            }
            tokio::time::sleep_until(wall.min(idle)).await;
        }
    }
}

fn later(time: Instant, duration: Duration) -> Instant {
    time.checked_add(duration).unwrap_or_else(|| time + FOREVER)
}

fn finish(
    reaped: io::Result<Reaped>,
    kept: Kept,
    limits: &Limits,
    progress: &Progress,
    cut: Option<Cut>,
) -> Finished {
    let exit = match &reaped {
        Ok(reaped) => verdict::exit(reaped),
        Err(error) => Exit::Unknown(format!("its end could not be learned: {error}")),
    };
    let reaped = reaped.ok();
    let stopped = match (cut, &reaped) {
        (Some(Cut::Stopped(reason)), _) => Some(reason),
        (Some(Cut::LeaderGone) | None, Some(reaped)) => {
            verdict::limit_met(&exit, reaped, kept.bytes(), limits)
        }
        (Some(Cut::LeaderGone) | None, None) => None,
    };
    let (stderr, stderr_truncated) = kept.finish();
    Finished {
        exit,
        stopped,
        cpu: reaped.map(|reaped| reaped.cpu),
        peak_memory_bytes: reaped.and_then(|reaped| reaped.peak_memory_bytes),
        request_bytes: progress.fed_bytes(),
        stderr,
        stderr_truncated,
        was_warm: false,
    }
}
