//! Opening the file: where it is, who may read it, how connections are set, which schema it has.

use std::fs::{DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqlSafeStr, SqlitePool};

use crate::error::StoreError;

/// The schema's history, oldest first.
const MIGRATIONS: [(i64, &str, &str); 1] = [(
    1,
    "init",
    include_str!("../../../../migrations/sqlite/0001_init.sql"),
)];

/// How long a statement waits for another process's write before it fails.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Connections that read: a dashboard's page asks about this many questions at once.
const READERS: u32 = 4;

/// Opens the writer and the readers.
pub(super) async fn open(url: &str) -> Result<(SqlitePool, SqlitePool), StoreError> {
    let path = path_of(url)?;
    prepare_file(&path)?;

    let shared = SqliteConnectOptions::new()
        .filename(&path)
        .busy_timeout(BUSY_TIMEOUT)
        .synchronous(SqliteSynchronous::Normal)
        .pragma("temp_store", "MEMORY")
        .disable_statement_logging();
    let write = shared
        .clone()
        .journal_mode(SqliteJournalMode::Wal)
        .pragma("journal_size_limit", "67108864");
    let read = shared.pragma("query_only", "ON").row_buffer_size(1024);

    let pool = || {
        SqlitePoolOptions::new()
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            // SQLite ends a transaction by itself when, say, the disk is full. Nothing is left to be rolled back then, and a
            // connection that goes on counting it could begin no other: another takes its place.
            .after_release(|connection, _| Box::pin(async { Ok(!connection.is_in_transaction()) }))
    };
    let writer = connect(pool().max_connections(1), write, &path).await?;
    migrate(&writer).await?;
    let readers = connect(pool().max_connections(READERS), read, &path).await?;
    Ok((writer, readers))
}

/// The path of `sqlite:PATH`, `sqlite://PATH` and `sqlite:///PATH`, taken literally.
fn path_of(url: &str) -> Result<PathBuf, StoreError> {
    let rest = url
        .strip_prefix("sqlite:")
        .map(|rest| rest.strip_prefix("//").unwrap_or(rest));
    match rest {
        Some(path) if !path.is_empty() && !path.starts_with(':') && !path.contains('?') => {
            Ok(PathBuf::from(path))
        }
        // SECURITY: only the scheme of a foreign URL is repeated, the rest may hold a password.
        None => Err(StoreError::UnsupportedUrl(
            url.split_once(':').map_or("…", |(scheme, _)| scheme).to_owned(),
        )),
        Some(_) => Err(StoreError::UnsupportedUrl(url.to_owned())),
    }
}

/// Makes folder and file, for their owner only.
fn prepare_file(path: &Path) -> Result<(), StoreError> {
    let fail = |what: String, error: &std::io::Error| StoreError::Open {
        path: path.display().to_string(),
        cause: format!(
            "{what}: {error}; give the user that runs warmbin the right to write there, or name another path in `store`"
        ),
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // SECURITY: records hold query strings, client addresses and environments. SQLite gives its side files the mode of
    // the main file.
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| fail(format!("cannot make the folder {}", folder.display()), &error))?;
    match OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
    {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => OpenOptions::new()
            .write(true)
            .open(path)
            .map(|_| ())
            .map_err(|error| fail("cannot write to the file".to_owned(), &error)),
        Err(error) => Err(fail("cannot make the file".to_owned(), &error)),
    }
}

/// Connects once, so that what is wrong shows now. Turning WAL on takes a lock that SQLite does not wait for, so two
/// processes that start together on a new file need a second try.
async fn connect(
    pool: SqlitePoolOptions,
    options: SqliteConnectOptions,
    path: &Path,
) -> Result<SqlitePool, StoreError> {
    let mut tries = 1;
    loop {
        match pool.clone().connect_with(options.clone()).await {
            Ok(pool) => return Ok(pool),
            Err(error) if tries < 20 && is_locked(&error) => {
                tries += 1;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err(error) => {
                let path = path.display().to_string();
                return Err(StoreError::Open {
                    path,
                    cause: advice(&error),
                });
            }
        }
    }
}

/// SQLite's BUSY (5) and LOCKED (6), whatever their extended code.
fn is_locked(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.and_then(|code| code.parse::<i32>().ok())
        .is_some_and(|code| matches!(code & 0xff, 5 | 6))
}

fn advice(error: &sqlx::Error) -> String {
    let hint = if is_locked(error) {
        "another program holds it locked; end that program"
    } else if error.to_string().contains("not a database") {
        "move that file away, or name another path in `store`"
    } else {
        "look at its disk and permissions, or name another path in `store`"
    };
    format!("{error}; {hint}")
}

/// Brings the schema up to date, in one transaction that is alone from its first statement: of two processes that
/// start together, the second finds everything done.
async fn migrate(writer: &SqlitePool) -> Result<(), StoreError> {
    let migrations = MIGRATIONS.map(|(version, name, sql)| {
        Migration::new(
            version,
            name.into(),
            MigrationType::Simple,
            sql.into_sql_str(),
            false,
        )
    });
    let migrator = Migrator::with_migrations(migrations.into());
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
    migrator.run(&mut *transaction).await.map_err(|error| {
        StoreError::Migrate(match error {
            MigrateError::VersionMissing(version) => format!(
                "it has migration {version}, which this warmbin does not know; run the newer warmbin that wrote it"
            ),
            MigrateError::VersionMismatch(version) => format!(
                "its migration {version} is not this warmbin's; run the warmbin that wrote it, or name another path in `store`"
            ),
            other => other.to_string(),
        })
    })?;
    transaction.commit().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_path() {
        for (url, path) in [
            ("sqlite:data/warmbin.db", Some("data/warmbin.db")),
            ("sqlite://data.db", Some("data.db")),
            ("sqlite:///var/lib/warmbin.db", Some("/var/lib/warmbin.db")),
            ("sqlite:/var/lib/warmbin.db", Some("/var/lib/warmbin.db")),
            ("sqlite:", None),
            ("sqlite::memory:", None),
            ("sqlite:a.db?mode=ro", None),
            ("a.db", None),
        ] {
            assert_eq!(path_of(url).ok(), path.map(PathBuf::from), "{url}");
        }
    }

    #[test]
    fn a_foreign_url_is_not_repeated_with_its_password() {
        let error = path_of("postgres://me:secret@db/warmbin")
            .unwrap_err()
            .to_string();
        assert!(error.contains("postgres") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn every_migration_file_is_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/sqlite");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let listed = MIGRATIONS.map(|(version, name, _)| format!("{version:04}_{name}.sql"));
        assert_eq!(files, listed);
    }
}
