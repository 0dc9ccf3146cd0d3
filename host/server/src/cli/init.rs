//! The first process of a container has two duties beside its own: to reap whatever loses its parent, and to
//! pass signals on. So as PID 1 `serve` becomes a minimal init and runs the host as its child, which then
//! never meets a process that it did not start.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::Context;
use rustix::process::{Pid, Signal, WaitOptions, kill_process};
use tokio::signal::unix::{SignalKind, signal};

/// Set for the child.
const MARK: &str = "WARMBIN_UNDER_INIT";

/// Whether this process was started by [`supervise`].
pub(super) fn is_child() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Runs this same command as a child until it ends; its exit code becomes ours.
pub(super) fn supervise() -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        // The handlers stand before the child does: no signal is lost.
        let mut children = signal(SignalKind::child())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let executable = std::env::current_exe().context("cannot find this program's file")?;
        let child = Command::new(executable)
            .args(std::env::args_os().skip(1))
            .env(MARK, "1")
            .spawn()?;
        let child = Pid::from_raw(i32::try_from(child.id())?).context("the child has no process id")?;
        loop {
            if let Some(status) = reap(child) {
                return Ok(exit_code(status));
            }
            let pass_on = tokio::select! {
                _ = children.recv() => None,
                _ = terminate.recv() => Some(Signal::TERM),
                _ = interrupt.recv() => Some(Signal::INT),
                _ = hangup.recv() => Some(Signal::HUP),
            };
            if let Some(signal) = pass_on {
                // A child that has just left is found at the next turn.
                let _ = kill_process(child, signal);
            }
        }
    })
}

/// Reaps everything that has ended; the status of `child` if it is among them.
fn reap(child: Pid) -> Option<ExitStatus> {
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if pid == child {
            return Some(ExitStatus::from_raw(status.as_raw()));
        }
    }
    None
}

fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
