//! Versions of programs: adding and activating.

use sqlx::SqlitePool;

use super::programs::bump;
use super::where_clause::integer;
use crate::error::StoreError;
use crate::program::NewVersion;
use crate::timestamp;

/// Adds a version, and its program if that is new, under the next number.
pub(super) async fn add(writer: &SqlitePool, version: &NewVersion) -> Result<u32, StoreError> {
    let now = timestamp::now_us();
    // Immediate: two processes that both read the highest number first would give it twice.
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query("INSERT OR IGNORE INTO programs (name, created_at) VALUES (?, ?)")
        .bind(&version.program)
        .bind(now)
        .execute(&mut *transaction)
        .await?;
    let (native, wasm) = (version.native.as_ref(), version.wasm.as_ref());
    let number: u32 = sqlx::query_scalar(
        "INSERT INTO versions (program, number, source, native_path, native_sha256, native_bytes, native_kind, \
         wasm_path, wasm_sha256, wasm_bytes, wasm_kind, settings, created_by, created_at) \
         VALUES (?1, (SELECT COALESCE(MAX(number), 0) + 1 FROM versions WHERE program = ?1), \
         ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) RETURNING number",
    )
    .bind(&version.program)
    .bind(version.source.as_str())
    .bind(native.map(|artifact| &artifact.path))
    .bind(native.map(|artifact| &artifact.sha256))
    .bind(native.map(|artifact| integer(artifact.bytes)))
    .bind(native.map(|artifact| &artifact.kind))
    .bind(wasm.map(|artifact| &artifact.path))
    .bind(wasm.map(|artifact| &artifact.sha256))
    .bind(wasm.map(|artifact| integer(artifact.bytes)))
    .bind(wasm.map(|artifact| &artifact.kind))
    .bind(&version.settings)
    .bind(&version.created_by)
    .bind(now)
    .fetch_one(&mut *transaction)
    .await?;
    if version.activate {
        sqlx::query("UPDATE programs SET active = ? WHERE name = ?")
            .bind(number)
            .bind(&version.program)
            .execute(&mut *transaction)
            .await?;
    }
    bump(&mut transaction).await?;
    transaction.commit().await?;
    Ok(number)
}

/// Makes an existing version the active one.
pub(super) async fn activate(writer: &SqlitePool, program: &str, number: u32) -> Result<(), StoreError> {
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
    let changed = sqlx::query(
        "UPDATE programs SET active = ?2 \
         WHERE name = ?1 AND EXISTS (SELECT 1 FROM versions WHERE program = ?1 AND number = ?2)",
    )
    .bind(program)
    .bind(number)
    .execute(&mut *transaction)
    .await?;
    if changed.rows_affected() == 0 {
        return Err(StoreError::NotFound(format!(
            "version {number} of the program {program:?}"
        )));
    }
    bump(&mut transaction).await?;
    transaction.commit().await?;
    Ok(())
}
