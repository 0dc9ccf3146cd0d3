//! `[[program]]`s of the configuration become versions, once per change of their files or settings.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use warmbin_exec::wasm::WasmHost;
use warmbin_store::{Artifact, Source, Store, StoreError, Version};

use crate::config::{Config, ProgramEntry};
use crate::programs::ingest::{self, Arrived, ingest};
use crate::programs::validate::effective_route;

/// A program that cannot be run.
#[derive(Debug, Clone)]
pub struct Refused {
    /// Where it would be served.
    pub route: String,
    /// Why.
    pub problem: String,
}

/// What cannot be run, by the program's name.
pub type Refusals = BTreeMap<String, Refused>;

/// Takes the declared programs over into the store. Returns what could not be taken over: one bad program does
/// not keep the others from being served.
pub async fn declare(
    config: &Config,
    store: &Arc<dyn Store>,
    wasm: &Arc<WasmHost>,
) -> Result<Refusals, StoreError> {
    let mut refusals = Refusals::new();
    for entry in &config.programs {
        if let Err(problem) = declare_one(entry, config, store, wasm).await? {
            let name = entry.name.as_str();
            tracing::error!(target: "warmbin", { program.name = name }, "program {name}: {problem}");
            let route = effective_route(name, &entry.settings);
            refusals.insert(entry.name.clone(), Refused { route, problem });
        }
    }
    Ok(refusals)
}

/// What [`declare`] would refuse, one line per program; changes nothing.
pub async fn check(config: &Config, wasm: &Arc<WasmHost>) -> Vec<String> {
    let mut problems = Vec::new();
    for entry in &config.programs {
        if let Err(error) = ingest::check(&arrived(entry), &[], wasm).await {
            problems.push(format!("program {}: {error}", entry.name));
        }
    }
    problems
}

/// A declared program as something to take in.
fn arrived(entry: &ProgramEntry) -> Arrived {
    Arrived {
        name: entry.name.clone(),
        native: entry.native.clone(),
        wasm: entry.wasm.clone(),
        settings: Some(entry.settings.to_json()),
        source: Source::Config,
        created_by: "config".to_owned(),
        activate: true,
    }
}

/// Removes the programs that were declared once and no longer are, unless something was uploaded to them. Only
/// for the host that serves: a command that happens to know another file must not take its programs away.
pub async fn forget_undeclared(config: &Config, store: &Arc<dyn Store>) -> Result<(), StoreError> {
    let names: BTreeSet<&str> = config.programs.iter().map(|entry| entry.name.as_str()).collect();
    for program in store.programs().await? {
        let name = program.name.as_str();
        let mut versions = program.versions.iter();
        if names.contains(name) || !versions.all(|version| version.source == Source::Config) {
            continue;
        }
        store.remove_program(name).await?;
        tracing::info!(
            target: "warmbin",
            { program.name = name },
            "{name} is no longer declared: removed"
        );
    }
    Ok(())
}

async fn declare_one(
    entry: &ProgramEntry,
    config: &Config,
    store: &Arc<dyn Store>,
    wasm: &Arc<WasmHost>,
) -> Result<Result<(), String>, StoreError> {
    let settings = entry.settings.to_json();
    let known = store.program(&entry.name).await?;
    let newest = known.as_ref().and_then(|program| {
        program
            .versions
            .iter()
            .find(|version| version.source == Source::Config)
    });
    if let Some(version) = newest
        && same(version, entry, &settings).await
    {
        if known.as_ref().is_some_and(|program| program.active.is_none()) {
            store.activate(&entry.name, version.number).await?;
        }
        return Ok(Ok(()));
    }
    match ingest(arrived(entry), &config.data, store, wasm).await {
        Ok(version) => {
            let number = version.number;
            tracing::info!(
                target: "warmbin",
                { program.name = entry.name, program.version = number },
                "{} is declared and now version {number}",
                entry.name
            );
            Ok(Ok(()))
        }
        Err(error) => Ok(Err(error.to_string())),
    }
}

/// Whether `version` was made of the very files and settings of `entry`.
async fn same(version: &Version, entry: &ProgramEntry, settings: &str) -> bool {
    version.settings == settings
        && same_file(version.native.as_ref(), entry.native.as_deref()).await
        && same_file(version.wasm.as_ref(), entry.wasm.as_deref()).await
}

async fn same_file(artifact: Option<&Artifact>, path: Option<&Path>) -> bool {
    match (artifact, path) {
        (None, None) => true,
        (Some(artifact), Some(path)) => {
            Path::new(&artifact.path) == path
                && digest(path.to_owned())
                    .await
                    .is_ok_and(|digest| digest == artifact.sha256)
        }
        _ => false,
    }
}

/// SHA-256 of a file, in hexadecimal.
async fn digest(path: std::path::PathBuf) -> io::Result<String> {
    let hashed = tokio::task::spawn_blocking(move || {
        let mut hash = Sha256::new();
        let mut file = std::fs::File::open(path)?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            match io::Read::read(&mut file, &mut buffer)? {
                0 => return Ok(hex(&hash.finalize())),
                read => hash.update(buffer.get(..read).unwrap_or_default()),
            }
        }
    });
    hashed.await.map_err(io::Error::other)?
}

/// Bytes in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            for nibble in [byte >> 4, byte & 15] {
                text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
            }
            text
        })
}
