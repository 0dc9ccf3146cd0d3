//! One run of one instance, from checkout to teardown: the same for every mode.
//!
//! The run is a task. It polls the guest, watches its limits, and at the end settles how it went, in an order that
//! matters: first the verdict, then the end of the output (the reader acts on both), then the measurements, and only
//! when others have had their turn the instance is taken apart.

use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;
use wasmtime::Trap;

use crate::invocation::Invocation;
use crate::limits::Limits;
use crate::runnable::Runnable;
use crate::running::{Cut, Exit, Finished, Output, Running, StopReason};
use crate::wasm::instance::{Instance, Request};
use crate::wasm::meter::metered;
use crate::wasm::pool::Lease;
use crate::wasm::program::WasmProgram;
use crate::wasm::stdio::Stdio;
use crate::wasm::stdout::Reader;
use crate::wasm::variables::ProcessExit;

/// Instances with more memory than this are taken apart by the housekeeper: that takes longer than waking it.
const LARGE: u64 = 8 << 20;

/// Instances one run may make for the pool after its end: one in its own place, one towards a higher target.
const REFILLS: usize = 2;

/// How an instance was come by.
#[derive(Debug)]
pub(super) enum Origin {
    /// Made for this request, in mode `wasm-cold`.
    Cold,
    /// Through a pool.
    Pool {
        /// The request's place in the pool's figures.
        lease: Lease,
        /// Whether an instance was ready.
        was_warm: bool,
    },
}

/// Binds `instance` to `invocation` and lets it run.
pub(super) fn launch(mut instance: Instance, invocation: Invocation, origin: Origin) -> Running {
    let Invocation {
        runnable,
        environment,
        arguments,
        body,
        limits,
        ..
    } = invocation;
    let mut argv = Vec::with_capacity(1 + arguments.len());
    argv.push(runnable.name.as_bytes().to_vec());
    argv.extend(arguments.into_iter().map(OsStringExt::into_vec));
    instance.bind(
        Request {
            environment,
            arguments: argv,
            body,
        },
        &limits,
    );

    let stdio = Arc::clone(&instance.stdio);
    let stopper = stdio.stopper.clone();
    let output = Output::new(Reader::new(&stdio), &stopper);
    let (report, finished) = oneshot::channel();
    tokio::spawn(async move {
        let ending = Ending {
            stdio: &stdio,
            settled: false,
        };
        let started = Instant::now();
        let (result, cpu) = carry_out(&mut instance, &stdio, &limits, started, &runnable).await;
        let exit = settle(result, &instance, &stdio);
        ending.settled();
        let (pooled, was_warm) = match origin {
            Origin::Cold => (false, false),
            Origin::Pool { lease, was_warm } => {
                drop(lease);
                (true, was_warm)
            }
        };
        // Whoever started the run may have lost interest in how it ended.
        drop(report.send(measure(exit, cpu, &instance, &stdio, was_warm)));
        clear_away(instance, &runnable, pooled).await;
    });
    Running {
        output,
        stopper,
        finished,
    }
}

/// Ends the output however the run ends. A run that a panic or the end of the runtime cut short must not look complete.
struct Ending<'a> {
    stdio: &'a Stdio,
    settled: bool,
}

impl Ending<'_> {
    /// The run came to its end and its verdict stands.
    fn settled(mut self) {
        self.settled = true;
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if !self.settled {
            self.stdio.stopper.stop(StopReason::Shutdown);
        }
        self.stdio.stdout.close();
    }
}

