//! What a live listener missed while it was away: `Last-Event-ID` names the last record it saw.

use std::sync::Arc;

use warmbin_store::{Filter, Order, Page, Record, Store, StoreError};

/// How many records are sent again at most.
const BOUND: u32 = 1000;

/// Records finish in another order than they started: one that started this much before the last one seen may
/// have finished after it.
const OVERLAP_US: i64 = 60_000_000;

/// What to send before live events.
#[derive(Debug, Default)]
pub(super) struct Missed {
    /// What was finished since, oldest first.
    pub(super) records: Vec<Record>,
    /// Whether there may have been more than that.
    pub(super) gap: bool,
}

/// Reads what was finished since the record `last` and matches `filter`.
pub(super) async fn missed(
    store: &Arc<dyn Store>,
    filter: &Filter,
    last: &str,
) -> Result<Missed, StoreError> {
    let Some((last, _)) = store.request(last).await? else {
        return Ok(Missed {
            gap: true,
            ..Missed::default()
        });
    };
    let earliest = last.started_at.saturating_sub(OVERLAP_US);
    let since = Filter {
        from_us: Some(filter.from_us.map_or(earliest, |from| from.max(earliest))),
        ..filter.clone()
    };
    let page = Page {
        limit: BOUND,
        cursor: None,
        order: Order::StartedAt,
    };
    let slice = store.requests(&since, &page).await?;
    Ok(Missed {
        gap: slice.next.is_some(),
        records: after(slice.items, &last),
    })
}

/// Those of `records` that were finished after `last`, in the order in which they were.
fn after(records: Vec<Record>, last: &Record) -> Vec<Record> {
    let end = |record: &Record| record.started_at.saturating_add_unsigned(record.total_us);
    let mut later: Vec<Record> = records
        .into_iter()
        .filter(|record| end(record) >= end(last) && record.id != last.id)
        .collect();
    later.sort_by(|a, b| (end(a), &a.id).cmp(&(end(b), &b.id)));
    later
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::sample;
    use super::after;

    #[test]
    fn what_ended_later_is_missed_even_if_it_began_earlier() {
        let record = |id: &str, started_at, total_us| {
            let mut record = sample();
            record.id = id.to_owned();
            record.started_at = started_at;
            record.total_us = total_us;
            record
        };
        let last = record("last", 100, 10);
        let records = vec![
            record("late", 200, 1),
            last.clone(),
            record("long", 50, 100),
            record("seen", 60, 10),
        ];
        let ids: Vec<String> = after(records, &last)
            .into_iter()
            .map(|record| record.id)
            .collect();
        assert_eq!(ids, ["long", "late"]);
    }
}
