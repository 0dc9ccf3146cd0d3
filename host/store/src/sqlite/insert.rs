//! Writing finished requests.

use std::sync::Arc;

use sqlx::query_builder::Separated;
use sqlx::{QueryBuilder, Sqlite, SqlitePool};

use super::where_clause::integer;
use crate::error::StoreError;
use crate::record::{Record, RecordDetail, ResponseField};

/// Rows to a statement. A statement's text depends on it alone, so full ones are prepared once; 27 columns of 64 rows
/// stay far below SQLite's 32,766 parameters.
const ROWS: usize = 64;

/// Columns of a request, in the order in which rows are written and read.
pub(super) const COLUMNS: &str = "id, started_at, host, program, version, mode, method, path, query, status, outcome, \
     queue_us, start_us, head_us, body_us, exit_us, total_us, cpu_us, peak_memory_bytes, request_bytes, \
     response_bytes, exit_code, signal, error, remote_addr, concurrency, experiment";

/// Writes a batch in one transaction.
pub(super) async fn insert(
    writer: &SqlitePool,
    batch: &[(Arc<Record>, RecordDetail)],
) -> Result<(), StoreError> {
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
    // Nobody else writes until the commit, so the numbers after the highest are free.
    let mut seq: i64 = sqlx::query_scalar("SELECT COALESCE(MAX(seq), 0) FROM requests")
        .fetch_one(&mut *transaction)
        .await?;
    for rows in batch.chunks(ROWS) {
        let numbered = || rows.iter().zip(seq + 1..);
        let mut sql = QueryBuilder::new("INSERT OR IGNORE INTO requests (seq, ");
        sql.push(COLUMNS).push(") ");
        sql.push_values(numbered(), |mut row, ((record, _), seq)| {
            row.push_bind(seq);
            push_record(row, record);
        });
        sql.build().execute(&mut *transaction).await?;

        // A record that was there already has been passed over, and so must its details be.
        let mut sql = QueryBuilder::new("INSERT INTO request_details SELECT * FROM (");
        sql.push_values(numbered(), |mut row, ((_, detail), seq)| {
            row.push_bind(seq)
                .push_bind(detail.stderr.clone())
                .push_bind(detail.stderr_truncated)
                .push_bind(fields_text(&detail.response_head))
                .push_bind(fields_text(&detail.environment));
        });
        sql.push(") WHERE EXISTS (SELECT 1 FROM requests WHERE seq = column1)");
        sql.build().execute(&mut *transaction).await?;
        seq = seq.saturating_add_unsigned(rows.len() as u64);
    }
    transaction.commit().await?;
    Ok(())
}

fn push_record(mut row: Separated<'_, Sqlite, &'static str>, record: &Record) {
    row.push_bind(record.id.clone())
        .push_bind(record.started_at)
        .push_bind(record.host.clone())
        .push_bind(record.program.clone())
        .push_bind(record.version)
        .push_bind(record.mode.clone())
        .push_bind(record.method.clone())
        .push_bind(record.path.clone())
        .push_bind(record.query.clone())
        .push_bind(record.status)
        .push_bind(record.outcome.clone())
        .push_bind(integer(record.queue_us))
        .push_bind(integer(record.start_us))
        .push_bind(integer(record.head_us))
        .push_bind(integer(record.body_us))
        .push_bind(integer(record.exit_us))
        .push_bind(integer(record.total_us))
        .push_bind(record.cpu_us.map(integer))
        .push_bind(record.peak_memory_bytes.map(integer))
        .push_bind(integer(record.request_bytes))
        .push_bind(integer(record.response_bytes))
        .push_bind(record.exit_code)
        .push_bind(record.signal)
        .push_bind(record.error.clone())
        .push_bind(record.remote_addr.clone())
        .push_bind(record.concurrency)
        .push_bind(record.experiment.clone());
}

/// Fields as JSON pairs: with the keys spelled out, environments would take a fifth more room.
fn fields_text(fields: &[ResponseField]) -> String {
    let pairs: Vec<(&str, &str)> = fields
        .iter()
        .map(|field| (field.name.as_str(), field.value.as_str()))
        .collect();
    // Pairs of strings are never refused.
    serde_json::to_string(&pairs).unwrap_or_else(|_| "[]".to_owned())
}

/// What [`fields_text`] wrote.
pub(super) fn fields_of(text: Option<&str>) -> Result<Vec<ResponseField>, sqlx::Error> {
    let pairs: Vec<(String, String)> = match text {
        Some(text) => serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(Box::new(error)))?,
        None => Vec::new(),
    };
    Ok(pairs
        .into_iter()
        .map(|(name, value)| ResponseField { name, value })
        .collect())
}
