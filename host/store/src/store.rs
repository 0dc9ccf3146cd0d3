//! The store in words of the domain.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::StoreError;
use crate::filter::{Filter, Page, Slice};
use crate::program::{NewVersion, Program};
use crate::record::{Record, RecordDetail};
use crate::session::Session;
use crate::stats::{GroupKey, Histogram, Phase, SummaryRow};

/// What warmbin remembers.
#[async_trait]
pub trait Store: Send + Sync + Debug {
    /// Lets go of the database, whole: calls after this fail.
    async fn close(&self) {}

    /// Writes a batch of finished requests in one transaction. A record whose id is already there is left alone.
    async fn insert_requests(&self, batch: &[(Arc<Record>, RecordDetail)]) -> Result<(), StoreError>;

    /// A page of requests.
    async fn requests(&self, filter: &Filter, page: &Page) -> Result<Slice<Record>, StoreError>;

    /// One request with its details.
    async fn request(&self, id: &str) -> Result<Option<(Record, RecordDetail)>, StoreError>;

    /// The ids of the requests that started just before and just after this one.
    async fn neighbours(&self, record: &Record) -> Result<(Option<String>, Option<String>), StoreError>;

    /// Figures per group, in descending order of count.
    async fn summary(&self, filter: &Filter, group_by: &[GroupKey]) -> Result<Vec<SummaryRow>, StoreError>;

    /// Distributions of a phase, one per value of `group_by`, or a single one.
    async fn histogram(
        &self,
        filter: &Filter,
        phase: Phase,
        group_by: Option<GroupKey>,
    ) -> Result<Vec<Histogram>, StoreError>;

    /// Every program, by name.
    async fn programs(&self) -> Result<Vec<Program>, StoreError>;

    /// One program.
    async fn program(&self, name: &str) -> Result<Option<Program>, StoreError>;

    /// Adds a version and returns its number.
    async fn add_version(&self, version: &NewVersion) -> Result<u32, StoreError>;

    /// Makes a version the active one.
    async fn activate(&self, program: &str, number: u32) -> Result<(), StoreError>;

    /// Removes a program and its versions; its requests stay. The files are the caller's to remove.
    async fn remove_program(&self, name: &str) -> Result<Program, StoreError>;

    /// A number that grows with every change to programs, by whatever process.
    async fn programs_generation(&self) -> Result<i64, StoreError>;

    /// Keeps a session.
    async fn add_session(&self, session: &Session) -> Result<(), StoreError>;

    /// A session that has not expired at `now_us`; marks it used.
    async fn session(&self, id_hash: &str, now_us: i64) -> Result<Option<Session>, StoreError>;

    /// Ends a session.
    async fn remove_session(&self, id_hash: &str) -> Result<(), StoreError>;

    /// Whether it answers.
    async fn ping(&self) -> Result<(), StoreError>;
}
