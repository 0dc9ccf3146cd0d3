//! The event stream.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use futures_util::StreamExt;
use tower::ServiceExt;
use warmbin_store::{Record, RecordDetail};

use super::super::api::sample;
use super::{TestAdmin, known};

fn record(number: u32, mode: &str) -> Record {
    let mut record = sample();
    record.id = format!("0193b8a0-0000-7000-8000-{number:012}");
    record.started_at += i64::from(number) * 1_000_000;
    record.mode = mode.to_owned();
    record
}

/// Reads events until `wanted` have come, apart from the vital signs.
async fn read(stream: &mut BodyDataStream, wanted: usize) -> Vec<String> {
    let mut text = String::new();
    let reading = async {
        loop {
            let events: Vec<String> = text
                .split_inclusive("\n\n")
                .filter(|event| event.ends_with("\n\n") && !event.contains("event: stats"))
                .map(str::to_owned)
                .collect();
            if events.len() >= wanted {
                return events;
            }
            let chunk = stream.next().await.expect("the stream goes on").unwrap();
            text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reading)
        .await
        .unwrap()
}

async fn open(admin: &TestAdmin, path: &str, last: &str) -> BodyDataStream {
    let request = known("GET", path)
        .header("last-event-id", last)
        .header("accept-encoding", "gzip");
    let response = admin
        .router
        .clone()
        .oneshot(request.body(Body::empty()).unwrap())
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert!(
        !response.headers().contains_key("content-encoding"),
        "events are not compressed"
    );
    response.into_body().into_data_stream()
}

#[tokio::test]
async fn finished_requests_that_match_arrive_with_their_id_until_the_host_stops() {
    let admin = TestAdmin::start().await;
    let mut stream = open(&admin, "/api/v1/live?mode=fork", "").await;
    for (number, mode) in [(1, "wasm-warm"), (2, "fork")] {
        admin
            .host
            .recorder
            .record(record(number, mode), RecordDetail::default());
    }
    let events = read(&mut stream, 1).await;
    assert!(
        events[0].contains("event: request")
            && events[0].contains("id: 0193b8a0-0000-7000-8000-000000000002")
    );
    assert!(events[0].contains("\"mode\":\"fork\""), "{events:?}");
    admin.host.shutdown.cancel();
    let rest = tokio::time::timeout(Duration::from_secs(5), stream.collect::<Vec<_>>()).await;
    assert!(rest.is_ok(), "the stream ends");
}

#[tokio::test]
async fn a_listener_that_was_away_gets_what_it_missed() {
    let admin = TestAdmin::start().await;
    let batch: Vec<_> = (1..=4)
        .map(|number| (Arc::new(record(number, "fork")), RecordDetail::default()))
        .collect();
    admin.host.store.insert_requests(&batch).await.unwrap();
    let mut stream = open(&admin, "/api/v1/live", "0193b8a0-0000-7000-8000-000000000002").await;
    let events = read(&mut stream, 2).await;
    assert!(
        events[0].contains("id: 0193b8a0-0000-7000-8000-000000000003"),
        "{events:?}"
    );
    assert!(
        events[1].contains("id: 0193b8a0-0000-7000-8000-000000000004"),
        "{events:?}"
    );

    let third = "/api/v1/live?last_event_id=0193b8a0-0000-7000-8000-000000000003";
    for (last, first) in [("", "4"), ("0193b8a0-0000-7000-8000-000000000001", "2")] {
        let mut stream = open(&admin, third, last).await;
        let id = format!("id: 0193b8a0-0000-7000-8000-00000000000{first}");
        let events = read(&mut stream, 1).await;
        assert!(events[0].contains(&id), "{last:?}: {events:?}");
    }

    let mut stream = open(&admin, "/api/v1/live", "never-seen").await;
    assert!(read(&mut stream, 1).await[0].contains("event: gap"));
}

#[tokio::test]
async fn metrics_count_what_was_finished() {
    let admin = TestAdmin::start().await;
    let mut stream = open(&admin, "/api/v1/live", "").await;
    let mut dropped_in = record(1, "fork");
    dropped_in.version = None;
    for record in [record(2, "fork"), record(3, "fork"), dropped_in] {
        admin.host.recorder.record(record, RecordDetail::default());
    }
    read(&mut stream, 3).await;
    let counted = async {
        loop {
            let text = admin.call("GET", "/metrics").await.body;
            let line = "warmbin_requests_total{program=\"printenv\",mode=\"fork\",outcome=\"ok\"} 2";
            let dropped = "warmbin_requests_total{program=\"(drop-in)\",mode=\"fork\",outcome=\"ok\"} 1";
            if text.contains(line) && text.contains(dropped) {
                return text;
            }
            tokio::task::yield_now().await;
        }
    };
    let text = tokio::time::timeout(Duration::from_secs(20), counted)
        .await
        .unwrap();
    assert!(
        text.contains("warmbin_request_duration_seconds_bucket{mode=\"fork\",le=\"0.00025\"} 3"),
        "{text}"
    );
    assert!(text.contains("warmbin_in_flight 0"), "{text}");
}
