//! `documents`: a folder of files that are served below `/`, behind every program.
//!
//! Owns: which file a path leads to, and which it never does. Must not know: requests, answers.
//!
//! A link inside the folder is followed as long as it stays inside. Files that the host itself needs, and files that it
//! runs, are no documents wherever they lie.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::Config;

/// The file that answers for its folder.
const INDEX: &str = "index.html";

/// The folder of documents.
#[derive(Debug, Clone)]
pub struct Documents {
    folder: Arc<Folder>,
}

#[derive(Debug)]
struct Folder {
    /// Without links.
    root: PathBuf,
    /// Files and folders that are not served though they lie below the root; without links.
    withheld: Vec<PathBuf>,
}

/// Why a path leads to no document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoDocument {
    /// Nothing that may be known is there.
    Absent,
    /// A folder, named without its slash.
    AddSlash,
    /// A file that is not sent as it is.
    NotServed,
}

impl Documents {
    /// The documents of a host, if it has a folder of them.
    pub fn open(config: &Config) -> io::Result<Option<Self>> {
        let Some(folder) = &config.documents else {
            return Ok(None);
        };
        let folder = Folder {
            root: folder.canonicalize()?,
            withheld: withheld(config),
        };
        Ok(Some(Self {
            folder: Arc::new(folder),
        }))
    }

    /// The file that `path` (decoded, without dot segments) leads to.
    pub async fn find(&self, path: Vec<u8>) -> Result<PathBuf, NoDocument> {
        let folder = Arc::clone(&self.folder);
        tokio::task::spawn_blocking(move || folder.find(&path))
            .await
            .unwrap_or(Err(NoDocument::Absent))
    }
}

/// SECURITY: the data folder holds the admin token, the file of the configuration may; the rest are sources of programs.
fn withheld(config: &Config) -> Vec<PathBuf> {
    let programs = config
        .programs
        .iter()
        .flat_map(|entry| entry.native.iter().chain(&entry.wasm));
    let folders = config.directories.iter().map(|entry| &entry.path);
    let database = config.store.strip_prefix("sqlite:").map(PathBuf::from);
    let mut paths: Vec<PathBuf> = programs
        .chain(folders)
        .chain(config.file.as_ref())
        .chain([&config.data])
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    for suffix in ["", "-wal", "-shm"] {
        let beside = |path: &PathBuf| {
            let mut name = path.file_name()?.to_owned();
            name.push(suffix);
            // The file itself need not be there yet.
            Some(path.parent()?.canonicalize().ok()?.join(name))
        };
        paths.extend(database.as_ref().and_then(beside));
    }
    paths
}

impl Folder {
    fn find(&self, path: &[u8]) -> Result<PathBuf, NoDocument> {
        let is_dot_file = |segment: &[u8]| segment.starts_with(b".");
        // SECURITY: dot files hold what their owner did not mean to publish.
        if path.split(|byte| *byte == b'/').any(is_dot_file) {
            return Err(NoDocument::Absent);
        }
        let start = path.iter().position(|byte| *byte != b'/').unwrap_or(path.len());
        let named = self
            .root
            .join(OsStr::from_bytes(path.get(start..).unwrap_or_default()));
        let named = match metadata(&named)? {
            there if there.is_dir() && path.ends_with(b"/") => named.join(INDEX),
            there if there.is_dir() => {
                self.inside(&named)?;
                return Err(NoDocument::AddSlash);
            }
            _ => named,
        };
        if !metadata(&named)?.is_file() {
            return Err(NoDocument::Absent);
        }
        let real = self.inside(&named)?;
        // A page with directives must not be sent with its directives in it.
        if [&named, &real]
            .iter()
            .any(|path| path.extension() == Some(OsStr::new("shtml")))
        {
            return Err(NoDocument::NotServed);
        }
        Ok(real)
    }

    /// Where `named` really is, if that may be served.
    ///
    /// SECURITY: links may lead anywhere, so what counts is where they end.
    fn inside(&self, named: &Path) -> Result<PathBuf, NoDocument> {
        let real = named.canonicalize().map_err(|_| NoDocument::Absent)?;
        let below = real.strip_prefix(&self.root).map_err(|_| NoDocument::Absent)?;
        let is_dot_file = below.iter().any(|segment| segment.as_bytes().starts_with(b"."));
        if is_dot_file || self.withheld.iter().any(|path| real.starts_with(path)) {
            return Err(NoDocument::Absent);
        }
        Ok(real)
    }
}

fn metadata(path: &Path) -> Result<std::fs::Metadata, NoDocument> {
    std::fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => NoDocument::NotServed,
        _ => NoDocument::Absent,
    })
}
