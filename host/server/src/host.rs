//! Everything a running host shares between requests.

use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use warmbin_exec::Executors;
use warmbin_exec::wasm::{WasmHost, WasmHostConfig};
use warmbin_store::{Recorder, SqliteStore, Store};

use crate::admin_token::AdminToken;
use crate::catalog::{Catalog, declared};
use crate::config::Config;
use crate::documents::Documents;
use crate::listen::bind;

/// The cookie that carries a dashboard session. Cookies ignore ports, so programs would see it: it is removed
/// from what they get.
pub const SESSION_COOKIE: &str = "warmbin_session";

/// The largest memory a module may declare unless a limit of the configuration is larger.
const MODULE_MEMORY: u64 = 1 << 30;

/// Instances that may exist at once, warm ones included.
pub const MAX_INSTANCES: u32 = 1000;

/// The running host.
#[derive(Debug)]
pub struct Host {
    /// What the operator decided.
    pub config: Config,
    /// The data folder.
    pub data: PathBuf,
    /// Timings, programs, sessions.
    pub store: Arc<dyn Store>,
    /// Where finished requests go.
    pub recorder: Recorder,
    /// The modes.
    pub executors: Executors,
    /// The WebAssembly engine.
    pub wasm: Arc<WasmHost>,
    /// The programs.
    pub catalog: Catalog,
    /// Files below `/`, if any are served.
    pub documents: Option<Documents>,
    /// Who may administrate.
    pub admin_token: AdminToken,
    /// This host's name in records.
    pub name: String,
    /// When it started, microseconds since the epoch.
    pub started_at: i64,
    /// Requests being run now.
    pub in_flight: AtomicU64,
    /// Every request that has been routed and not yet recorded. Shutdown waits for it, within bounds.
    pub runs: TaskTracker,
    /// Cancelled when the host begins to stop: streams that never end by themselves end then.
    pub shutdown: CancellationToken,
    /// The addresses really bound, once they are.
    pub addresses: OnceLock<Addresses>,
}

/// The addresses really bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// Programs.
    pub listen: SocketAddr,
    /// Dashboard, API, metrics, health.
    pub admin_listen: SocketAddr,
}

impl Host {
    /// Opens the data folder and the store, starts the engine, takes over the declared programs and loads
    /// everything. Needs a runtime.
    pub async fn open(config: Config) -> anyhow::Result<Arc<Self>> {
        let compiled_modules = compiled_modules(&config.data);
        Self::open_with(config, compiled_modules).await
    }

    /// The same, with compiled modules in a folder that several data folders may share.
    pub async fn open_with(config: Config, compiled_modules: PathBuf) -> anyhow::Result<Arc<Self>> {
        let data = config.data.clone();
        make_data_folder(&data).with_context(|| format!("cannot make the data folder {}", data.display()))?;
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&config.store).await?);
        let recorder = Recorder::start(Arc::clone(&store), data.join("spill"));
        let wasm = WasmHost::new(WasmHostConfig {
            cache_dir: compiled_modules,
            max_memory_bytes: module_memory(&config),
            max_instances: MAX_INSTANCES,
        })?;
        let refusals = declared::declare(&config, &store, &wasm).await?;
        let catalog = Catalog::new(&config, Arc::clone(&store), Arc::clone(&wasm), refusals);
        catalog.reload().await?;
        let documents = Documents::open(&config).context("documents")?;
        let admin_token = AdminToken::open(config.admin_token.as_ref(), &data)?;
        Ok(Arc::new(Self {
            executors: Executors::new(&wasm),
            name: host_name(),
            started_at: now_us(),
            in_flight: AtomicU64::new(0),
            runs: TaskTracker::new(),
            shutdown: CancellationToken::new(),
            addresses: OnceLock::new(),
            config,
            data,
            store,
            recorder,
            wasm,
            catalog,
            documents,
            admin_token,
        }))
    }

    /// The addresses really bound; the configured ones before that.
    pub fn addresses(&self) -> Addresses {
        self.addresses.get().copied().unwrap_or(Addresses {
            listen: self.config.listen,
            admin_listen: self.config.admin_listen,
        })
    }

    /// Where programs are served, without a trailing slash.
    pub fn programs_url(&self) -> String {
        format!("http://{}", bind::reachable(self.addresses().listen))
    }
}

/// Where the host of a data folder keeps compiled modules.
pub fn compiled_modules(data: &Path) -> PathBuf {
    data.join("wasm-cache")
}

/// SECURITY: the folder holds the admin token and what programs were sent; others on this machine have no
/// business in it.
pub fn make_data_folder(path: &Path) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

/// The largest memory any module may have.
pub fn module_memory(config: &Config) -> u64 {
    let programs = config.programs.iter().map(|entry| &entry.settings);
    let directories = config.directories.iter().map(|entry| &entry.settings);
    let own = programs
        .chain(directories)
        .filter_map(|settings| settings.limits.memory)
        .map(|size| size.0)
        .max();
    MODULE_MEMORY
        .max(config.inherited.limits.memory.0)
        .max(own.unwrap_or(0))
}

fn host_name() -> String {
    match std::fs::read_to_string("/proc/sys/kernel/hostname") {
        Ok(name) if !name.trim().is_empty() => name.trim().to_owned(),
        _ => "localhost".to_owned(),
    }
}

/// The time, microseconds since the epoch.
pub fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
