//! Removing a program: its versions, then their files. Its requests stay in the record.

use std::path::Path;
use std::sync::Arc;

use warmbin_store::{Store, StoreError};

use super::files;

/// Why a program was not removed.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// There is none of that name.
    #[error("there is no program {0}")]
    NotFound(String),
    /// It would come back at the next start.
    #[error("the configuration file declares {0}: remove its [[program]] entry there and restart")]
    Declared(String),
    /// The folder of programs cannot be locked.
    #[error("cannot lock the folder of programs: {0}")]
    Lock(String),
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
}

/// Removes a program unless the configuration declares it. The caller reloads the catalog. Files that cannot
/// be removed are logged and left: the program is gone all the same.
pub async fn remove(
    name: &str,
    declared: bool,
    data: &Path,
    store: &Arc<dyn Store>,
) -> Result<(), RemoveError> {
    if declared {
        return Err(RemoveError::Declared(name.to_owned()));
    }
    // Until the files are gone too: a program of the same name that is added meanwhile would lose its own.
    let lock = files::StoringLock::wait(data)
        .await
        .map_err(|error| RemoveError::Lock(error.to_string()))?;
    match store.remove_program(name).await {
        Ok(_) => {}
        Err(StoreError::NotFound(_)) => return Err(RemoveError::NotFound(name.to_owned())),
        Err(error) => return Err(RemoveError::Store(error)),
    }
    // SECURITY: only a name that the store knew, and so one that was validated, reaches the file system.
    let (owned, data) = (name.to_owned(), data.to_owned());
    let removed = tokio::task::spawn_blocking(move || {
        let _lock = lock;
        files::remove_program(&data, &owned)
    })
    .await;
    if let Err(error) = removed.map_err(std::io::Error::other).flatten() {
        tracing::warn!(target: "warmbin", { program.name = name }, "cannot remove the files of {name}: {error}");
    }
    Ok(())
}
