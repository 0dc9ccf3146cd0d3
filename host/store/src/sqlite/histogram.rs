//! Distributions.

use std::collections::BTreeMap;

use futures_util::TryStreamExt;
use sqlx::{QueryBuilder, Row, SqlitePool};

use super::where_clause;
use crate::error::StoreError;
use crate::filter::Filter;
use crate::percentile::bucket_le;
use crate::stats::{Bucket, GroupKey, Histogram, Phase};

/// The column of a phase.
pub(super) const fn column(phase: Phase) -> &'static str {
    match phase {
        Phase::Queue => "queue_us",
        Phase::Start => "start_us",
        Phase::Head => "head_us",
        Phase::Body => "body_us",
        Phase::Exit => "exit_us",
        Phase::Total => "total_us",
    }
}

/// Distributions of a phase, by value of the key. Equal durations are counted in the database, so that only distinct
/// ones travel.
pub(super) async fn histogram(
    readers: &SqlitePool,
    filter: &Filter,
    phase: Phase,
    group_by: Option<GroupKey>,
) -> Result<Vec<Histogram>, StoreError> {
    let mut sql = QueryBuilder::new("SELECT ");
    match group_by {
        Some(key) => sql.push(format_args!("COALESCE(CAST({} AS TEXT), '')", key.as_str())),
        None => sql.push("''"),
    };
    sql.push(format_args!(", {}, COUNT(*) FROM requests", column(phase)));
    where_clause::push(&mut sql, filter);
    sql.push(" GROUP BY 1, 2");

    let mut groups: BTreeMap<String, BTreeMap<u64, u64>> = BTreeMap::new();
    if group_by.is_none() {
        groups.insert(String::new(), BTreeMap::new());
    }
    let mut rows = sql.build().fetch(readers);
    while let Some(row) = rows.try_next().await? {
        let (group, us, count): (String, u64, u64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        *groups.entry(group).or_default().entry(bucket_le(us)).or_default() += count;
    }
    Ok(groups
        .into_iter()
        .map(|(group, buckets)| Histogram {
            group,
            buckets: buckets
                .into_iter()
                .map(|(le_us, count)| Bucket { le_us, count })
                .collect(),
        })
        .collect())
}
