use std::collections::BTreeMap;

use crate::filter::{Filter, Order, Page};
use crate::percentile::bucket_le;
use crate::record::Record;
use crate::stats::{GroupKey, Percentiles, Phase};
use crate::store::Store;
use crate::tests::batch;

/// The value at rank ⌈p·n⌉, said as plainly as possible.
fn naive(mut values: Vec<u64>) -> Percentiles {
    values.sort_unstable();
    let rank = |percent: usize| {
        let at_most = |rank: &usize| rank * 100 >= values.len() * percent;
        values[(1..=values.len()).find(at_most).unwrap() - 1]
    };
    Percentiles {
        p50_us: rank(50),
        p90_us: rank(90),
        p95_us: rank(95),
        p99_us: rank(99),
        max_us: *values.last().unwrap(),
        mean_us: values.iter().sum::<u64>() / values.len() as u64,
    }
}

async fn listed(store: &dyn Store) -> Vec<Record> {
    let page = Page {
        limit: 1000,
        cursor: None,
        order: Order::StartedAt,
    };
    store.requests(&Filter::default(), &page).await.unwrap().items
}

pub(super) async fn a_summary_equals_what_the_list_gives(store: &dyn Store) {
    let rows = batch(0..701, |number, record| {
        // A permutation of residues, so that no phase arrives sorted.
        record.total_us = number * 7919 % 1009;
        record.head_us = number * 104_729 % 997;
        let (mode, outcome, status) = [
            ("fork", "ok", 200),
            ("wasm-warm", "client_gone", 200),
            ("fork", "trap", 502),
            ("fork", "ok", 500),
            ("wasm-warm", "exit_nonzero", 200),
        ][usize::try_from(number % 5).unwrap()];
        (record.mode, record.outcome, record.status) = (mode.to_owned(), outcome.to_owned(), status);
        record.cpu_us = (number % 3 != 0).then_some(number);
    });
    store.insert_requests(&rows).await.unwrap();

    let list = listed(store).await;
    let summary = store
        .summary(&Filter::default(), &[GroupKey::Mode])
        .await
        .unwrap();
    assert_eq!(summary.len(), 2);
    for row in summary {
        let [(GroupKey::Mode, Some(mode))] = row.group.as_slice() else {
            panic!("{:?}", row.group)
        };
        let of: Vec<&Record> = list.iter().filter(|record| record.mode == *mode).collect();
        let values = |value: fn(&Record) -> u64| naive(of.iter().map(|record| value(record)).collect());
        assert_eq!(row.count, of.len() as u64);
        let failed = |record: &&&Record| {
            !["ok", "client_gone"].contains(&record.outcome.as_str()) || record.status >= 500
        };
        assert_eq!(row.errors, of.iter().filter(failed).count() as u64);
        assert_eq!(row.total, values(|record| record.total_us));
        assert_eq!(
            row.phases,
            [
                (Phase::Queue, values(|record| record.queue_us)),
                (Phase::Start, values(|record| record.start_us)),
                (Phase::Head, values(|record| record.head_us)),
                (Phase::Body, values(|record| record.body_us)),
                (Phase::Exit, values(|record| record.exit_us)),
            ]
        );
        let cpu: Vec<u64> = of.iter().filter_map(|record| record.cpu_us).collect();
        assert_eq!(row.cpu_us_mean, Some(cpu.iter().sum::<u64>() / cpu.len() as u64));
        assert_eq!(
            row.peak_memory_bytes_max,
            of.iter().filter_map(|record| record.peak_memory_bytes).max()
        );
    }
}

