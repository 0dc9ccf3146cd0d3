//! Lists, downloads and figures.

use std::sync::Arc;

use axum::body::Body;
use http::header::ACCEPT;
use warmbin_store::{Record, RecordDetail, ResponseField};

use super::super::api::sample;
use super::{TestAdmin, known};

const START: i64 = 1_769_850_300_000_000;

/// `count` requests, one a second, alternately in two modes.
async fn with_requests(count: i64) -> TestAdmin {
    let admin = TestAdmin::start().await;
    let batch: Vec<(Arc<Record>, RecordDetail)> = (0..count)
        .map(|number| {
            let mut record = sample();
            record.id = format!("0193b8a0-0000-7000-8000-{number:012}");
            record.started_at = START + number * 1_000_000;
            record.mode = if number % 2 == 0 { "fork" } else { "wasm-warm" }.to_owned();
            let detail = RecordDetail {
                stderr: "oops".to_owned(),
                response_head: vec![ResponseField {
                    name: "Content-Type".to_owned(),
                    value: "text/plain".to_owned(),
                }],
                ..RecordDetail::default()
            };
            (Arc::new(record), detail)
        })
        .collect();
    admin.host.store.insert_requests(&batch).await.unwrap();
    admin
}

#[tokio::test]
async fn pages_follow_each_other_to_the_end_without_overlap() {
    let admin = with_requests(25).await;
    let mut path = Some("/api/v1/requests?mode=fork&limit=5&from=2026-01-01T00:00:00Z".to_owned());
    let mut seen = Vec::new();
    while let Some(next) = path {
        let answer = admin.call("GET", &next).await;
        assert_eq!(answer.status, 200, "{next}: {}", answer.body);
        let page = answer.json();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 5 && items.iter().all(|item| item["mode"] == "fork"));
        seen.extend(items.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
        path = page["next"].as_str().map(str::to_owned);
    }
    assert_eq!(seen.len(), 13);
    assert!(
        seen.is_sorted_by(|a, b| a > b),
        "newest first, none twice: {seen:?}"
    );
}

#[tokio::test]
async fn a_relative_time_is_fixed_in_the_next_page() {
    let admin = with_requests(2).await;
    let page = admin
        .call("GET", "/api/v1/requests?from=-9999d&limit=1")
        .await
        .json();
    let next = page["next"].as_str().unwrap();
    assert!(
        next.starts_with("/api/v1/requests?limit=1&from=") && !next.contains("9999d"),
        "{next}"
    );
}

#[tokio::test]
async fn a_download_holds_everything_the_filter_matches() {
    let admin = with_requests(2500).await;
    for (format, accept, media_type) in [
        ("", "text/csv", "text/csv"),
        ("", "application/x-ndjson", "application/x-ndjson"),
        // A browser cannot choose what it accepts.
        ("&format=csv", "text/html", "text/csv"),
        ("&format=ndjson", "application/json", "application/x-ndjson"),
    ] {
        let request = known("GET", &format!("/api/v1/requests?mode=fork{format}")).header(ACCEPT, accept);
        let answer = admin.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (200, media_type)
        );
        let records = answer.body.matches("0193b8a0-0000-7000-8000-").count();
        assert_eq!(records, 1250, "{format} {accept}");
        if media_type == "application/x-ndjson" {
            assert_eq!(answer.body.lines().count(), 1250);
        }
    }
    let capped = known("GET", "/api/v1/requests?limit=7").header(ACCEPT, "application/x-ndjson");
    assert_eq!(
        admin
            .send(capped.body(Body::empty()).unwrap())
            .await
            .body
            .lines()
            .count(),
        7
    );
}

#[tokio::test]
async fn one_request_is_its_fields_and_its_details_in_one_object() {
    let admin = with_requests(1).await;
    let request = admin
        .call("GET", "/api/v1/requests/0193b8a0-0000-7000-8000-000000000000")
        .await
        .json();
    assert_eq!(request["started_at"], "2026-01-31T09:05:00.000000Z");
    assert_eq!(
        (&request["mode"], &request["stderr"]),
        (&"fork".into(), &"oops".into())
    );
    assert_eq!(request["response_head"][0]["name"], "Content-Type");
}

#[tokio::test]
async fn a_summary_has_figures_per_group_and_phase() {
    let admin = with_requests(5).await;
    let summary = admin
        .call("GET", "/api/v1/summary?group_by=mode,version")
        .await
        .json();
    let group = &summary["items"][0];
    assert_eq!(group["group"], serde_json::json!({"mode": "fork", "version": 3}));
    assert_eq!(
        (&group["count"], &group["errors"], &group["p99_us"]),
        (&3.into(), &0.into(), &15.into())
    );
    assert_eq!(group["phases"]["head"]["p50_us"], 3);
    let histogram = admin
        .call("GET", "/api/v1/histogram?group_by=mode&phase=exit")
        .await
        .json();
    assert_eq!(
        histogram["items"][0]["buckets"],
        serde_json::json!([{"le_us": 5, "count": 3}])
    );
    let histogram = admin.call("GET", "/api/v1/histogram").await.json();
    assert_eq!(histogram["items"], serde_json::json!([{"le_us": 15, "count": 5}]));
}
