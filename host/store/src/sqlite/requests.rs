//! Reading requests: pages by keyset, one with its details, its neighbours.

use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, SqlitePool};

use super::insert::{COLUMNS, fields_of};
use super::where_clause::{self, integer};
use crate::cursor::Cursor;
use crate::error::StoreError;
use crate::filter::{Filter, Order, Page, Slice};
use crate::record::{Record, RecordDetail};

/// One page. The last row's key, not its position, says where the next begins, so rows written meanwhile shift nothing.
pub(super) async fn page(
    readers: &SqlitePool,
    filter: &Filter,
    page: &Page,
) -> Result<Slice<Record>, StoreError> {
    let limit = page.limit.clamp(1, 1000);
    let key = match page.order {
        Order::StartedAt => "started_at",
        Order::Total => "total_us",
    };
    let mut sql = QueryBuilder::new("SELECT ");
    sql.push(COLUMNS).push(" FROM requests");
    if page.order == Order::StartedAt && filter.program.is_none() && filter.experiment.is_none() {
        // Left to itself SQLite reads and sorts the whole table as soon as there is a condition without an index.
        sql.push(" INDEXED BY requests_by_start");
    }
    where_clause::push(&mut sql, filter);
    if let Some(cursor) = &page.cursor {
        let after = Cursor::read(cursor, page.order)?;
        sql.push(format_args!(" AND ({key}, id) < ("))
            .push_bind(after.key)
            .push(", ")
            .push_bind(after.id)
            .push(")");
    }
    sql.push(format_args!(" ORDER BY {key} DESC, id DESC LIMIT "));
    // One more than asked for tells whether there is a next page.
    sql.push_bind(limit + 1);

    let rows = sql.build().fetch_all(readers).await?;
    let more = rows.len() > limit as usize;
    let items = rows
        .iter()
        .take(limit as usize)
        .map(record_of)
        .collect::<Result<Vec<_>, _>>()?;
    let next = items.last().filter(|_| more).map(|last| {
        let key = match page.order {
            Order::StartedAt => last.started_at,
            Order::Total => integer(last.total_us),
        };
        Cursor {
            key,
            id: last.id.clone(),
        }
        .write(page.order)
    });
    Ok(Slice { items, next })
}

/// One request with its details.
pub(super) async fn one(
    readers: &SqlitePool,
    id: &str,
) -> Result<Option<(Record, RecordDetail)>, StoreError> {
    let mut sql = QueryBuilder::new("SELECT ");
    sql.push(COLUMNS);
    sql.push(", stderr, stderr_truncated, response_head, environment");
    sql.push(" FROM requests LEFT JOIN request_details USING (seq) WHERE id = ")
        .push_bind(id.to_owned());
    let Some(row) = sql.build().fetch_optional(readers).await? else {
        return Ok(None);
    };
    let detail = RecordDetail {
        stderr: row.try_get::<Option<String>, _>("stderr")?.unwrap_or_default(),
        stderr_truncated: row
            .try_get::<Option<bool>, _>("stderr_truncated")?
            .unwrap_or_default(),
        response_head: fields_of(row.try_get("response_head")?)?,
        environment: fields_of(row.try_get("environment")?)?,
    };
    Ok(Some((record_of(&row)?, detail)))
}

/// The ids just before and just after.
pub(super) async fn neighbours(
    readers: &SqlitePool,
    record: &Record,
) -> Result<(Option<String>, Option<String>), StoreError> {
    let before =
        "SELECT id FROM requests WHERE (started_at, id) < (?, ?) ORDER BY started_at DESC, id DESC LIMIT 1";
    let after = "SELECT id FROM requests WHERE (started_at, id) > (?, ?) ORDER BY started_at, id LIMIT 1";
    let mut ids = [None, None];
    for (id, sql) in ids.iter_mut().zip([before, after]) {
        *id = sqlx::query_scalar(sql)
            .bind(record.started_at)
            .bind(&record.id)
            .fetch_optional(readers)
            .await?;
    }
    let [before, after] = ids;
    Ok((before, after))
}

/// A row of [`COLUMNS`].
fn record_of(row: &SqliteRow) -> Result<Record, sqlx::Error> {
    Ok(Record {
        id: row.try_get(0)?,
        started_at: row.try_get(1)?,
        host: row.try_get(2)?,
        program: row.try_get(3)?,
        version: row.try_get(4)?,
        mode: row.try_get(5)?,
        method: row.try_get(6)?,
        path: row.try_get(7)?,
        query: row.try_get(8)?,
        status: row.try_get(9)?,
        outcome: row.try_get(10)?,
        queue_us: row.try_get(11)?,
        start_us: row.try_get(12)?,
        head_us: row.try_get(13)?,
        body_us: row.try_get(14)?,
        exit_us: row.try_get(15)?,
        total_us: row.try_get(16)?,
        cpu_us: row.try_get(17)?,
        peak_memory_bytes: row.try_get(18)?,
        request_bytes: row.try_get(19)?,
        response_bytes: row.try_get(20)?,
        exit_code: row.try_get(21)?,
        signal: row.try_get(22)?,
        error: row.try_get(23)?,
        remote_addr: row.try_get(24)?,
        concurrency: row.try_get(25)?,
        experiment: row.try_get(26)?,
    })
}
