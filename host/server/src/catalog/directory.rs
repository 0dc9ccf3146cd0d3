//! `[[directory]]`: a folder of drop-in programs, looked up at each request. The longest path that is a file
//! is the script, the rest is extra path.
//!
//! Symbolic links are followed, as the folder is its owner's; names that begin with a dot are never served.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use http::StatusCode;
use rustix::fs::{Access, access};
use tokio::sync::OnceCell;
use warmbin_cgi::path::script_splits;
use warmbin_exec::Runnable;
use warmbin_exec::wasm::WasmHost;

use super::entry::{Entry, Parts, native};
use super::load::module;
use crate::config::{DirectoryEntry, Inherited, Policy};

/// Drop-in programs remembered per folder. Beyond it all are forgotten, which costs a reload of modules.
const REMEMBERED: usize = 1024;

/// A folder of drop-in programs.
#[derive(Debug)]
pub struct Directory {
    config: DirectoryEntry,
    policy: Policy,
    document_root: PathBuf,
    wasm: Arc<WasmHost>,
    known: Mutex<HashMap<PathBuf, Known>>,
}

/// A drop-in program met before.
#[derive(Debug, Clone)]
struct Known {
    identity: Identity,
    entry: Arc<OnceCell<Result<Arc<Entry>, String>>>,
}

/// Tells a file from the one that took its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    /// Also tells when a file's mode was changed, or its content by something that puts the time of writing back.
    changed: (i64, i64),
}

/// What a path below the folder leads to.
#[derive(Debug)]
pub enum Found {
    /// A program.
    Script {
        /// It, ready to be run.
        entry: Arc<Entry>,
        /// The path that leads to it, the folder's URL included.
        script_name: Vec<u8>,
        /// The extra path.
        path_info: Vec<u8>,
    },
    /// A folder named without its slash.
    AddSlash,
    /// Nothing that may be run.
    Refused {
        /// What to answer.
        status: StatusCode,
        /// Why, for the log.
        why: String,
    },
}

/// A file that may be run.
struct Script {
    /// Below the folder, beginning with a slash.
    file: Vec<u8>,
    path: PathBuf,
    metadata: Metadata,
    extra: Vec<u8>,
}

impl Directory {
    /// A folder with the settings of its entry. `documents` is the folder of documents, if there is one.
    pub fn new(
        config: DirectoryEntry,
        inherited: &Inherited,
        documents: Option<&Path>,
        wasm: Arc<WasmHost>,
    ) -> Self {
        Self {
            document_root: documents.unwrap_or(&config.path).to_owned(),
            policy: Policy::new(inherited, &config.settings),
            config,
            wasm,
            known: Mutex::default(),
        }
    }

    /// The URL prefix.
    pub fn url(&self) -> &str {
        &self.config.url
    }

