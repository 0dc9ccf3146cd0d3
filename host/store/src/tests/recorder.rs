//! The recorder on a real store, which is made to fail or to hang through a second connection.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};
use tokio::sync::broadcast::error::RecvError;

use super::{batch, database, detail, fresh, record};
use crate::recorder::{Limits, Recorder};
use crate::sqlite::SqliteStore;
use crate::stats::GroupKey;
use crate::store::Store;
use crate::{Filter, RecorderStats};

/// Small enough for tests to cross every mark.
const SMALL: Limits = Limits {
    records: 400,
    spill_records: 100,
    bytes: 1 << 30,
    spill_bytes: 1 << 30,
};

async fn side(folder: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(database(folder))
        .connect()
        .await
        .unwrap()
}

async fn run(connection: &mut SqliteConnection, sql: &'static str) {
    sqlx::query(sql).execute(connection).await.unwrap();
}

/// Ids in the order in which they were written.
async fn written(folder: &Path) -> Vec<String> {
    let mut side = side(folder).await;
    sqlx::query_scalar("SELECT id FROM requests ORDER BY rowid")
        .fetch_all(&mut side)
        .await
        .unwrap()
}

fn expected(numbers: std::ops::Range<u64>) -> Vec<String> {
    numbers.map(|number| record(number).id).collect()
}

fn spill_files(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("spill")).map_or(0, Iterator::count)
}

/// Waits for what the recorder's tasks do by themselves.
async fn until(recorder: &Recorder, condition: impl Fn(RecorderStats) -> bool) {
    let reached = async {
        while !condition(recorder.stats()) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reached)
        .await
        .unwrap_or_else(|_| panic!("not reached: {:?}", recorder.stats()));
}

fn start(store: SqliteStore, folder: &Path, limits: Limits) -> (Recorder, Arc<SqliteStore>) {
    let store = Arc::new(store);
    (
        Recorder::start_with(Arc::clone(&store) as _, folder.join("spill"), limits),
        store,
    )
}

#[tokio::test]
async fn ten_thousand_records_all_arrive() {
    let (store, folder) = fresh().await;
    let (recorder, store) = start(store, folder.path(), Limits::DEFAULT);
    for (record, detail) in batch(0..10_000, |_, _| {}) {
        recorder.record(record, detail);
    }
    recorder.flush().await;
    let summary = store
        .summary(&Filter::default(), &[GroupKey::Mode])
        .await
        .unwrap();
    assert_eq!(summary[0].count, 10_000);
    assert_eq!(
        recorder.stats(),
        RecorderStats {
            written: 10_000,
            ..RecorderStats::default()
        }
    );
    assert_eq!(written(folder.path()).await, expected(0..10_000));
}

#[tokio::test]
async fn a_lone_record_is_written_without_being_asked_for() {
    let (store, folder) = fresh().await;
    let (recorder, store) = start(store, folder.path(), Limits::DEFAULT);
    recorder.record(record(1), detail(1));
    until(&recorder, |stats| stats.written == 1).await;
    assert_eq!(
        store.request(&record(1).id).await.unwrap(),
        Some((record(1), detail(1)))
    );
}

#[tokio::test]
async fn a_store_that_fails_for_a_while_loses_none() {
    let (store, folder) = fresh().await;
    let mut side = side(folder.path()).await;
    run(&mut side, "ALTER TABLE requests RENAME TO hidden").await;
    let (recorder, store) = start(store, folder.path(), SMALL);
    // The first batch is stuck in the writer; the rest crosses the mark again and again.
    let mut crossings = 0;
    for (record, detail) in batch(0..2000, |_, _| {}) {
        recorder.record(record, detail);
        crossings += 1;
        if crossings % 100 == 0 {
            until(&recorder, |stats| stats.backlog - stats.spilled < 300).await;
        }
    }
    until(&recorder, |stats| stats.spilled > 0).await;
    assert_eq!((recorder.stats().backlog, spill_files(folder.path())), (2000, 1));

    run(&mut side, "ALTER TABLE hidden RENAME TO requests").await;
    recorder.flush().await;
    assert_eq!(
        recorder.stats(),
        RecorderStats {
            written: 2000,
            ..RecorderStats::default()
        }
    );
    assert_eq!(written(folder.path()).await, expected(0..2000), "in order");
    assert_eq!(spill_files(folder.path()), 0);
    assert_eq!(
        store.request(&record(1500).id).await.unwrap(),
        Some((record(1500), detail(1500)))
    );
}

