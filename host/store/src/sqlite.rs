//! The store on SQLite: WAL, one writer connection, a small pool of readers.

use crate::error::StoreError;

/// A store in one SQLite file.
#[derive(Debug)]
pub struct SqliteStore {}

impl SqliteStore {
    /// Opens `url` (`sqlite:PATH`), making file and folder as needed, and brings the schema up to date.
    pub async fn open(_url: &str) -> Result<Self, StoreError> {
        todo!()
    }
}
