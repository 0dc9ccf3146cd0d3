//! From files that arrived to a stored version.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use warmbin_exec::Family;
use warmbin_exec::wasm::{PoolSettings, WasmHost};
use warmbin_store::{Artifact, NewVersion, Program, Source, Store, StoreError, Version};

use super::files::{self, Inspected, Placing, StoringLock};
use super::validate;
use crate::config::ProgramSettings;

/// Files and settings that arrived for a new version.
#[derive(Debug)]
pub struct Arrived {
    /// The program's name.
    pub name: String,
    /// The native artifact's file. From an upload it is a temporary file and is moved; from the command line
    /// it is copied; from the configuration it stays where it is.
    pub native: Option<PathBuf>,
    /// The WebAssembly module's file; likewise.
    pub wasm: Option<PathBuf>,
    /// Settings as JSON. Absent, an upload keeps those of the active version.
    pub settings: Option<String>,
    /// Where it came from.
    pub source: Source,
    /// Who sent it.
    pub created_by: String,
    /// Whether it becomes active at once.
    pub activate: bool,
}

/// Why a version was refused. The text is for whoever sent it: it names what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// One field is wrong.
    #[error("{field}: {detail}")]
    Invalid {
        /// `name`, `native`, `wasm` or `settings`.
        field: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// The store or the disk failed.
    #[error("{0}")]
    Failed(String),
}

impl From<StoreError> for IngestError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.to_string())
    }
}

fn invalid(field: &'static str) -> impl Fn(String) -> IngestError {
    move |detail| IngestError::Invalid { field, detail }
}

/// Detects, validates, compiles, stores. Files of `Upload` and `Cli` versions go to
/// `DATA/programs/NAME/VERSION/`. The caller reloads the catalog. Without any file, a version of other
/// settings is made of the active version's artifacts.
pub async fn ingest(
    arrived: Arrived,
    data: &Path,
    store: &Arc<dyn Store>,
    wasm: &Arc<WasmHost>,
) -> Result<Version, IngestError> {
    let programs = store.programs().await?;
    let (settings, artifacts) = validated(&arrived, &programs, wasm).await?;
    let number = keep(&arrived, artifacts, settings.to_json(), data, store).await?;
    let program = store.program(&arrived.name).await?;
    program
        .and_then(|program| {
            program
                .versions
                .into_iter()
                .find(|version| version.number == number)
        })
        .ok_or_else(|| {
            IngestError::Failed(format!(
                "version {number} of {} was removed meanwhile",
                arrived.name
            ))
        })
}

/// Everything that [`ingest`] would refuse beside `programs`; stores nothing.
pub async fn check(arrived: &Arrived, programs: &[Program], wasm: &Arc<WasmHost>) -> Result<(), IngestError> {
    validated(arrived, programs, wasm).await.map(drop)
}

async fn validated(
    arrived: &Arrived,
    programs: &[Program],
    wasm: &Arc<WasmHost>,
) -> Result<(ProgramSettings, Artifacts), IngestError> {
    validate::name(&arrived.name).map_err(invalid("name"))?;
    let active = (arrived.source != Source::Config)
        .then(|| active_version(programs, &arrived.name))
        .flatten();
    let settings = settings(arrived, active)?;
    let artifacts = artifacts(arrived, active).await?;
    validate::settings(
        &arrived.name,
        &settings,
        arrived.source,
        |family| artifacts.has(family),
        programs,
    )
    .map_err(invalid("settings"))?;
    if let Some(path) = artifacts.new_wasm() {
        compile(&arrived.name, path, wasm).await?;
    }
    Ok((settings, artifacts))
}

/// An artifact of the version to be.
#[derive(Debug)]
enum Piece {
    /// A file that arrived.
    New(PathBuf, Inspected),
    /// An artifact that an earlier version already has.
    Kept(Artifact),
}

#[derive(Debug)]
struct Artifacts {
    native: Option<Piece>,
    wasm: Option<Piece>,
}

impl Artifacts {
    fn has(&self, family: Family) -> bool {
        match family {
            Family::Native => self.native.is_some(),
            Family::Wasm => self.wasm.is_some(),
        }
    }

    fn new_wasm(&self) -> Option<&Path> {
        match &self.wasm {
            Some(Piece::New(path, _)) => Some(path),
            _ => None,
        }
    }
}

fn active_version<'a>(programs: &'a [Program], name: &str) -> Option<&'a Version> {
    let program = programs.iter().find(|program| program.name == name)?;
    let active = program.active?;
    program.versions.iter().find(|version| version.number == active)
}

fn settings(arrived: &Arrived, active: Option<&Version>) -> Result<ProgramSettings, IngestError> {
    let text = arrived
        .settings
        .as_deref()
        .or(active.map(|version| version.settings.as_str()))
        .unwrap_or("{}");
    ProgramSettings::from_json(text).map_err(invalid("settings"))
}

