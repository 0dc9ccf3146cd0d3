//! Sessions. They end at a fixed time, and earlier if nobody uses them.

use sqlx::{Row, SqlitePool};

use crate::error::StoreError;
use crate::session::Session;

/// A session that was not used for so long is over: 12 hours.
const IDLE_US: i64 = 12 * 3_600 * 1_000_000;

/// The time of use is written this often at most, so that browsing does not mean writing: a minute.
const TOUCH_US: i64 = 60 * 1_000_000;

/// Keeps a session, and clears away those that are over.
pub(super) async fn add(writer: &SqlitePool, session: &Session) -> Result<(), StoreError> {
    let now = session.created_at;
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query("DELETE FROM sessions WHERE expires_at <= ? OR used_at <= ?")
        .bind(now)
        .bind(now.saturating_sub(IDLE_US))
        .execute(&mut *transaction)
        .await?;
    sqlx::query(
        "INSERT INTO sessions (id_hash, name, role, created_at, used_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
    )
    .bind(&session.id_hash)
    .bind(&session.name)
    .bind(&session.role)
    .bind(session.created_at)
    .bind(session.used_at)
    .bind(session.expires_at)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(())
}

/// A session that is not over at `now_us`.
pub(super) async fn find(
    readers: &SqlitePool,
    writer: &SqlitePool,
    id_hash: &str,
    now_us: i64,
) -> Result<Option<Session>, StoreError> {
    // SECURITY: the conditions on time are what ends a session; rows outlive it until the next login.
    let row = sqlx::query(
        "SELECT id_hash, name, role, created_at, used_at, expires_at FROM sessions \
         WHERE id_hash = ? AND expires_at > ? AND used_at > ?",
    )
    .bind(id_hash)
    .bind(now_us)
    .bind(now_us.saturating_sub(IDLE_US))
    .fetch_optional(readers)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let session = Session {
        id_hash: row.try_get(0)?,
        name: row.try_get(1)?,
        role: row.try_get(2)?,
        created_at: row.try_get(3)?,
        used_at: row.try_get(4)?,
        expires_at: row.try_get(5)?,
    };
    if now_us.saturating_sub(session.used_at) >= TOUCH_US {
        touch(writer, id_hash, now_us).await;
    }
    Ok(Some(session))
}

/// Writes the time of use. A failure costs at most an early end of the session, so it does not turn anyone away.
async fn touch(writer: &SqlitePool, id_hash: &str, now_us: i64) {
    let touched = sqlx::query("UPDATE sessions SET used_at = ?1 WHERE id_hash = ?2 AND used_at < ?1")
        .bind(now_us)
        .bind(id_hash)
        .execute(writer)
        .await;
    if let Err(error) = touched {
        tracing::warn!(target: "store", %error, "a session's time of use could not be written");
    }
}

/// Ends a session.
pub(super) async fn remove(writer: &SqlitePool, id_hash: &str) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM sessions WHERE id_hash = ?")
        .bind(id_hash)
        .execute(writer)
        .await?;
    Ok(())
}