#[tokio::test]
async fn what_a_closing_host_could_not_write_is_written_by_the_next() {
    let (store, folder) = fresh().await;
    let mut side = side(folder.path()).await;
    // Held by someone else: the store hangs instead of failing.
    run(&mut side, "BEGIN IMMEDIATE").await;
    let (recorder, _store) = start(store, folder.path(), Limits::DEFAULT);
    for (record, detail) in batch(0..1000, |_, _| {}) {
        recorder.record(record, detail);
    }
    recorder.close(Duration::from_millis(50)).await;
    recorder.record(record(5000), detail(5000));
    assert_eq!(recorder.stats().lost, 1, "after the end");
    drop(recorder);
    // As if a crash had cut a line short, and another had been damaged.
    let file = std::fs::read_dir(folder.path().join("spill"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let whole = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{whole}9 [1,2,3]\n400 [{{\"id")).unwrap();

    run(&mut side, "ROLLBACK").await;
    let again = SqliteStore::open(&super::url(folder.path())).await.unwrap();
    let (recorder, _store) = start(again, folder.path(), Limits::DEFAULT);
    recorder.record(record(1000), detail(1000));
    recorder.flush().await;
    assert_eq!(
        written(folder.path()).await,
        expected(0..1001),
        "the older ones first"
    );
    assert_eq!(
        recorder.stats(),
        RecorderStats {
            written: 1001,
            lost: 1,
            ..RecorderStats::default()
        }
    );
    assert_eq!(spill_files(folder.path()), 0);
}

#[tokio::test]
async fn the_file_of_a_living_recorder_is_not_taken() {
    let (store, folder) = fresh().await;
    let mut side = side(folder.path()).await;
    run(&mut side, "ALTER TABLE requests RENAME TO hidden").await;
    let (first, store) = start(store, folder.path(), SMALL);
    for (record, detail) in batch(0..100, |_, _| {}) {
        first.record(record, detail);
    }
    until(&first, |stats| stats.spilled > 0).await;
    let second = Recorder::start_with(store, folder.path().join("spill"), SMALL);
    assert_eq!(second.stats(), RecorderStats::default());
}

#[tokio::test]
async fn without_room_and_without_a_file_records_are_lost_and_counted() {
    let (store, folder) = fresh().await;
    let mut side = side(folder.path()).await;
    run(&mut side, "ALTER TABLE requests RENAME TO hidden").await;
    // A file where the folder should be.
    std::fs::write(folder.path().join("spill"), "").unwrap();
    let (recorder, _store) = start(store, folder.path(), SMALL);
    for (record, detail) in batch(0..3000, |_, _| {}) {
        recorder.record(record, detail);
    }
    let stats = recorder.stats();
    assert!(stats.lost > 0 && stats.backlog + stats.lost == 3000, "{stats:?}");
    run(&mut side, "ALTER TABLE hidden RENAME TO requests").await;
    recorder.flush().await;
    let after = recorder.stats();
    assert_eq!((after.lost, after.written), (stats.lost, 3000 - stats.lost));
    assert_eq!(written(folder.path()).await.len() as u64, after.written);
}

#[tokio::test]
async fn listeners_hear_of_records_and_of_what_they_missed() {
    let (store, folder) = fresh().await;
    let (recorder, _store) = start(store, folder.path(), Limits::DEFAULT);
    recorder.record(record(1), detail(1));
    let mut listener = recorder.subscribe();
    recorder.record(record(2), detail(2));
    assert_eq!(*listener.recv().await.unwrap().record, record(2));
    for number in 0..1100 {
        recorder.record(record(number), detail(number));
    }
    assert!(matches!(listener.recv().await, Err(RecvError::Lagged(76))));
}
