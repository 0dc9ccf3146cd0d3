//! What guests may import: preview1, and nothing else. Built once per host.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use wasmtime::{Engine, InstancePre, Linker, Module, Store};

use crate::wasm::artifact::ArtifactError;
use crate::wasm::guest::Guest;
use crate::wasm::limiter::MemoryLimiter;
use crate::wasm::stdio::Stdio;
use crate::wasm::variables;

/// The functions this host provides.
pub(super) struct Imports {
    linker: Linker<Guest>,
    names: HashSet<(String, String)>,
}

impl Imports {
    /// Links preview1 for `engine`.
    pub(super) fn new(engine: &Engine) -> Result<Self, ArtifactError> {
        let mut linker = Linker::new(engine);
        wasmtime_wasi::p1::add_to_linker_async(&mut linker, |guest: &mut Guest| &mut guest.wasi)
            .and_then(|()| variables::add_to_linker(&mut linker))
            .map_err(|error| ArtifactError::Engine(format!("{error:#}")))?;
        let guest = Guest::unbound(&Arc::new(Stdio::new()), MemoryLimiter::new(0));
        let mut store = Store::new(engine, guest);
        let names = linker
            .iter(&mut store)
            .map(|(module, name, _)| (module.to_owned(), name.to_owned()))
            .collect();
        Ok(Self { linker, names })
    }

    /// Whether `module::name` is provided.
    pub(super) fn provides(&self, module: &str, name: &str) -> bool {
        self.names.contains(&(module.to_owned(), name.to_owned()))
    }

    /// Resolves the imports of `module`, once for all its instances.
    pub(super) fn resolve(&self, module: &Module) -> Result<InstancePre<Guest>, ArtifactError> {
        self.linker.instantiate_pre(module).map_err(|error| {
            ArtifactError::Invalid(format!("its imports are not those of preview1: {error:#}"))
        })
    }
}

impl fmt::Debug for Imports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Imports")
            .field("functions", &self.names.len())
            .finish_non_exhaustive()
    }
}
