//! A filter as a `WHERE` clause.

use sqlx::{QueryBuilder, Sqlite};

use crate::filter::{Filter, StatusFilter};

/// SQLite's integers are signed: what does not fit is as good as the largest.
pub(super) fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Appends ` WHERE …`. Always writes a condition, so that callers can go on with ` AND `.
// SECURITY: values are bound, never written into the statement.
pub(super) fn push(sql: &mut QueryBuilder<Sqlite>, filter: &Filter) {
    sql.push(" WHERE 1");
    if let Some(from) = filter.from_us {
        sql.push(" AND started_at >= ").push_bind(from);
    }
    if let Some(to) = filter.to_us {
        sql.push(" AND started_at < ").push_bind(to);
    }
    for (column, value) in [
        ("program", &filter.program),
        ("mode", &filter.mode),
        ("outcome", &filter.outcome),
        ("experiment", &filter.experiment),
    ] {
        if let Some(value) = value {
            sql.push(" AND ")
                .push(column)
                .push(" = ")
                .push_bind(value.clone());
        }
    }
    match filter.status {
        None => {}
        Some(StatusFilter::Exact(status)) => {
            sql.push(" AND status = ").push_bind(status);
        }
        Some(StatusFilter::Class(class)) => {
            let first = class.saturating_mul(100);
            sql.push(" AND status >= ").push_bind(first);
            sql.push(" AND status < ").push_bind(first.saturating_add(100));
        }
    }
    if let Some(min) = filter.min_us {
        sql.push(" AND total_us >= ").push_bind(integer(min));
    }
    if let Some(max) = filter.max_us {
        sql.push(" AND total_us <= ").push_bind(integer(max));
    }
}
