//! One child process, from spawn to reaping: learning of its end and signalling its group.
//!
//! Owns: the rule that no signal goes to a number that may have become somebody else's. Until the leader is reaped
//! its number is taken, and with it that of its group; afterwards only members that still live keep the group's
//! number taken. Must not know: why a program is stopped.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process_group, pidfd_open, test_kill_process_group, waitpid,
};
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

use crate::process::sys::{self, Reaped};

/// How often a group that outlives its leader is looked at. Its number could only become somebody else's if the
/// kernel went through all process numbers in that time.
const GROUP_CHECK: Duration = Duration::from_millis(20);

/// A child that has not been reaped. Dropped, it is killed with its group.
#[derive(Debug)]
pub(super) struct Child {
    pid: Pid,
    /// Readable once the child has left.
    pidfd: AsyncFd<OwnedFd>,
    reaped: bool,
}

/// What is left of a group whose leader has been reaped; mostly nothing. Dropped before it is known to be empty, it is
/// killed.
#[derive(Debug)]
pub(super) struct Remainder {
    group: Pid,
    ended: bool,
}

impl Child {
    /// Takes charge of a child that was just spawned and leads its own group.
    pub(super) fn adopt(pid: Pid) -> io::Result<Self> {
        let watched = pidfd_open(pid, PidfdFlags::empty())
            .map_err(io::Error::from)
            .and_then(sys::watch);
        match watched {
            Ok(pidfd) => Ok(Self {
                pid,
                pidfd,
                reaped: false,
            }),
            Err(error) => {
                let _ = kill_process_group(pid, Signal::KILL);
                let _ = waitpid(Some(pid), WaitOptions::empty());
                Err(error)
            }
        }
    }

    /// Its number.
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Resolves once it has left. It is not reaped by that.
    pub(super) async fn exited(&self) {
        // An error means that the reactor is gone; what waits for it then goes with it.
        if self.pidfd.readable().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Signals the child and everything it started that stayed in its group.
    pub(super) fn signal_group(&self, signal: Signal) {
        // Refused only if every member runs as another user now: then nothing more can be done.
        let _ = kill_process_group(self.pid, signal);
    }

    /// Reaps the child. Call after [`Self::exited`].
    pub(super) fn reap(mut self) -> (io::Result<Reaped>, Remainder) {
        let reaped = sys::reap(self.pid);
        self.reaped = !matches!(reaped, Ok(None));
        (
            reaped.and_then(|reaped| reaped.ok_or_else(|| io::Error::other("it still runs"))),
            Remainder {
                group: self.pid,
                ended: false,
            },
        )
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal_group(Signal::KILL);
            drop(sys::reap(self.pid));
        }
    }
}

impl Remainder {
    /// Waits until the group is empty; at `deadline`, kills what is left.
    pub(super) async fn end(mut self, deadline: Instant) {
        while test_kill_process_group(self.group).is_ok() {
            let now = Instant::now();
            if now >= deadline {
                return;
            }
            tokio::time::sleep_until(deadline.min(now + GROUP_CHECK)).await;
        }
        // Its number may now be given to another.
        self.ended = true;
    }
}

impl Drop for Remainder {
    fn drop(&mut self) {
        if !self.ended {
            let _ = kill_process_group(self.group, Signal::KILL);
        }
    }
}
