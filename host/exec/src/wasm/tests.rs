//! Guests in the text format, run through the executors as a server would run them.

mod guests;
mod limits;
mod loading;
mod pooling;
mod running;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use tempfile::TempDir;
use warmbin_cgi::Environment;

use crate::error::StartError;
use crate::executor::Executor as _;
use crate::invocation::{Body, BodyError, Invocation};
use crate::limits::Limits;
use crate::mode::Mode;
use crate::runnable::Runnable;
use crate::running::{Finished, OutputError, Running};
use crate::wasm::{ArtifactError, PoolSettings, WasmCold, WasmHost, WasmHostConfig, WasmProgram, WasmWarm};

const MODES: [Mode; 2] = [Mode::WasmCold, Mode::WasmWarm];

/// A host with a folder of its own.
struct Rig {
    host: Arc<WasmHost>,
    folder: TempDir,
}

impl Rig {
    fn new() -> Self {
        Self::with_instances(16)
    }

    fn with_instances(max_instances: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = host_in(folder.path().join("cache"), max_instances);
        Self { host, folder }
    }

    /// Loads bytes or text as a program that keeps one instance ready.
    fn load(&self, module: impl AsRef<[u8]>) -> Result<Arc<WasmProgram>, ArtifactError> {
        self.load_with(module, PoolSettings { min: 1, max: 4 })
    }

    fn load_with(
        &self,
        module: impl AsRef<[u8]>,
        pool: PoolSettings,
    ) -> Result<Arc<WasmProgram>, ArtifactError> {
        let path = self.folder.path().join("module.wasm");
        std::fs::write(&path, module).unwrap();
        self.host.load("program", &path, pool)
    }

    /// A text module, loaded and with its pool filled.
    async fn warm(&self, text: &str) -> Arc<WasmProgram> {
        let program = self.load(wat::parse_str(text).unwrap()).unwrap();
        program.warm().await;
        program
    }

    async fn start(&self, invocation: Invocation) -> Result<Running, StartError> {
        match invocation.mode {
            Mode::WasmCold => WasmCold::new(Arc::clone(&self.host)).start(invocation).await,
            _ => WasmWarm::new(Arc::clone(&self.host)).start(invocation).await,
        }
    }

    /// Starts, reads to the end, and waits for the measurements.
    async fn run(&self, invocation: Invocation) -> (Result<Vec<u8>, OutputError>, Finished) {
        let mut running = self.start(invocation).await.unwrap();
        let output = drain(&mut running).await;
        (output, running.finished.await.unwrap())
    }
}

fn host_in(cache_dir: PathBuf, max_instances: u32) -> Arc<WasmHost> {
    WasmHost::new(WasmHostConfig {
        cache_dir,
        max_memory_bytes: 64 << 20,
        max_instances,
    })
    .unwrap()
}

async fn drain(running: &mut Running) -> Result<Vec<u8>, OutputError> {
    let mut all = Vec::new();
    while let Some(chunk) = running.output.chunk().await? {
        all.extend_from_slice(&chunk);
    }
    Ok(all)
}

/// A request without variables or body, with generous limits.
fn request(program: &Arc<WasmProgram>, mode: Mode) -> Invocation {
    Invocation {
        request_id: Arc::from("test"),
        runnable: Arc::new(Runnable {
            name: Arc::from("program"),
            version: None,
            native: None,
            wasm: Some(Arc::clone(program)),
        }),
        mode,
        environment: Environment::new(),
        arguments: Vec::new(),
        body: Body::Empty,
        limits: Arc::new(Limits::default()),
    }
}

fn limits(change: impl FnOnce(&mut Limits)) -> Arc<Limits> {
    let mut limits = Limits::default();
    change(&mut limits);
    Arc::new(limits)
}

fn body(pieces: Vec<Result<&'static [u8], BodyError>>) -> Body {
    Body::Stream(Box::pin(stream::iter(
        pieces
            .into_iter()
            .map(|piece| piece.map(bytes::Bytes::from_static)),
    )))
}

/// Gives other tasks their turn until `done`, or fails.
async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(tokio::time::Instant::now() < deadline, "{what} did not happen");
        tokio::task::yield_now().await;
    }
}
