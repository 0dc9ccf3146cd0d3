//! Figures per group, exact: computed from the very rows that the list shows.

use std::collections::HashMap;

use futures_util::TryStreamExt;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, SqlitePool};

use super::blocks::{BLOCK, packed, unpacked};
use super::histogram::column;
use super::where_clause;
use crate::error::StoreError;
use crate::filter::Filter;
use crate::percentile::percentiles;
use crate::stats::{GroupKey, Phase, SummaryRow};

/// The durations of a row: the parts in order, then the total.
const DURATIONS: [Phase; 6] = [
    Phase::Queue,
    Phase::Start,
    Phase::Head,
    Phase::Body,
    Phase::Exit,
    Phase::Total,
];

/// Rates are of no shorter span than a second, in microseconds.
const SHORTEST_SPAN_US: i64 = 1_000_000;

/// Columns before those of the group: the durations, and five more.
const FIGURES: usize = DURATIONS.len() + 5;

/// Figures per group, largest group first. Without keys there is exactly one group, even of no requests.
///
/// Numbers are sorted here: cheaper than six window functions, each of which would sort all rows inside the database.
pub(super) async fn summary(
    readers: &SqlitePool,
    filter: &Filter,
    group_by: &[GroupKey],
) -> Result<Vec<SummaryRow>, StoreError> {
    let mut sql = QueryBuilder::new("SELECT ");
    for phase in DURATIONS {
        sql.push(packed(column(phase))).push(", ");
    }
    sql.push(packed("cpu_us"));
    sql.push(", MAX(peak_memory_bytes), MIN(started_at), MAX(started_at)");
    sql.push(", SUM(outcome NOT IN ('ok', 'client_gone') OR status >= 500)");
    for key in group_by {
        sql.push(format_args!(", CAST({} AS TEXT)", key.as_str()));
    }
    sql.push(" FROM requests");
    where_clause::push(&mut sql, filter);
    sql.push(" GROUP BY ");
    for key in group_by {
        sql.push(key.as_str()).push(", ");
    }
    sql.push(BLOCK);

    let mut groups: HashMap<Vec<Option<String>>, Group> = HashMap::new();
    if group_by.is_empty() {
        groups.insert(Vec::new(), Group::default());
    }
    let mut blocks = sql.build().fetch(readers);
    while let Some(block) = blocks.try_next().await? {
        let values = (FIGURES..FIGURES + group_by.len())
            .map(|index| block.try_get::<Option<String>, _>(index))
            .collect::<Result<Vec<_>, _>>()?;
        groups.entry(values).or_default().add(&block)?;
    }
    drop(blocks);

    // Sorting millions of numbers would keep a runtime thread from its other tasks.
    let (from_us, to_us) = (filter.from_us, filter.to_us);
    let keys = group_by.to_vec();
    let figures = move || {
        // One span for all groups: by spans of their own, a mode that was busy for a moment would seem the faster one.
        let started = || groups.values().filter_map(|group| group.started);
        let first = from_us.or_else(|| started().map(|(first, _)| first).min());
        let last = to_us.or_else(|| started().map(|(_, last)| last).max());
        let span_us = first
            .zip(last)
            .map_or(0, |(first, last)| last.saturating_sub(first));
        let mut rows: Vec<SummaryRow> = groups
            .into_iter()
            .map(|(values, group)| group.figures(keys.iter().copied().zip(values).collect(), span_us))
            .collect();
        rows.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| values_of(a).cmp(values_of(b))));
        rows
    };
    tokio::task::spawn_blocking(figures)
        .await
        .map_err(|error| StoreError::Database(sqlx::Error::Io(std::io::Error::other(error))))
}

fn values_of(row: &SummaryRow) -> impl Iterator<Item = &Option<String>> {
    row.group.iter().map(|(_, value)| value)
}

/// What is gathered of a group while its blocks pass.
#[derive(Debug, Default)]
struct Group {
    durations: [Vec<u64>; DURATIONS.len()],
    cpu_sum: u128,
    cpu_count: u128,
    peak: Option<u64>,
    started: Option<(i64, i64)>,
    errors: u64,
}

impl Group {
    fn add(&mut self, block: &SqliteRow) -> Result<(), sqlx::Error> {
        for (index, values) in self.durations.iter_mut().enumerate() {
            for us in unpacked(block.try_get(index)?) {
                values.push(us?);
            }
        }
        let next = DURATIONS.len();
        for us in unpacked(block.try_get(next)?) {
            self.cpu_sum += u128::from(us?);
            self.cpu_count += 1;
        }
        self.peak = self.peak.max(block.try_get(next + 1)?);
        let (first, last): (i64, i64) = (block.try_get(next + 2)?, block.try_get(next + 3)?);
        let (earlier, later) = self.started.unwrap_or((first, last));
        self.started = Some((earlier.min(first), later.max(last)));
        self.errors += block.try_get::<u64, _>(next + 4)?;
        Ok(())
    }

    fn figures(self, group: Vec<(GroupKey, Option<String>)>, span_us: i64) -> SummaryRow {
        let [queue, start, head, body, exit, mut total] = self.durations;
        let count = total.len() as u64;
        let phases = Phase::PARTS
            .into_iter()
            .zip([queue, start, head, body, exit])
            .map(|(phase, mut values)| (phase, percentiles(&mut values)))
            .collect();
        SummaryRow {
            group,
            count,
            errors: self.errors,
            #[expect(clippy::cast_precision_loss, reason = "a rate needs no more than 53 bits")]
            rps: count as f64 * 1_000_000.0 / span_us.max(SHORTEST_SPAN_US) as f64,
            total: percentiles(&mut total),
            phases,
            cpu_us_mean: self
                .cpu_sum
                .checked_div(self.cpu_count)
                .and_then(|mean| u64::try_from(mean).ok()),
            peak_memory_bytes_max: self.peak,
        }
    }
}
