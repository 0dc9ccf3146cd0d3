//! Mode `fork`: the server itself spawns one process per request.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use async_trait::async_trait;
use rustix::fs::{Mode as Permissions, OFlags, open};

use crate::error::StartError;
use crate::executor::Executor;
use crate::invocation::{Body, Invocation};
use crate::process::confine::confine;
use crate::process::spawn::{Command, Input};
use crate::process::supervise::supervise;
use crate::process::sys;
use crate::running::Running;

/// Spawns one process per request.
#[derive(Debug)]
pub struct Fork {
    /// The null device, opened once: standard input of every program whose request has no body.
    null: OnceLock<OwnedFd>,
}

impl Fork {
    /// The executor.
    pub fn new() -> Self {
        sys::keep_children();
        Self {
            null: OnceLock::new(),
        }
    }

    fn null(&self) -> Result<BorrowedFd<'_>, rustix::io::Errno> {
        if let Some(null) = self.null.get() {
            return Ok(null.as_fd());
        }
        let null = open(
            "/dev/null",
            OFlags::RDONLY | OFlags::CLOEXEC,
            Permissions::empty(),
        )?;
        Ok(self.null.get_or_init(|| null).as_fd())
    }
}

impl Default for Fork {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Executor for Fork {
    async fn start(&self, invocation: Invocation) -> Result<Running, StartError> {
        let name = &invocation.runnable.name;
        let native = invocation
            .runnable
            .native
            .as_ref()
            .ok_or_else(|| StartError::Unsupported {
                program: name.to_string(),
                mode: invocation.mode,
                reason: "it has no native artifact".to_owned(),
            })?;
        let command = Command::new(&invocation, native)?;
        let input = match invocation.body {
            Body::Stream(_) => Input::Pipe,
            Body::Empty => Input::Null(self.null().map_err(|error| StartError::Exhausted {
                program: name.to_string(),
                reason: format!("the null device cannot be opened: {error}"),
            })?),
        };
        let spawned = command.spawn(input, invocation.limits.wall).await?;
        // SECURITY: a program that this fails for runs without limits; it is said rather than refused, because only
        // programs that an administrator made setuid get here.
        if let Err(error) = confine(spawned.child.pid(), &invocation.limits) {
            tracing::warn!(
                target: "exec",
                { request.id = %invocation.request_id, program.name = %name, error = %error },
                "limits could not be set"
            );
        }
        Ok(supervise(spawned, invocation.body, invocation.limits))
    }
}
