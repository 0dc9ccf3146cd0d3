//! Programs: reading, removing, and the number that tells of changes.

use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, SqliteConnection, SqliteExecutor, SqlitePool};

use crate::error::StoreError;
use crate::program::{Artifact, Program, Source, Version};

/// Every program, by name.
pub(super) async fn all(readers: &SqlitePool) -> Result<Vec<Program>, StoreError> {
    select(readers, None).await
}

/// One program.
pub(super) async fn one(readers: &SqlitePool, name: &str) -> Result<Option<Program>, StoreError> {
    Ok(select(readers, Some(name)).await?.pop())
}

/// Removes a program with its versions and says what they were.
pub(super) async fn remove(writer: &SqlitePool, name: &str) -> Result<Program, StoreError> {
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
    let Some(program) = select(&mut *transaction, Some(name)).await?.pop() else {
        return Err(StoreError::NotFound(format!("the program {name:?}")));
    };
    sqlx::query("DELETE FROM programs WHERE name = ?")
        .bind(name)
        .execute(&mut *transaction)
        .await?;
    bump(&mut transaction).await?;
    transaction.commit().await?;
    Ok(program)
}

/// The number that grows with every change.
pub(super) async fn generation(readers: &SqlitePool) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar("SELECT generation FROM programs_generation")
        .fetch_one(readers)
        .await?)
}

/// Says that programs have changed. Part of the transaction that changes them: whoever sees the number sees the change.
pub(super) async fn bump(transaction: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE programs_generation SET generation = generation + 1")
        .execute(transaction)
        .await?;
    Ok(())
}

/// Programs with their versions, in one statement and so of one moment.
async fn select<'c>(
    executor: impl SqliteExecutor<'c>,
    name: Option<&str>,
) -> Result<Vec<Program>, StoreError> {
    let mut sql = QueryBuilder::new(
        "SELECT name, active, programs.created_at AS program_created_at, versions.* \
         FROM programs JOIN versions ON versions.program = programs.name",
    );
    if let Some(name) = name {
        sql.push(" WHERE name = ").push_bind(name.to_owned());
    }
    sql.push(" ORDER BY name, number DESC");

    let mut programs: Vec<Program> = Vec::new();
    for row in sql.build().fetch_all(executor).await? {
        let name: String = row.try_get("name")?;
        let version = version_of(&row)?;
        match programs.last_mut() {
            Some(program) if program.name == name => program.versions.push(version),
            _ => programs.push(Program {
                name,
                active: row.try_get("active")?,
                versions: vec![version],
                created_at: row.try_get("program_created_at")?,
            }),
        }
    }
    Ok(programs)
}

fn version_of(row: &SqliteRow) -> Result<Version, sqlx::Error> {
    Ok(Version {
        number: row.try_get("number")?,
        source: source_of(row.try_get("source")?)?,
        native: artifact_of(
            row,
            ["native_path", "native_sha256", "native_bytes", "native_kind"],
        )?,
        wasm: artifact_of(row, ["wasm_path", "wasm_sha256", "wasm_bytes", "wasm_kind"])?,
        settings: row.try_get("settings")?,
        created_by: row.try_get("created_by")?,
        created_at: row.try_get("created_at")?,
    })
}

fn artifact_of(
    row: &SqliteRow,
    [path, sha256, bytes, kind]: [&str; 4],
) -> Result<Option<Artifact>, sqlx::Error> {
    let Some(path) = row.try_get::<Option<String>, _>(path)? else {
        return Ok(None);
    };
    Ok(Some(Artifact {
        path,
        sha256: row.try_get(sha256)?,
        bytes: row.try_get(bytes)?,
        kind: row.try_get(kind)?,
    }))
}

fn source_of(word: &str) -> Result<Source, sqlx::Error> {
    [Source::Config, Source::Upload, Source::Cli]
        .into_iter()
        .find(|source| source.as_str() == word)
        .ok_or_else(|| sqlx::Error::Decode(format!("{word:?} is no source of a version").into()))
}
