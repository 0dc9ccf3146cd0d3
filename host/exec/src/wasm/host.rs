//! The engine and what all modules share: the epoch clock, the linked functions, the cache, the places for instances.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use wasmtime::{Engine, ExternType};

use crate::wasm::artifact::{self, ArtifactError};
use crate::wasm::cache::Cache;
use crate::wasm::engine;
use crate::wasm::epoch::{EpochClock, Running};
use crate::wasm::instance::{Blueprint, Instance};
use crate::wasm::keeper::Keeper;
use crate::wasm::linker::Imports;
use crate::wasm::pool::{Pool, Pools};
use crate::wasm::program::WasmProgram;
use crate::wasm::slots::Slots;
use crate::wasm::validate::validate;
use crate::wasm::warm::PoolSettings;

/// How the engine is set up.
#[derive(Debug, Clone)]
pub struct WasmHostConfig {
    /// Where compiled artifacts are kept; made with mode 0700.
    pub cache_dir: PathBuf,
    /// The largest memory any module may have, in bytes.
    pub max_memory_bytes: u64,
    /// Instances that may exist at once, warm ones included.
    pub max_instances: u32,
}

/// What the engine turned out to be; shown on the dashboard.
#[derive(Debug, Clone)]
pub struct EngineFacts {
    /// "pooling" or "on-demand", and why.
    pub allocator: String,
    /// The wasmtime version.
    pub version: &'static str,
}

/// The engine and everything shared by all modules.
pub struct WasmHost {
    engine: Engine,
    facts: EngineFacts,
    imports: Imports,
    cache: Cache,
    slots: Slots,
    pools: Arc<Pools>,
    clock: EpochClock,
    keeper: Keeper,
    max_memory_bytes: u64,
}

impl WasmHost {
    /// Starts the engine and its epoch thread.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the configuration is the host's from here on"
    )]
    pub fn new(config: WasmHostConfig) -> Result<Arc<Self>, ArtifactError> {
        let (engine, facts) = engine::start(&config)?;
        let cache = Cache::open(&config.cache_dir, &engine).map_err(|source| ArtifactError::Io {
            context: format!(
                "cannot open the folder of compiled modules, {}",
                config.cache_dir.display()
            ),
            source,
        })?;
        let pools = Arc::new(Pools::default());
        Ok(Arc::new(Self {
            imports: Imports::new(&engine)?,
            cache,
            slots: Slots::new(config.max_instances),
            clock: EpochClock::start(engine.weak())?,
            keeper: Keeper::start(Arc::clone(&pools))?,
            pools,
            engine,
            facts,
            max_memory_bytes: config.max_memory_bytes,
        }))
    }

    /// What the engine turned out to be.
    pub fn facts(&self) -> EngineFacts {
        self.facts.clone()
    }

    /// Validates a module, compiles it unless its compiled form is cached, and prepares its instantiation. Blocks
    /// for as long as compiling takes (seconds for large interpreters): call it on a blocking thread.
    pub fn load(
        self: &Arc<Self>,
        name: &str,
        path: &Path,
        pool: PoolSettings,
    ) -> Result<Arc<WasmProgram>, ArtifactError> {
        let wasm = fs::read(path).map_err(|source| ArtifactError::Io {
            context: format!("cannot read {}", path.display()),
            source,
        })?;
        let traits = validate(&self.engine, &self.imports, &wasm, self.max_memory_bytes)?;
        let module = artifact::compiled(&self.engine, &self.cache, &wasm)?;
        match module.get_export("_start") {
            Some(ExternType::Func(start)) if start.params().len() == 0 && start.results().len() == 0 => {}
            _ => {
                return Err(ArtifactError::Invalid(
                    "its `_start` takes parameters or returns something; a command's does neither".to_owned(),
                ));
            }
        }
        let pre = self.imports.resolve(&module)?;
        // Now, not in the first request.
        module
            .initialize_copy_on_write_image()
            .map_err(|error| ArtifactError::Engine(format!("{error:#}")))?;
        let blueprint = Blueprint {
            pre,
            runs_at_instantiation: traits.runs_at_instantiation,
            max_memory: self.max_memory_bytes,
        };
        Ok(WasmProgram::new(name, blueprint, pool, self))
    }

    pub(super) fn new_pool(&self, settings: PoolSettings) -> Arc<Pool> {
        let pool = Arc::new(Pool::new(settings));
        self.pools.add(&pool);
        pool
    }

    /// A place for a request's instance. Waiting instances make room, whichever program they belong to.
    pub(super) async fn slot(&self) -> Option<OwnedSemaphorePermit> {
        if let Some(slot) = self.slots.take() {
            return Some(slot);
        }
        drop(self.pools.reclaim());
        self.slots.wait().await
    }

    /// A place for an instance that waits for a request.
    pub(super) fn spare_slot(&self) -> Option<OwnedSemaphorePermit> {
        self.slots.take_spare()
    }

    /// Keeps the epoch clock going.
    pub(super) fn ticking(&self) -> Running {
        self.clock.running()
    }

    /// Takes a used instance apart on another thread.
    pub(super) fn dismantle(&self, instance: Instance) {
        self.keeper.dismantle(instance);
    }
}

impl std::fmt::Debug for WasmHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WasmHost")
            .field("facts", &self.facts)
            .field("cache", &self.cache)
            .field("slots", &self.slots)
            .finish_non_exhaustive()
    }
}
