//! From an invocation to a running child with pipes: names, arguments, environment, retries and what the
//! system's refusals mean.
//!
//! Owns: argv and envp, the pipes, the reading of errno. Must not know: what happens to the child afterwards.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Access, access};
use rustix::io::Errno;
use tokio::net::unix::pipe;
use tokio::time::Instant;

use crate::error::StartError;
use crate::invocation::Invocation;
use crate::process::child::Child;
use crate::process::sys::{self, Spawn};
use crate::runnable::Native;

/// How long a file that somebody still writes to is waited for. A program replaced in place is busy for moments, one
/// that is copied over a network for seconds.
const BUSY: Duration = Duration::from_secs(10);

/// How soon such a file is tried again at first; each further time after twice as long, up to the second value.
const BUSY_PAUSE: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// Where a child's standard input comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Input<'a> {
    /// The null device: there is no body.
    Null(BorrowedFd<'a>),
    /// A pipe that the host feeds.
    Pipe,
}

/// A child and the host's ends of its pipes.
#[derive(Debug)]
pub(super) struct Spawned {
    pub(super) child: Child,
    /// `None` if it reads the null device.
    pub(super) stdin: Option<pipe::Sender>,
    pub(super) stdout: pipe::Receiver,
    pub(super) stderr: pipe::Receiver,
}

/// Everything `execve` needs, made once and used for every attempt.
#[derive(Debug)]
pub(super) struct Command<'a> {
    name: String,
    program: CString,
    argv: Vec<CString>,
    envp: Vec<&'a CStr>,
    working_dir: CString,
}

impl<'a> Command<'a> {
    /// The command of `invocation`, whose native artifact is `native`.
    pub(super) fn new(invocation: &'a Invocation, native: &Native) -> Result<Self, StartError> {
        let name = native.path.display().to_string();
        let refuse = |reason: String| StartError::Other {
            program: name.clone(),
            reason,
        };
        let program = native.interpreter.as_deref().unwrap_or(&native.path);
        // The child changes its folder before it executes: a relative name would then mean another file.
        for path in [program, &native.working_dir] {
            if !path.is_absolute() {
                return Err(refuse(format!("{} is not an absolute path", path.display())));
            }
        }
        let string =
            |bytes: &[u8]| CString::new(bytes).map_err(|_| refuse("an argument holds a NUL byte".into()));
        let mut argv = vec![string(program.as_os_str().as_bytes())?];
        // SECURITY: an interpreter takes arguments as options; it finds the script in SCRIPT_FILENAME and gets none.
        if native.interpreter.is_none() {
            for argument in &invocation.arguments {
                argv.push(string(argument.as_bytes())?);
            }
        }
        Ok(Self {
            program: string(program.as_os_str().as_bytes())?,
            working_dir: string(native.working_dir.as_os_str().as_bytes())?,
            argv,
            envp: invocation.environment.c_strings().collect(),
            name,
        })
    }

    /// Spawns it. Waits out a file that is being written, at most for `patience`.
    pub(super) async fn spawn(&self, input: Input<'_>, patience: Duration) -> Result<Spawned, StartError> {
        let deadline = Instant::now() + patience.min(BUSY);
        let (mut pause, longest) = BUSY_PAUSE;
        loop {
            match self.attempt(input) {
                Ok(spawned) => return Ok(spawned),
                Err(error)
                    if Errno::from_io_error(&error) == Some(Errno::TXTBSY) && Instant::now() < deadline =>
                {
                    tokio::time::sleep(pause).await;
                    pause = longest.min(pause * 2);
                }
                Err(error) => return Err(self.refusal(error)),
            }
        }
    }

    fn attempt(&self, input: Input<'_>) -> io::Result<Spawned> {
        match input {
            Input::Null(null) => self.launch(null, None),
            Input::Pipe => {
                let (child_end, host_end) = io::pipe()?;
                self.launch(
                    child_end.as_fd(),
                    Some(pipe::Sender::from_owned_fd(host_end.into())?),
                )
            }
        }
    }

    fn launch(&self, child_stdin: BorrowedFd<'_>, stdin: Option<pipe::Sender>) -> io::Result<Spawned> {
        let (stdout, child_stdout) = io::pipe()?;
        let (stderr, child_stderr) = io::pipe()?;
        // Registered with the reactor before there is a child: what fails up to here leaves nothing behind.
        let stdout = pipe::Receiver::from_owned_fd(stdout.into())?;
        let stderr = pipe::Receiver::from_owned_fd(stderr.into())?;
        let pid = sys::spawn(&Spawn {
            program: &self.program,
            argv: &self.argv,
            envp: &self.envp,
            working_dir: &self.working_dir,
            stdin: child_stdin,
            stdout: child_stdout.as_fd(),
            stderr: child_stderr.as_fd(),
        })?;
        Ok(Spawned {
            child: Child::adopt(pid)?,
            stdin,
            stdout,
            stderr,
        })
    }

    /// What the system's refusal means.
    fn refusal(&self, source: io::Error) -> StartError {
        let program = self.name.clone();
        match Errno::from_io_error(&source) {
            Some(Errno::NOENT | Errno::NOTDIR) => StartError::NotFound {
                program,
                source: self.missing(source),
            },
            Some(Errno::ACCESS | Errno::PERM) if access(&*self.program, Access::EXEC_OK).is_ok() => {
                StartError::Other {
                    program,
                    reason: format!("{source} (its folder or the interpreter that it names may not be used)"),
                }
            }
            Some(Errno::ACCESS | Errno::PERM) => StartError::NotExecutable { program, source },
            Some(Errno::TOOBIG) => StartError::TooLarge { program, source },
            Some(Errno::NOEXEC) => StartError::Other {
                program,
                reason: format!("{source} (a script's first line must name its interpreter: #!/bin/sh)"),
            },
            Some(Errno::TXTBSY) => StartError::Exhausted {
                program,
                reason: format!("{source} (it is still being written)"),
            },
            Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE) => StartError::Exhausted {
                program,
                reason: source.to_string(),
            },
            _ => StartError::Other {
                program,
                reason: source.to_string(),
            },
        }
    }

    /// Says which file is missing: the system's answer is the same for the program, the interpreter that its first
    /// line names, and the folder.
    fn missing(&self, source: io::Error) -> io::Error {
        let path = |string: &CString| Path::new(OsStr::from_bytes(string.as_bytes())).to_owned();
        let explain = |what: String| io::Error::new(source.kind(), format!("{source} ({what})"));
        if !path(&self.working_dir).is_dir() {
            explain(format!(
                "its folder {} does not exist",
                path(&self.working_dir).display()
            ))
        } else if path(&self.program).exists() {
            explain("the interpreter or loader that the file names does not exist".to_owned())
        } else if self.name.as_bytes() == self.program.as_bytes() {
            source
        } else {
            explain(format!(
                "its interpreter {} does not exist",
                path(&self.program).display()
            ))
        }
    }
}