    /// What holds for its programs.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Finds the program for `rest`, the decoded path after the folder's URL.
    pub async fn find(self: &Arc<Self>, rest: &[u8]) -> Found {
        let (this, rest) = (Arc::clone(self), rest.to_vec());
        let walked = tokio::task::spawn_blocking(move || this.walk(&rest)).await;
        match walked {
            Ok(Ok(script)) => self.script(script).await,
            Ok(Err(found)) => found,
            Err(error) => refused(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }

    fn walk(&self, rest: &[u8]) -> Result<Script, Found> {
        if rest.is_empty() {
            return Err(self.without_slash(&[]));
        }
        if rest.iter().all(|byte| *byte == b'/') {
            return self.index(&[]);
        }
        for (file, extra) in script_splits(rest) {
            let (path, metadata) = self.look(&file)?;
            if metadata.is_file() {
                return Ok(Script {
                    file,
                    path,
                    metadata,
                    extra: extra.to_vec(),
                });
            }
            if !metadata.is_dir() {
                return Err(refused(
                    StatusCode::NOT_FOUND,
                    format!("{} is no regular file", path.display()),
                ));
            }
            if extra.is_empty() {
                return Err(self.without_slash(&file));
            }
            if extra.iter().all(|byte| *byte == b'/') {
                return self.index(&file);
            }
        }
        Err(refused(StatusCode::NOT_FOUND, "no such program".to_owned()))
    }

    /// What `folder` is answered with where its slash is missing: only one that something answers for is worth a
    /// second request.
    fn without_slash(&self, folder: &[u8]) -> Found {
        match self.index(folder) {
            Ok(_) => Found::AddSlash,
            Err(found) => found,
        }
    }

    /// The first index program of `folder`.
    fn index(&self, folder: &[u8]) -> Result<Script, Found> {
        for name in &self.config.index {
            let mut file = folder.to_vec();
            file.push(b'/');
            file.extend_from_slice(name.as_bytes());
            if let Ok((path, metadata)) = self.look(&file)
                && metadata.is_file()
            {
                return Ok(Script {
                    file,
                    path,
                    metadata,
                    extra: Vec::new(),
                });
            }
        }
        Err(refused(
            StatusCode::NOT_FOUND,
            "a folder without an index program".to_owned(),
        ))
    }

    fn look(&self, file: &[u8]) -> Result<(PathBuf, Metadata), Found> {
        let relative = file.strip_prefix(b"/").unwrap_or(file);
        // SECURITY: `..` would leave the folder, and dot files hold what their owner did not mean to publish.
        if relative
            .split(|byte| *byte == b'/')
            .any(|segment| segment.starts_with(b"."))
        {
            return Err(refused(
                StatusCode::NOT_FOUND,
                "names that begin with a dot are not served".to_owned(),
            ));
        }
        let path = self.config.path.join(OsStr::from_bytes(relative));
        match std::fs::metadata(&path) {
            Ok(metadata) => Ok((path, metadata)),
            Err(error) => {
                let status = match error.kind() {
                    io::ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
                    _ => StatusCode::NOT_FOUND,
                };
                Err(refused(status, format!("{}: {error}", path.display())))
            }
        }
    }

    async fn script(&self, script: Script) -> Found {
        let Script {
            file,
            path,
            metadata,
            extra,
        } = script;
        let kind = match self.kind(&path) {
            Ok(kind) => kind,
            Err(found) => return found,
        };
        let cell = self.remember(&path, &metadata);
        let loaded = cell.get_or_init(|| self.load(&file, &path, kind)).await;
        match loaded {
            Ok(entry) => {
                let mut script_name = self.url().trim_end_matches('/').as_bytes().to_vec();
                script_name.extend_from_slice(&file);
                Found::Script {
                    entry: Arc::clone(entry),
                    script_name,
                    path_info: extra,
                }
            }
            Err(why) => refused(
                StatusCode::INTERNAL_SERVER_ERROR,
                format!("{}: {why}", path.display()),
            ),
        }
    }

    fn kind(&self, path: &Path) -> Result<Kind, Found> {
        let extension = path.extension().unwrap_or_default();
        if extension == "wasm" {
            return Ok(Kind::Wasm);
        }
        if let Some(extension) = extension.to_str()
            && let Some(program) = self.config.interpreters.get(&format!(".{extension}"))
        {
            return Ok(Kind::Native(Some(program.clone())));
        }
        // SECURITY: a file that is not meant to be run is refused; its source is never sent.
        if let Err(error) = access(path, Access::EXEC_OK) {
            let why = format!("{} is not executable: {error}", path.display());
            return Err(refused(StatusCode::FORBIDDEN, why));
        }
        Ok(Kind::Native(None))
    }

    /// The place for the entry of `path`, a new one if the file has changed.
    fn remember(&self, path: &Path, metadata: &Metadata) -> Arc<OnceCell<Result<Arc<Entry>, String>>> {
        let identity = Identity {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(path)
            && found.identity == identity
        {
            return Arc::clone(&found.entry);
        }
        if known.len() >= REMEMBERED {
            known.clear();
        }
        let fresh = Known {
            identity,
            entry: Arc::default(),
        };
        known.insert(path.to_owned(), fresh.clone());
        fresh.entry
    }

    async fn load(&self, file: &[u8], path: &Path, kind: Kind) -> Result<Arc<Entry>, String> {
        let settings = self.config.settings.clone();
        let route = format!(
            "{}{}",
            self.url().trim_end_matches('/'),
            String::from_utf8_lossy(file)
        );
        // As a registered program at the same place would be called.
        let name = route.strip_prefix("/cgi-bin/").unwrap_or(&route);
        let name: Arc<str> = name.trim_start_matches('/').into();
        let (native, wasm) = match kind {
            Kind::Native(interpreter) => (Some(native(path, interpreter, &settings)), None),
            Kind::Wasm => {
                let pool = settings.pool.unwrap_or_default().into();
                (None, Some(module(&self.wasm, &name, path, pool).await?))
            }
        };
        Ok(Arc::new(Entry::new(Parts {
            runnable: Runnable {
                name: Arc::clone(&name),
                version: None,
                native,
                wasm,
            },
            name,
            route,
            version: None,
            settings,
            policy: self.policy.clone(),
            slots: None,
            wasm_path: Some(path.to_owned()),
            document_root: Some(self.document_root.clone()),
        })))
    }
}

/// How a drop-in file is run.
enum Kind {
    /// As a process, perhaps by an interpreter.
    Native(Option<PathBuf>),
    /// As a module.
    Wasm,
}

fn refused(status: StatusCode, why: String) -> Found {
    Found::Refused { status, why }
}
