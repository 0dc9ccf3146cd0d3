//! Distributions.

use std::collections::BTreeMap;

use futures_util::TryStreamExt;
use sqlx::{QueryBuilder, Row, SqlitePool};

use super::blocks::{BLOCK, packed, unpacked};
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

/// Distributions of a phase, by value of the key.
pub(super) async fn histogram(
    readers: &SqlitePool,
    filter: &Filter,
    phase: Phase,
    group_by: Option<GroupKey>,
) -> Result<Vec<Histogram>, StoreError> {
    let group = group_by.map_or("''", GroupKey::as_str);
    let mut sql = QueryBuilder::new("SELECT ");
    sql.push(format_args!(
        "CAST({group} AS TEXT), {} FROM requests",
        packed(column(phase))
    ));
    where_clause::push(&mut sql, filter);
    sql.push(format_args!(" GROUP BY {group}, {BLOCK}"));

    let mut groups: BTreeMap<String, BTreeMap<u64, u64>> = BTreeMap::new();
    if group_by.is_none() {
        groups.insert(String::new(), BTreeMap::new());
    }
    let mut blocks = sql.build().fetch(readers);
    while let Some(block) = blocks.try_next().await? {
        let group: Option<String> = block.try_get(0)?;
        let buckets = groups.entry(group.unwrap_or_default()).or_default();
        for us in unpacked(block.try_get(1)?) {
            *buckets.entry(bucket_le(us?)).or_default() += 1;
        }
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
