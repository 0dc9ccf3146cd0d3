//! From a stored version to an entry.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use warmbin_exec::Runnable;
use warmbin_exec::wasm::{PoolSettings, WasmHost, WasmProgram};
use warmbin_store::{Program, Version};

use super::entry::{Entry, Parts, native};
use super::slots::Slots;
use crate::config::{Inherited, Policy, ProgramSettings};

/// The route of `program` under `settings`.
pub(super) fn route(name: &str, settings: Option<&ProgramSettings>) -> String {
    settings
        .and_then(|settings| settings.route.clone())
        .unwrap_or_else(|| format!("/cgi-bin/{name}"))
}

/// What every program of a host is given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) inherited: &'a Inherited,
    pub(super) documents: Option<&'a Path>,
    pub(super) wasm: &'a Arc<WasmHost>,
}

/// Loads `version` of `program`. The error is for the operator.
pub(super) async fn load(
    program: &Program,
    version: &Version,
    given: &Given<'_>,
    slots: Option<Arc<Slots>>,
) -> Result<Entry, String> {
    let settings = ProgramSettings::from_json(&version.settings).map_err(|why| format!("settings: {why}"))?;
    let native_path = version
        .native
        .as_ref()
        .map(|artifact| PathBuf::from(&artifact.path));
    if let Some(path) = &native_path
        && !path.is_file()
    {
        return Err(format!("native: {} is not a file", path.display()));
    }
    let wasm_path = version
        .wasm
        .as_ref()
        .map(|artifact| PathBuf::from(&artifact.path));
    let module = match &wasm_path {
        Some(path) => {
            let pool = settings.pool.unwrap_or_default().into();
            Some(
                module(given.wasm, &program.name, path, pool)
                    .await
                    .map_err(|why| format!("wasm: {why}"))?,
            )
        }
        None => None,
    };
    Ok(Entry::new(Parts {
        name: program.name.as_str().into(),
        route: route(&program.name, Some(&settings)),
        version: Some((version.number, version.created_at)),
        runnable: Runnable {
            name: program.name.as_str().into(),
            version: Some(version.number),
            native: native_path.map(|path| native(&path, None, &settings)),
            wasm: module,
        },
        policy: Policy::new(given.inherited, &settings),
        settings,
        slots,
        wasm_path,
        document_root: given.documents.map(Path::to_owned),
    }))
}

/// Loads a module on a blocking thread and fills its pool to the minimum.
pub(super) async fn module(
    wasm: &Arc<WasmHost>,
    name: &str,
    path: &Path,
    pool: PoolSettings,
) -> Result<Arc<WasmProgram>, String> {
    let (wasm, name, path) = (Arc::clone(wasm), name.to_owned(), path.to_owned());
    let loaded = tokio::task::spawn_blocking(move || wasm.load(&name, &path, pool)).await;
    let module = loaded
        .map_err(|error| error.to_string())?
        .map_err(|error| error.to_string())?;
    module.warm().await;
    Ok(module)
}
