//! The files below the data folder: uploads on their way in `tmp/`, versions in `programs/NAME/NUMBER/`.
//!
//! A version's folder is complete and on disk before the store hears of it: the row is what makes it exist. A
//! folder without a row is what a crash left behind, and is cleared away when its number is used again.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::detect::{HEAD_BYTES, Kind, detect};
use crate::catalog::declared::hex;

/// What a file holds.
#[derive(Debug)]
pub struct Inspected {
    /// What it was found to be.
    pub kind: Kind,
    /// SHA-256 of its content, hexadecimal.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}

/// How a file comes to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placing {
    /// It is a temporary file and is moved.
    Move,
    /// It is somebody's file and is copied.
    Copy,
}

/// Held while a version is being stored, by whichever process: version numbers and folders then agree.
#[derive(Debug)]
pub struct StoringLock {
    _file: File,
}

impl StoringLock {
    /// Waits for the lock without blocking the runtime.
    pub async fn wait(data: &Path) -> io::Result<Self> {
        let data = data.to_owned();
        let taken = tokio::task::spawn_blocking(move || Self::take(&data));
        taken.await.map_err(io::Error::other)?
    }

    /// Waits for the lock; blocks.
    fn take(data: &Path) -> io::Result<Self> {
        let programs = data.join("programs");
        private_folder(&programs)?;
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(programs.join(".lock"))?;
        file.lock()?;
        Ok(Self { _file: file })
    }
}

/// Reads a file once: what it is, its hash, its size.
pub fn inspect(path: &Path) -> io::Result<Inspected> {
    let mut file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut hash = Sha256::new();
    let mut head = Vec::with_capacity(HEAD_BYTES);
    let mut bytes = 0;
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = file.read(&mut buffer)?;
        let piece = buffer.get(..read).unwrap_or_default();
        if piece.is_empty() {
            break;
        }
        let wanted = HEAD_BYTES.saturating_sub(head.len());
        head.extend(piece.iter().take(wanted));
        hash.update(piece);
        bytes += piece.len() as u64;
    }
    Ok(Inspected {
        kind: detect(&head),
        sha256: hex(&hash.finalize()),
        bytes,
    })
}

/// Where uploads are kept while they arrive; made if need be.
pub fn temporary_folder(data: &Path) -> io::Result<PathBuf> {
    let folder = data.join("tmp");
    private_folder(&folder)?;
    Ok(folder)
}

/// Removes uploads that an earlier run did not finish.
pub fn clear_temporary(data: &Path) {
    let Ok(entries) = fs::read_dir(data.join("tmp")) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let removed = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        if let Err(error) = removed {
            tracing::warn!(target: "warmbin", "cannot remove {}: {error}", path.display());
        }
    }
}

/// The folder of a program.
pub fn program_folder(data: &Path, name: &str) -> PathBuf {
    data.join("programs").join(name)
}

/// Makes the empty folder of a version. The caller holds the lock and knows that no such version is stored.
pub fn version_folder(data: &Path, name: &str, number: u32) -> io::Result<PathBuf> {
    let folder = program_folder(data, name).join(number.to_string());
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Puts a file in its place with `mode`, on disk when this returns.
pub fn place(from: &Path, to: &Path, mode: u32, placing: Placing) -> io::Result<()> {
    match placing {
        Placing::Copy => copy(from, to)?,
        Placing::Move => match fs::rename(from, to) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => copy(from, to)?,
            done => done?,
        },
    }
    let file = File::open(to)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.sync_all()
}

/// Makes what was put into a version's folder last: the folder and the two above it.
pub fn sync_folders(version_folder: &Path) -> io::Result<()> {
    for folder in version_folder.ancestors().take(3) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Removes a program's folder. It is moved out of the way first, so that a half-removed folder is never taken
/// for a program's.
pub fn remove_program(data: &Path, name: &str) -> io::Result<()> {
    let trash = tempfile::Builder::new()
        .prefix("removed-")
        .tempdir_in(temporary_folder(data)?)?;
    match fs::rename(program_folder(data, name), trash.path().join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(()) => trash.close(),
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut target = OpenOptions::new().write(true).create_new(true).open(to)?;
    io::copy(&mut File::open(from)?, &mut target)?;
    Ok(())
}

fn private_folder(path: &Path) -> io::Result<()> {
    // SECURITY: what others upload is nobody's on this machine to read but the host's own user's.
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
