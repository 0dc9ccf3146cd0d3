//! One loaded module: what its instances are made from, and its warm pool.

use std::fmt;
use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

use crate::wasm::host::WasmHost;
use crate::wasm::instance::{Blueprint, Instance};
use crate::wasm::pool::Pool;
use crate::wasm::warm::{PoolSettings, PoolStatus};

/// A module that is compiled and linked, with its warm pool. Dropping it empties the pool.
pub struct WasmProgram {
    name: Arc<str>,
    blueprint: Blueprint,
    pool: Arc<Pool>,
    host: Arc<WasmHost>,
}

impl WasmProgram {
    pub(super) fn new(
        name: &str,
        blueprint: Blueprint,
        settings: PoolSettings,
        host: &Arc<WasmHost>,
    ) -> Arc<Self> {
        // A module whose code runs when it is instantiated cannot be made ahead of the request it would run for.
        let settings = if blueprint.runs_at_instantiation {
            PoolSettings { min: 0, max: 0 }
        } else {
            settings
        };
        Arc::new(Self {
            name: Arc::from(name),
            blueprint,
            pool: host.new_pool(settings),
            host: Arc::clone(host),
        })
    }

    /// The state of its warm pool.
    pub fn pool(&self) -> PoolStatus {
        self.pool.status()
    }

    /// Fills the warm pool to its target, at least its minimum, and returns once that is done or no more places are
    /// to spare.
    pub async fn warm(&self) {
        while self.refill().await {
            tokio::task::yield_now().await;
        }
    }

    /// Makes one instance for the pool. False when none is wanted or none can be had.
    pub(super) async fn refill(&self) -> bool {
        let Some(claim) = self.pool.claim() else {
            return false;
        };
        let Some(slot) = self.host.spare_slot() else {
            return false;
        };
        match self.make(slot).await {
            Ok(instance) => {
                claim.fill(instance);
                true
            }
            Err(error) => {
                // Requests take the cold path, where the same failure reaches its record.
                tracing::warn!(
                    program.name = %self.name, error = %format_args!("{error:#}"),
                    "cannot make a warm instance",
                );
                false
            }
        }
    }

    /// Makes an instance.
    pub(super) async fn make(&self, slot: OwnedSemaphorePermit) -> wasmtime::Result<Instance> {
        Instance::make(&self.blueprint, slot).await
    }

    pub(super) fn warm_pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    pub(super) fn host(&self) -> &Arc<WasmHost> {
        &self.host
    }
}

impl fmt::Debug for WasmProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WasmProgram")
            .field("name", &self.name)
            .field("blueprint", &self.blueprint)
            .field("pool", &self.pool.status())
            .finish_non_exhaustive()
    }
}
