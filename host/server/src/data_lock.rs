//! One serving host to a data folder: two would take each other's spilled records and overwrite where they listen.
//! Other commands may work on the folder meanwhile.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use anyhow::{Context, bail};

use crate::host::make_data_folder;
use crate::listen::bind;

/// Held for as long as the host serves from the folder; the system lets go of it however the process ends.
#[derive(Debug)]
pub struct DataLock {
    _file: File,
}

impl DataLock {
    /// Takes the lock of `data`, which is made if need be.
    pub fn take(data: &Path) -> anyhow::Result<Self> {
        make_data_folder(data).with_context(|| format!("cannot make the data folder {}", data.display()))?;
        let path = data.join("serve.lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .with_context(|| format!("cannot open {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => {
                let other = bind::read_file(data).map_or_else(String::new, |other| {
                    format!(" (process {}, listening on {})", other.pid, other.listen)
                });
                bail!(
                    "another host{other} serves from {}: stop it, or give this one a folder of its own with --data",
                    data.display()
                )
            }
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", path.display()))
            }
        }
    }
}
