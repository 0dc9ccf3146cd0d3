//! What is particular to SQLite: the file.

use std::os::unix::fs::PermissionsExt;

use super::{batch, database, fresh, record, url};
use crate::error::StoreError;
use crate::sqlite::SqliteStore;
use crate::store::Store;

#[tokio::test]
async fn opens_again_with_everything_in_it() {
    let (store, folder) = fresh().await;
    store.insert_requests(&batch(0..200, |_, _| {})).await.unwrap();
    store.close().await;
    assert!(store.ping().await.is_err());

    let again = SqliteStore::open(&url(folder.path())).await.unwrap();
    again.ping().await.unwrap();
    assert!(again.request(&record(199).id).await.unwrap().is_some());
}

#[tokio::test]
async fn several_open_a_new_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let url = url(folder.path());
    let stores = futures_util::future::join_all((0..4).map(|_| SqliteStore::open(&url))).await;
    for (number, store) in stores.into_iter().enumerate() {
        let number = number as u64;
        store
            .unwrap()
            .insert_requests(&batch(number..number + 1, |_, _| {}))
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_full_disk_is_an_error_only_for_as_long_as_it_is_full() {
    let (store, _folder) = fresh().await;
    store.insert_requests(&batch(0..1, |_, _| {})).await.unwrap();
    store.fill_up().await;
    // The next one has a connection of its own again, without the limit.
    let error = store
        .insert_requests(&batch(1..400, |_, _| {}))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("full"), "{error}");
    store.insert_requests(&batch(1..400, |_, _| {})).await.unwrap();
    assert!(store.request(&record(399).id).await.unwrap().is_some());
}

#[tokio::test]
async fn only_the_owner_may_read_it() {
    let (store, folder) = fresh().await;
    store.insert_requests(&batch(0..1, |_, _| {})).await.unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = database(folder.path());
    assert_eq!(mode(file.parent().unwrap()), 0o700);
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(&file.with_extension("db-wal")), 0o600);
}

#[tokio::test]
async fn what_is_wrong_with_the_file_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = folder.path().join("foreign.db");
    std::fs::write(&foreign, "a text, and a long one: ".repeat(500)).unwrap();
    let below = foreign.join("warmbin.db");
    for (path, words) in [
        (&foreign, ["not a database", "move that file away"]),
        (&below, ["folder", "store"]),
    ] {
        let error = SqliteStore::open(&format!("sqlite:{}", path.display()))
            .await
            .unwrap_err();
        assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(path.to_str().unwrap()), "{text}");
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_advice() {
    let (store, folder) = fresh().await;
    store.close().await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(database(folder.path()));
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    sqlx::query("INSERT INTO _sqlx_migrations VALUES (999, 'later', 0, TRUE, x'00', 0)")
        .execute(&pool)
        .await
        .unwrap();
    pool.close().await;
    let error = SqliteStore::open(&url(folder.path()))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("migration 999") && error.contains("newer warmbin"),
        "{error}"
    );
}
