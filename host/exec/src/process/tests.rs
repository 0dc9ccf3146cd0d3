//! Mode `fork` with real programs: scripts of `/bin/sh` in a temporary folder.

mod ends;
mod starts;
mod streams;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use tempfile::TempDir;
use warmbin_cgi::Environment;

use crate::error::StartError;
use crate::executor::Executor;
use crate::invocation::{Body, BodyError, Invocation};
use crate::limits::Limits;
use crate::mode::Mode;
use crate::process::Fork;
use crate::runnable::{Native, Runnable};
use crate::running::{Finished, Output, OutputError, Running};

/// Longer than anything here takes; a test that hangs fails.
const LONG: Duration = Duration::from_mins(1);

/// A folder with one program, and how it is to be run.
struct Program {
    folder: TempDir,
    native: Native,
    args: Vec<OsString>,
    limits: Limits,
}

impl Program {
    /// A shell script.
    fn script(text: &str) -> Self {
        let program = Self::file(format!("#!/bin/sh\n{text}\n").as_bytes());
        program.permit(0o755);
        program
    }

    /// A file that is not executable yet.
    fn file(content: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        fs::write(&path, content).unwrap();
        let mut program = Self::existing(&path);
        program.folder = folder;
        program
    }

    /// A program of the system.
    fn existing(path: impl AsRef<Path>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let native = Native {
            path: path.as_ref().to_owned(),
            interpreter: None,
            working_dir: path.as_ref().parent().unwrap().to_owned(),
        };
        let limits = Limits {
            grace: Duration::from_millis(300),
            ..Limits::default()
        };
        Self {
            folder,
            native,
            args: Vec::new(),
            limits,
        }
    }

    fn args(mut self, args: &[&str]) -> Self {
        self.args = args.iter().map(Into::into).collect();
        self
    }

    fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    fn permit(&self, mode: u32) {
        fs::set_permissions(&self.native.path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn invocation(&self, body: Body) -> Invocation {
        Invocation {
            request_id: "test".into(),
            runnable: Arc::new(Runnable {
                name: "program".into(),
                version: None,
                native: Some(self.native.clone()),
                wasm: None,
            }),
            mode: Mode::Fork,
            environment: Environment::new(),
            arguments: self.args.clone(),
            body,
            limits: Arc::new(self.limits.clone()),
        }
    }

    async fn start(&self, body: Body) -> Result<Running, StartError> {
        Fork::new().start(self.invocation(body)).await
    }

    /// Runs it to its end.
    async fn run(&self, body: Body) -> Ran {
        let Running {
            mut output, finished, ..
        } = self.start(body).await.unwrap();
        let (bytes, error) = read(&mut output).await;
        let finished = tokio::time::timeout(LONG, finished).await.unwrap().unwrap();
        Ran {
            output: bytes,
            error,
            finished,
        }
    }
}

/// A finished run.
#[derive(Debug)]
struct Ran {
    output: Vec<u8>,
    error: Option<OutputError>,
    finished: Finished,
}

async fn read(output: &mut Output) -> (Vec<u8>, Option<OutputError>) {
    let mut bytes = Vec::new();
    let reading = async {
        loop {
            match output.chunk().await {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) => return None,
                Err(error) => return Some(error),
            }
        }
    };
    let error = tokio::time::timeout(LONG, reading).await.unwrap();
    (bytes, error)
}

/// Reads up to the end of a line: the program has got that far.
async fn read_line(output: &mut Output) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\n") {
        let chunk = tokio::time::timeout(LONG, output.chunk())
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        bytes.extend_from_slice(&chunk);
    }
    String::from_utf8(bytes).unwrap().trim_end().to_owned()
}

fn body(pieces: Vec<Result<Bytes, BodyError>>) -> Body {
    Body::Stream(Box::pin(stream::iter(pieces)))
}

/// `megabytes` of a pattern that shows any loss or reordering.
fn pattern(megabytes: usize) -> Vec<u8> {
    (0..megabytes << 18)
        .flat_map(|word| u32::try_from(word).unwrap().to_le_bytes())
        .collect()
}

/// Waits until no process with this number runs; one that merely awaits its reaping by somebody else has ended.
async fn ended(pid: &str) {
    let gone = async {
        loop {
            let state = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            if !state.contains("State:") || state.contains("State:\tZ") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone)
        .await
        .unwrap_or_else(|_| panic!("{pid} still runs"));
}
