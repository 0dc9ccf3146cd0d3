//! What a refusal looks like.

use axum::body::Body;
use http::header::{ACCEPT, CONTENT_TYPE};

use super::{TestAdmin, anonymous, known};

#[tokio::test]
async fn every_refusal_under_the_api_is_a_problem_document() {
    let admin = TestAdmin::start().await;
    let activate = "/api/v1/programs/x/activate";
    for (method, path, content_type, body, status) in [
        ("GET", "/api/v1/nothing", "", "", 404),
        ("PUT", "/api/v1/programs", "", "", 405),
        ("GET", "/api/v1/programs/none", "", "", 404),
        ("GET", "/api/v1/programs/none/versions/one", "", "", 404),
        ("GET", "/api/v1/requests/none", "", "", 404),
        ("GET", "/api/v1/requests?cursor=forged", "", "", 400),
        ("POST", activate, "text/plain", "{}", 415),
        ("POST", activate, "application/json", "{", 400),
        ("POST", activate, "application/json", "{\"colour\":1}", 422),
        ("POST", activate, "application/json", "{\"version\":1}", 404),
        (
            "POST",
            "/api/v1/programs/x/versions",
            "application/json",
            "{}",
            415,
        ),
    ] {
        let request = known(method, path).header(CONTENT_TYPE, content_type);
        let answer = admin.send(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
        assert_eq!(
            answer.header("content-type"),
            "application/problem+json",
            "{method} {path}"
        );
        let problem = answer.json();
        assert_eq!(problem["status"], status, "{path}");
        assert_eq!(problem["type"], "about:blank", "{path}");
        assert!(!problem["detail"].as_str().unwrap().is_empty(), "{path}");
    }
    let allowed = admin.call("PUT", "/api/v1/programs").await;
    assert_eq!(allowed.header("allow"), "GET,HEAD");
    let large = known("POST", activate).header(CONTENT_TYPE, "application/json");
    let answer = admin
        .send(large.body(Body::from(vec![b' '; 100_000])).unwrap())
        .await;
    assert_eq!(answer.status, 413);
}

#[tokio::test]
async fn parameters_that_are_wrong_are_named_all_at_once() {
    let admin = TestAdmin::start().await;
    let answer = admin
        .call(
            "GET",
            "/api/v1/requests?colour=red&mode=sideways&limit=0&sort=up&format=pdf",
        )
        .await;
    assert_eq!(answer.status, 400);
    let problem = answer.json();
    let mut fields: Vec<&str> = problem["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["field"].as_str().unwrap())
        .collect();
    fields.sort_unstable();
    assert_eq!(fields, ["colour", "format", "limit", "mode", "sort"]);
    for (path, field) in [
        ("/api/v1/summary?group_by=moon", "group_by"),
        ("/api/v1/summary?limit=1", "limit"),
        ("/api/v1/histogram?phase=moon", "phase"),
        ("/api/v1/live?limit=1", "limit"),
        ("/api/v1/programs?mode=fork", "mode"),
    ] {
        let answer = admin.call("GET", path).await;
        assert_eq!(answer.status, 400, "{path}");
        assert_eq!(answer.json()["errors"][0]["field"], field, "{path}");
    }
}

#[tokio::test]
async fn people_get_pages_and_every_answer_carries_the_policy() {
    let admin = TestAdmin::start().await;
    let page = known("GET", "/nothing").header(ACCEPT, "text/html");
    let page = admin.send(page.body(Body::empty()).unwrap()).await;
    assert_eq!(page.status, 404);
    assert!(page.header("content-type").starts_with("text/html"), "{page:?}");
    assert!(
        page.body.contains("action=\"/logout\""),
        "the page forgets who is logged in"
    );
    let api = known("GET", "/api/nothing").header(ACCEPT, "text/html");
    let api = admin.send(api.body(Body::empty()).unwrap()).await;
    assert_eq!(api.header("content-type"), "application/problem+json");
    let stranger = admin
        .send(anonymous("GET", "/").body(Body::empty()).unwrap())
        .await;
    for answer in [page, api, stranger] {
        assert!(
            answer
                .header("content-security-policy")
                .starts_with("default-src 'none'"),
            "{answer:?}"
        );
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("x-request-id").len(), 36);
    }
}

#[tokio::test]
async fn a_host_that_stops_is_not_ready_and_still_alive() {
    let admin = TestAdmin::start().await;
    admin.host.shutdown.cancel();
    let ready = admin.call("GET", "/readyz").await;
    assert_eq!(
        (ready.status.as_u16(), ready.json()["status"].as_str()),
        (503, Some("draining"))
    );
    assert_eq!(admin.call("GET", "/healthz").await.status, 200);
}

#[test]
fn the_openapi_document_is_what_was_agreed() {
    insta::assert_json_snapshot!(super::super::router::document());
}
