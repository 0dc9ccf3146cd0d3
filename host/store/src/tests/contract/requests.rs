use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::StoreError;
use crate::filter::{Filter, Order, Page};
use crate::record::{Record, RecordDetail};
use crate::store::Store;
use crate::tests::{batch, detail, record};
use crate::timestamp;

fn page(limit: u32, order: Order, cursor: Option<String>) -> Page {
    Page { limit, cursor, order }
}

async fn ids(store: &dyn Store, filter: &Filter) -> Vec<String> {
    let slice = store
        .requests(filter, &page(1000, Order::StartedAt, None))
        .await
        .unwrap();
    assert_eq!(slice.next, None);
    slice.items.into_iter().map(|record| record.id).collect()
}

pub(super) async fn what_was_written_is_read_back(store: &dyn Store) {
    let full = Record {
        signal: Some(9),
        exit_code: None,
        error: Some("killed".to_owned()),
        experiment: Some("e1".to_owned()),
        ..record(1)
    };
    let bare = Record {
        version: None,
        cpu_us: None,
        peak_memory_bytes: None,
        ..record(2)
    };
    let rows = [
        (Arc::new(full.clone()), detail(1)),
        (Arc::new(bare.clone()), RecordDetail::default()),
    ];
    store.insert_requests(&rows).await.unwrap();

    for (record, detail) in rows {
        assert_eq!(
            store.request(&record.id).await.unwrap(),
            Some((Record::clone(&record), detail))
        );
    }
    assert_eq!(store.request("3").await.unwrap(), None);
    let slice = store
        .requests(&Filter::default(), &page(10, Order::StartedAt, None))
        .await
        .unwrap();
    assert_eq!(slice.items, [bare, full]);
}

pub(super) async fn a_known_id_is_left_alone(store: &dyn Store) {
    store
        .insert_requests(&[(Arc::new(record(1)), detail(1))])
        .await
        .unwrap();
    let again = Record {
        path: "/other".to_owned(),
        ..record(1)
    };
    store
        .insert_requests(&[(Arc::new(again), detail(5)), (Arc::new(record(2)), detail(2))])
        .await
        .unwrap();
    assert_eq!(
        store.request("00000001").await.unwrap(),
        Some((record(1), detail(1)))
    );
    assert_eq!(
        store.request("00000002").await.unwrap(),
        Some((record(2), detail(2)))
    );
}

pub(super) async fn filters_select_exactly_what_they_say(store: &dyn Store) {
    let rows = batch(0..6, |number, record| match number {
        0 => record.program = "it's".to_owned(),
        1 => record.mode = "wasm-warm".to_owned(),
        2 => record.status = 404,
        3 => (record.status, record.outcome) = (502, "bad_output".to_owned()),
        4 => record.experiment = Some("e1".to_owned()),
        _ => record.total_us = u64::MAX,
    });
    store.insert_requests(&rows).await.unwrap();

    let start = |number: u64| timestamp::to_rfc3339(record(number).started_at);
    for (query, numbers) in [
        (String::new(), vec![5, 4, 3, 2, 1, 0]),
        (format!("from={}", start(4)), vec![5, 4]),
        (format!("to={}", start(2)), vec![1, 0]),
        ("program=it's".to_owned(), vec![0]),
        ("program=' OR 1 --".to_owned(), vec![]),
        ("mode=wasm-warm".to_owned(), vec![1]),
        ("status=404".to_owned(), vec![2]),
        ("status=5xx".to_owned(), vec![3]),
        ("status=4xx".to_owned(), vec![2]),
        ("outcome=bad_output".to_owned(), vec![3]),
        ("experiment=e1".to_owned(), vec![4]),
        ("min_us=10".to_owned(), vec![5, 4]),
        (format!("min_us={}", i64::MAX), vec![5]),
        ("min_us=7&max_us=8".to_owned(), vec![2, 1]),
        ("mode=fork&status=200&max_us=9".to_owned(), vec![0]),
    ] {
        let pairs: Vec<(String, String)> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let filter = Filter::from_pairs(&pairs, 0).unwrap();
        let expected: Vec<String> = numbers.into_iter().map(|number| record(number).id).collect();
        assert_eq!(ids(store, &filter).await, expected, "{query}");
    }
}

pub(super) async fn pages_hold_each_row_once_while_others_are_written(store: &dyn Store) {
    for (order, first) in [(Order::StartedAt, 0), (Order::Total, 10_000)] {
        // Three to a key, so that pages end in the middle of equal ones.
        let old = batch(first..first + 100, |number, record| {
            record.started_at = 1_000_000 + i64::try_from(number / 3).unwrap();
            record.total_us = number / 3;
        });
        store.insert_requests(&old).await.unwrap();
        let (mut seen, mut cursor, mut fresh) = (Vec::new(), None, first + 1000);
        loop {
            let slice = store
                .requests(&Filter::default(), &page(7, order, cursor))
                .await
                .unwrap();
            assert!(slice.items.len() <= 7);
            seen.extend(slice.items.into_iter().map(|record| record.id));
            // New rows on both sides of the cursor.
            let (above, below) = (fresh, fresh + 1);
            let new = batch(above..below + 1, |number, record| {
                (record.started_at, record.total_us) = if number == above {
                    (i64::MAX, 1 << 60)
                } else {
                    (1, 0)
                };
            });
            store.insert_requests(&new).await.unwrap();
            fresh += 2;
            cursor = slice.next;
            if cursor.is_none() || fresh > first + 2000 {
                break;
            }
        }
        let unique: BTreeSet<&String> = seen.iter().collect();
        assert_eq!(unique.len(), seen.len(), "no row twice");
        assert!(
            old.iter().all(|(record, _)| unique.contains(&record.id)),
            "every old row"
        );
    }
}

pub(super) async fn a_cursor_of_another_order_is_refused(store: &dyn Store) {
    store.insert_requests(&batch(0..3, |_, _| {})).await.unwrap();
    let slice = store
        .requests(&Filter::default(), &page(1, Order::StartedAt, None))
        .await
        .unwrap();
    for cursor in [slice.next.unwrap(), "nonsense".to_owned()] {
        let answer = store
            .requests(&Filter::default(), &page(1, Order::Total, Some(cursor)))
            .await;
        assert!(matches!(answer, Err(StoreError::BadCursor)), "{answer:?}");
    }
}

pub(super) async fn neighbours_are_those_in_time(store: &dyn Store) {
    // 1 and 2 start at the same moment.
    let rows = batch(0..4, |number, record| {
        record.started_at = [10, 20, 20, 30][usize::try_from(number).unwrap()];
    });
    store.insert_requests(&rows).await.unwrap();
    let id = |number: usize| Some(rows[number].0.id.clone());
    for (number, expected) in [
        (0, (None, id(1))),
        (1, (id(0), id(2))),
        (2, (id(1), id(3))),
        (3, (id(2), None)),
    ] {
        assert_eq!(
            store.neighbours(&rows[number].0).await.unwrap(),
            expected,
            "{number}"
        );
    }
}
