//! What warmbin remembers: request records, programs and their versions, sessions.
//!
//! Owns: the schema, every SQL statement, the batched writer. Must not know: HTTP, execution, pages. Callers see
//! the [`Store`] trait, which speaks in words of the domain; SQLite implements it.
#![forbid(unsafe_code)]

mod cursor;
pub mod error;
pub mod filter;
pub mod percentile;
pub mod program;
pub mod record;
pub mod recorder;
pub mod session;
pub mod sqlite;
pub mod stats;
pub mod store;
pub mod timestamp;
pub mod words;

pub use error::StoreError;
pub use filter::{Filter, FilterError, Order, Page, Slice, StatusFilter};
pub use program::{Artifact, NewVersion, Program, Source, Version};
pub use record::{MASKED, Record, RecordDetail, ResponseField};
pub use recorder::{LiveEvent, Recorder, RecorderStats};
pub use session::Session;
pub use sqlite::SqliteStore;
pub use stats::{Bucket, GroupKey, Histogram, Percentiles, Phase, SummaryRow};
pub use store::Store;

#[cfg(test)]
mod tests;