/// Reads and judges the files on a blocking thread.
async fn artifacts(arrived: &Arrived, active: Option<&Version>) -> Result<Artifacts, IngestError> {
    if arrived.native.is_none() && arrived.wasm.is_none() {
        return match active {
            Some(version) if arrived.settings.is_some() => Ok(Artifacts {
                native: version.native.clone().map(Piece::Kept),
                wasm: version.wasm.clone().map(Piece::Kept),
            }),
            _ => Err(invalid("native")(
                "a version needs a native artifact, a WebAssembly module, or both".to_owned(),
            )),
        };
    }
    let (native, wasm) = (arrived.native.clone(), arrived.wasm.clone());
    let judged = tokio::task::spawn_blocking(move || {
        Ok(Artifacts {
            native: native
                .map(|path| judge("native", path, validate::native))
                .transpose()?,
            wasm: wasm.map(|path| judge("wasm", path, validate::wasm)).transpose()?,
        })
    });
    judged
        .await
        .map_err(|error| IngestError::Failed(error.to_string()))?
}

fn judge(
    field: &'static str,
    path: PathBuf,
    verdict: impl Fn(&super::detect::Kind) -> Result<(), String>,
) -> Result<Piece, IngestError> {
    let inspected = files::inspect(&path)
        .map_err(|error| invalid(field)(format!("cannot read {}: {error}", path.display())))?;
    verdict(&inspected.kind).map_err(invalid(field))?;
    Ok(Piece::New(path, inspected))
}

/// Compiles and links a module, so that a broken one is refused before anything is stored. The compiled form
/// stays in the engine's cache.
async fn compile(name: &str, path: &Path, wasm: &Arc<WasmHost>) -> Result<(), IngestError> {
    let (name, path, wasm) = (name.to_owned(), path.to_owned(), Arc::clone(wasm));
    let loaded = tokio::task::spawn_blocking(move || {
        let nothing_ready = PoolSettings { min: 0, max: 1 };
        wasm.load(&name, &path, nothing_ready).map(drop)
    });
    loaded
        .await
        .map_err(|error| IngestError::Failed(error.to_string()))?
        .map_err(|refusal| invalid("wasm")(refusal.to_string()))
}

/// Puts the files in their place and the version into the store.
async fn keep(
    arrived: &Arrived,
    artifacts: Artifacts,
    settings: String,
    data: &Path,
    store: &Arc<dyn Store>,
) -> Result<u32, IngestError> {
    let failed = |error: std::io::Error| IngestError::Failed(format!("cannot keep the files: {error}"));
    let lock = StoringLock::wait(data).await.map_err(failed)?;
    let known = store.program(&arrived.name).await?;
    let number = known
        .iter()
        .flat_map(|program| &program.versions)
        .map(|version| version.number)
        .max()
        .unwrap_or(0)
        + 1;
    let placing = match arrived.source {
        Source::Config => None,
        Source::Upload => Some(Placing::Move),
        Source::Cli => Some(Placing::Copy),
    };
    let (name, of_data) = (arrived.name.clone(), data.to_owned());
    // The lock goes along: a client that leaves ends this future, not the work, and the number is taken until it is done.
    let placed = tokio::task::spawn_blocking(move || {
        let placed = place(artifacts, &name, number, &of_data, placing);
        (lock, placed)
    });
    let (_lock, placed) = placed
        .await
        .map_err(|error| IngestError::Failed(error.to_string()))?;
    let (native, wasm) = placed.map_err(failed)?;
    let version = NewVersion {
        program: arrived.name.clone(),
        source: arrived.source,
        native,
        wasm,
        settings,
        created_by: arrived.created_by.clone(),
        activate: arrived.activate,
    };
    Ok(store.add_version(&version).await?)
}

type Placed = (Option<Artifact>, Option<Artifact>);

/// Moves or copies what arrived to the version's folder and says where everything is.
fn place(
    artifacts: Artifacts,
    name: &str,
    number: u32,
    data: &Path,
    placing: Option<Placing>,
) -> std::io::Result<Placed> {
    let arrives = |piece: &Option<Piece>| matches!(piece, Some(Piece::New(..)));
    let folder = match placing {
        Some(placing) if arrives(&artifacts.native) || arrives(&artifacts.wasm) => {
            Some((files::version_folder(data, name, number)?, placing))
        }
        _ => None,
    };
    let put = |piece: Option<Piece>, file_name: String, mode: u32| {
        let (from, inspected) = match piece {
            None => return Ok(None),
            Some(Piece::Kept(artifact)) => return Ok(Some(artifact)),
            Some(Piece::New(from, inspected)) => (from, inspected),
        };
        let path = match &folder {
            Some((folder, placing)) => {
                let to = folder.join(file_name);
                files::place(&from, &to, mode, *placing)?;
                to
            }
            None => from,
        };
        let path = path.into_os_string().into_string().map_err(|path| {
            std::io::Error::new(
                std::io::ErrorKind::InvalidInput,
                format!("{} is not valid UTF-8", path.display()),
            )
        })?;
        Ok::<_, std::io::Error>(Some(Artifact {
            path,
            sha256: inspected.sha256,
            bytes: inspected.bytes,
            kind: inspected.kind.to_string(),
        }))
    };
    let native = put(artifacts.native, name.to_owned(), 0o755)?;
    let wasm = put(artifacts.wasm, format!("{name}.wasm"), 0o644)?;
    if let Some((folder, _)) = &folder {
        files::sync_folders(folder)?;
    }
    Ok((native, wasm))
}
