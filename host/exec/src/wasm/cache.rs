//! Compiled forms of modules on disk, keyed by content and engine.
//!
//! An entry is written once, under a temporary name, and never changed: it is mapped into memory while programs run. A missing,
//! stale or damaged entry is no error, it is a reason to compile. Must not interpret what it keeps.

use std::fs::{self, DirBuilder, File, Permissions};
use std::hash::{Hash, Hasher};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;

/// A folder of compiled modules that only this user can enter.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    fingerprint: [u8; 32],
}

impl Cache {
    /// Opens or makes the folder. Entries of other engine versions or settings are never found: their keys differ.
    pub(super) fn open(folder: &Path, engine: &Engine) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // SECURITY: entries are run as machine code. A folder that was there already may have been open to others.
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
        let mut hasher = DigestHasher(Sha256::new());
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Ok(Self {
            folder: folder.to_owned(),
            fingerprint: hasher.0.finalize().into(),
        })
    }

    /// The key of a module.
    pub(super) fn key(&self, wasm: &[u8]) -> String {
        hex(&Sha256::new()
            .chain_update(self.fingerprint)
            .chain_update(wasm)
            .finalize())
    }

    /// The entry `key`, if there is one and it is what was written.
    pub(super) fn find(&self, key: &str) -> Option<File> {
        let mut file = File::open(self.compiled(key)).ok()?;
        let expected = fs::read_to_string(self.checksum(key)).ok()?;
        let found = digest(&mut file).ok()?;
        if found != expected.trim() {
            tracing::warn!(
                cache.key = key,
                "a cached module is damaged and is compiled again"
            );
            return None;
        }
        file.rewind().ok()?;
        Some(file)
    }

    /// Keeps `compiled` under `key` and opens it.
    pub(super) fn insert(&self, key: &str, compiled: &[u8]) -> io::Result<File> {
        self.write(&self.compiled(key), compiled)?;
        self.write(&self.checksum(key), hex(&Sha256::digest(compiled)).as_bytes())?;
        File::open(&self.folder)?.sync_all()?;
        self.find(key)
            .ok_or_else(|| io::Error::other("the entry just written cannot be read back"))
    }

    /// A new file takes the name in one step; a program that has the old one mapped keeps it.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(".new-")
            .tempfile_in(&self.folder)?;
        file.write_all(bytes)?;
        file.as_file().set_permissions(Permissions::from_mode(0o400))?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    }

    fn compiled(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.cwasm"))
    }

    fn checksum(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.sha256"))
    }
}

fn digest(file: &mut File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = file.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
            return Ok(hex(&hasher.finalize()));
        };
        hasher.update(bytes);
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            // Writing to a string cannot fail.
            let _: Result<(), std::fmt::Error> = write!(text, "{byte:02x}");
            text
        })
}

/// Collects what is hashed in a digest that is the same in every process and long enough to be a key.
struct DigestHasher(Sha256);

impl Hasher for DigestHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        // The whole digest is taken instead.
        0
    }
}
