//! The store on SQLite: WAL, one writer connection, a small pool of readers.
//!
//! Owns the connections. What is asked of them is in the modules below, one for each part of the [`Store`] trait.

mod blocks;
mod histogram;
mod insert;
mod open;
mod programs;
mod requests;
mod sessions;
mod summary;
mod versions;
mod where_clause;

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::SqlitePool;

use crate::error::StoreError;
use crate::filter::{Filter, Page, Slice};
use crate::program::{NewVersion, Program};
use crate::record::{Record, RecordDetail};
use crate::session::Session;
use crate::stats::{GroupKey, Histogram, Phase, SummaryRow};
use crate::store::Store;

/// A store in one SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    /// One connection: SQLite has one writer at a time, and a queue in this process is fairer than its busy loop.
    writer: SqlitePool,
    /// A few connections that cannot write. In WAL mode they never wait for the writer.
    readers: SqlitePool,
}

impl SqliteStore {
    /// Opens `url` (`sqlite:PATH`), making file and folder as needed, and brings the schema up to date.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let (writer, readers) = open::open(url).await?;
        Ok(Self { writer, readers })
    }

    /// Lets the file grow no further, as a full disk would, for as long as the writing connection lasts.
    #[cfg(test)]
    pub(crate) async fn fill_up(&self) {
        let sql = "PRAGMA max_page_count = 1";
        sqlx::query(sql).execute(&self.writer).await.unwrap();
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn close(&self) {
        // The last connection to close folds the log into the one file, and only the writer may write.
        self.readers.close().await;
        self.writer.close().await;
    }

    async fn insert_requests(&self, batch: &[(Arc<Record>, RecordDetail)]) -> Result<(), StoreError> {
        insert::insert(&self.writer, batch).await
    }

    async fn requests(&self, filter: &Filter, page: &Page) -> Result<Slice<Record>, StoreError> {
        requests::page(&self.readers, filter, page).await
    }

    async fn request(&self, id: &str) -> Result<Option<(Record, RecordDetail)>, StoreError> {
        requests::one(&self.readers, id).await
    }

    async fn neighbours(&self, record: &Record) -> Result<(Option<String>, Option<String>), StoreError> {
        requests::neighbours(&self.readers, record).await
    }

    async fn summary(&self, filter: &Filter, group_by: &[GroupKey]) -> Result<Vec<SummaryRow>, StoreError> {
        summary::summary(&self.readers, filter, group_by).await
    }

    async fn histogram(
        &self,
        filter: &Filter,
        phase: Phase,
        group_by: Option<GroupKey>,
    ) -> Result<Vec<Histogram>, StoreError> {
        histogram::histogram(&self.readers, filter, phase, group_by).await
    }

    async fn programs(&self) -> Result<Vec<Program>, StoreError> {
        programs::all(&self.readers).await
    }

    async fn program(&self, name: &str) -> Result<Option<Program>, StoreError> {
        programs::one(&self.readers, name).await
    }

    async fn add_version(&self, version: &NewVersion) -> Result<u32, StoreError> {
        versions::add(&self.writer, version).await
    }

    async fn activate(&self, program: &str, number: u32) -> Result<(), StoreError> {
        versions::activate(&self.writer, program, number).await
    }

    async fn remove_program(&self, name: &str) -> Result<Program, StoreError> {
        programs::remove(&self.writer, name).await
    }

    async fn programs_generation(&self) -> Result<i64, StoreError> {
        programs::generation(&self.readers).await
    }

    async fn add_session(&self, session: &Session) -> Result<(), StoreError> {
        sessions::add(&self.writer, session).await
    }

    async fn session(&self, id_hash: &str, now_us: i64) -> Result<Option<Session>, StoreError> {
        sessions::find(&self.readers, &self.writer, id_hash, now_us).await
    }

    async fn remove_session(&self, id_hash: &str) -> Result<(), StoreError> {
        sessions::remove(&self.writer, id_hash).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        // A constant would be answered without looking at the file.
        programs::generation(&self.readers).await.map(|_| ())
    }
}