pub(super) async fn groups_come_by_size_and_versions_may_be_missing(store: &dyn Store) {
    let rows = batch(0..6, |number, record| {
        record.version = [None, Some(1), Some(2)][usize::try_from(number.min(2)).unwrap()];
        record.cpu_us = None;
        record.peak_memory_bytes = None;
    });
    store.insert_requests(&rows).await.unwrap();
    let summary = store
        .summary(&Filter::default(), &[GroupKey::Program, GroupKey::Version])
        .await
        .unwrap();
    let groups: Vec<_> = summary
        .iter()
        .map(|row| (row.group[1].1.as_deref(), row.count))
        .collect();
    assert_eq!(groups, [(Some("2"), 4), (None, 1), (Some("1"), 1)]);
    assert!(
        summary
            .iter()
            .all(|row| row.group[0] == (GroupKey::Program, Some("printenv".to_owned())))
    );
    assert!(
        summary
            .iter()
            .all(|row| row.cpu_us_mean.is_none() && row.peak_memory_bytes_max.is_none())
    );
}

pub(super) async fn rates_cover_the_range_asked_for(store: &dyn Store) {
    let start = 1_000_000_000;
    let rows = batch(0..21, |number, record| {
        record.started_at = start + i64::try_from(number).unwrap() * 200_000;
    });
    store.insert_requests(&rows).await.unwrap();
    for (from_us, to_us, count, rps) in [
        (None, None, 21, 21.0 / 4.0),
        (Some(start), None, 21, 21.0 / 4.0),
        (Some(start), Some(start + 10_000_000), 21, 2.1),
        (Some(start), Some(start + 400_000), 2, 2.0),
    ] {
        let filter = Filter {
            from_us,
            to_us,
            ..Filter::default()
        };
        let summary = store.summary(&filter, &[]).await.unwrap();
        assert_eq!(summary[0].count, count);
        assert!(
            (summary[0].rps - rps).abs() < 1e-9,
            "{filter:?}: {}",
            summary[0].rps
        );
    }
}

pub(super) async fn rates_of_all_groups_are_over_one_span(store: &dyn Store) {
    // One mode all the time, the other for a moment.
    let rows = batch(0..21, |number, record| {
        record.started_at = 1_000_000_000 + i64::try_from(number).unwrap() * 1_000_000;
        record.mode = if number < 18 { "fork" } else { "wasm-warm" }.to_owned();
    });
    store.insert_requests(&rows).await.unwrap();
    let summary = store
        .summary(&Filter::default(), &[GroupKey::Mode])
        .await
        .unwrap();
    let rates: Vec<f64> = summary.iter().map(|row| row.rps).collect();
    assert_eq!(rates, [18.0 / 20.0, 3.0 / 20.0]);
}

pub(super) async fn nothing_is_one_group_of_nothing(store: &dyn Store) {
    let summary = store.summary(&Filter::default(), &[]).await.unwrap();
    assert_eq!(summary.len(), 1);
    assert_eq!((summary[0].count, summary[0].total), (0, Percentiles::default()));
    assert!(
        store
            .summary(&Filter::default(), &[GroupKey::Mode])
            .await
            .unwrap()
            .is_empty()
    );
    let histograms = store
        .histogram(&Filter::default(), Phase::Total, None)
        .await
        .unwrap();
    assert!(matches!(histograms.as_slice(), [one] if one.buckets.is_empty()));
}

pub(super) async fn histograms_count_every_request_once(store: &dyn Store) {
    let rows = batch(0..500, |number, record| {
        record.head_us = number * number;
        record.mode = if number % 4 == 0 { "fork" } else { "prefork" }.to_owned();
    });
    store.insert_requests(&rows).await.unwrap();
    let mut expected: BTreeMap<(&str, u64), u64> = BTreeMap::new();
    for (record, _) in &rows {
        *expected
            .entry((&record.mode, bucket_le(record.head_us)))
            .or_default() += 1;
    }
    let histograms = store
        .histogram(&Filter::default(), Phase::Head, Some(GroupKey::Mode))
        .await
        .unwrap();
    let found: Vec<_> = histograms
        .iter()
        .flat_map(|histogram| {
            histogram
                .buckets
                .iter()
                .map(|bucket| ((histogram.group.as_str(), bucket.le_us), bucket.count))
        })
        .collect();
    assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
}
