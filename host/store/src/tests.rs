//! Tests that need a store. What any store must do is in [`contract`], written against the trait, and run here on each
//! store there is, every test on a fresh one.

mod contract;
mod recorder;
mod sqlite;

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use crate::record::{Record, RecordDetail, ResponseField};
use crate::sqlite::SqliteStore;

/// A new SQLite store, in a folder that does not exist yet.
async fn fresh() -> (SqliteStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&url(folder.path())).await.unwrap();
    (store, folder)
}

fn url(folder: &Path) -> String {
    format!("sqlite:{}", database(folder).display())
}

fn database(folder: &Path) -> std::path::PathBuf {
    folder.join("data/warmbin.db")
}

/// A record whose fields all differ, and differ from those of another number.
fn record(number: u64) -> Record {
    Record {
        id: format!("{number:08}"),
        started_at: 1_700_000_000_000_000 + i64::try_from(number).unwrap() * 1000,
        host: "here".to_owned(),
        program: "printenv".to_owned(),
        version: Some(2),
        mode: "fork".to_owned(),
        method: "GET".to_owned(),
        path: format!("/cgi-bin/printenv/{number}"),
        query: "a='b'&c=ü".to_owned(),
        status: 200,
        outcome: "ok".to_owned(),
        queue_us: number + 1,
        start_us: number + 2,
        head_us: number + 3,
        body_us: number + 4,
        exit_us: number + 5,
        total_us: number + 6,
        cpu_us: Some(number + 7),
        peak_memory_bytes: Some(number + 8),
        request_bytes: number + 9,
        response_bytes: number + 10,
        exit_code: Some(0),
        signal: None,
        error: None,
        remote_addr: "127.0.0.1".to_owned(),
        concurrency: 3,
        experiment: None,
    }
}

fn detail(number: u64) -> RecordDetail {
    let field = |name: &str, value: String| ResponseField {
        name: name.to_owned(),
        value,
    };
    RecordDetail {
        stderr: format!("line \"{number}\"\n\u{0}"),
        stderr_truncated: number % 2 == 1,
        response_head: vec![
            field("Set-Cookie", "a".to_owned()),
            field("Set-Cookie", "b".to_owned()),
        ],
        environment: vec![field("SERVER_NAME", number.to_string())],
    }
}

/// Records with details, changed by `change`.
fn batch(
    numbers: std::ops::Range<u64>,
    change: impl Fn(u64, &mut Record),
) -> Vec<(Arc<Record>, RecordDetail)> {
    numbers
        .map(|number| {
            let mut record = record(number);
            change(number, &mut record);
            (Arc::new(record), detail(number))
        })
        .collect()
}
