//! The one error of this crate.

/// A store operation failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database URL names no store this build has.
    #[error("the store {0:?} is not supported: use sqlite:PATH")]
    UnsupportedUrl(String),
    /// The database could not be opened.
    #[error("cannot open the store at {path}: {cause}")]
    Open {
        /// Where.
        path: String,
        /// Why not, and what to do.
        cause: String,
    },
    /// The schema could not be brought up to date.
    #[error("cannot migrate the store: {0}")]
    Migrate(String),
    /// A statement failed.
    #[error("the store failed: {0}")]
    Database(#[from] sqlx::Error),
    /// A named thing does not exist.
    #[error("{0} does not exist")]
    NotFound(String),
    /// A cursor that this host did not issue.
    #[error("the cursor is not one this host issued")]
    BadCursor,
}