/// Runs the guest until it ends, is stopped, or meets a limit. `None` if it did not end by itself.
async fn carry_out(
    instance: &mut Instance,
    stdio: &Stdio,
    limits: &Limits,
    started: Instant,
    runnable: &Runnable,
) -> (Option<wasmtime::Result<()>>, Duration) {
    let mut cpu = Duration::ZERO;
    if instance.memory().is_exceeded() {
        // It was made before the request's limit was known.
        return (
            Some(Err(wasmtime::Error::msg(
                "its initial memory is larger than it may have",
            ))),
            cpu,
        );
    }
    // Keeps the epochs coming, without which a guest would never give way.
    let _ticking = runnable.wasm.as_ref().map(|program| program.host().ticking());
    let result = tokio::select! {
        // The guest first: one that ends in its first turn never registers a timer.
        biased;
        ended = metered(instance.call(), limits.cpu, &mut cpu, &stdio.stdout) => {
            if let Ok(result) = ended {
                Some(result)
            } else {
                stdio.stopper.stop(StopReason::Cpu);
                None
            }
        }
        () = stdio.stopper.cancelled() => None,
        reason = overdue(stdio, limits, started) => {
            stdio.stopper.stop(reason);
            None
        }
    };
    (result, cpu)
}

/// Resolves when the wall or the idle limit has passed.
async fn overdue(stdio: &Stdio, limits: &Limits, started: Instant) -> StopReason {
    loop {
        let now = Instant::now();
        let wall_left = limits.wall.saturating_sub(now.saturating_duration_since(started));
        let idle_left = limits
            .idle
            .saturating_sub(now.saturating_duration_since(stdio.movement.last()));
        if wall_left.is_zero() {
            return StopReason::Wall;
        }
        if idle_left.is_zero() {
            return StopReason::Idle;
        }
        tokio::time::sleep(wall_left.min(idle_left)).await;
    }
}

/// How the guest left. An abnormal end of a guest that was denied memory is put down to that.
fn settle(result: Option<wasmtime::Result<()>>, instance: &Instance, stdio: &Stdio) -> Exit {
    let exit = match result {
        Some(Ok(())) => Exit::Code(0),
        Some(Err(error)) => describe(&error),
        None => Exit::Trap("interrupted by the host".to_owned()),
    };
    if instance.memory().denied() && exit != Exit::Code(0) {
        // A guest that was stopped for another reason has one already, and the first counts.
        stdio.stopper.stop(StopReason::Memory);
    }
    exit
}

fn describe(error: &wasmtime::Error) -> Exit {
    if let Some(ProcessExit(code)) = error.downcast_ref() {
        // The low eight bits, as the operating system reports them of a process: both families agree.
        return Exit::Code(i32::from(code.to_le_bytes()[0]));
    }
    match error.downcast_ref::<Trap>() {
        Some(trap) => Exit::Trap(trap.to_string()),
        None => Exit::Trap(error.root_cause().to_string()),
    }
}

fn measure(exit: Exit, cpu: Duration, instance: &Instance, stdio: &Stdio, was_warm: bool) -> Finished {
    let (stderr, stderr_truncated) = stdio.stderr.take();
    let stopped = match stdio.stopper.get() {
        Some(Cut::Stopped(reason)) => Some(reason),
        Some(Cut::LeaderGone) | None => None,
    };
    stdio.stdin.release();
    Finished {
        exit,
        stopped,
        cpu: Some(cpu),
        peak_memory_bytes: Some(instance.memory().peak()),
        request_bytes: stdio.stdin.delivered(),
        stderr,
        stderr_truncated,
        was_warm,
    }
}

/// Takes the instance apart and makes another, after those who wait for the answer have had their turn.
async fn clear_away(instance: Instance, runnable: &Runnable, pooled: bool) {
    let program: Option<&WasmProgram> = runnable.wasm.as_deref();
    behind_the_reader().await;
    match program {
        Some(program) if instance.memory().peak() > LARGE => program.host().dismantle(instance),
        _ => drop(instance),
    }
    if let Some(program) = program.filter(|_| pooled) {
        for _ in 0..REFILLS {
            if !program.refill().await {
                break;
            }
        }
    }
}

/// Lets tasks that are ready go first. Unlike the executor's own `yield_now`, which waits for the worker to look for
/// events (under load many requests later, each of which would leave an instance behind), this only goes to the end of the
/// queue.
async fn behind_the_reader() {
    let mut went = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut went, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
