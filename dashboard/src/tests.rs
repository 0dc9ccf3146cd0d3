//! Pages over the sample, as a browser gets them.

mod contrast;

use std::fmt::Write as _;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Extension;
use http::{Request, StatusCode, header};
use tower::ServiceExt;
use warmbin_store::{Record, RecordDetail};

use crate::sample::{self, NOW_US, SampleHost, SampleStore};
use crate::{Dashboard, Folder, ModeWish, Notice, Viewer, error_page, login_page, programs_page};

struct Answer {
    status: StatusCode,
    headers: http::HeaderMap,
    body: String,
}

impl Answer {
    async fn of(response: axum::response::Response) -> Self {
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        Self {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    /// The part between two pieces of text.
    fn between(&self, start: &str, end: &str) -> &str {
        let (_, rest) = self
            .body
            .split_once(start)
            .unwrap_or_else(|| panic!("no {start} in {}", self.body));
        rest.split_once(end).unwrap().0
    }
}

fn viewer(may_operate: bool) -> Viewer {
    Viewer {
        name: "ada".to_owned(),
        may_operate,
    }
}

async fn get(store: SampleStore, url: &str, viewer: Option<Viewer>) -> Answer {
    let (dashboard, _) = sample::dashboard(store);
    get_from(dashboard, url, viewer).await
}

async fn get_from(dashboard: Dashboard, url: &str, viewer: Option<Viewer>) -> Answer {
    let mut router = crate::router::router(dashboard, || NOW_US);
    if let Some(viewer) = viewer {
        router = router.layer(Extension(viewer));
    }
    let response = router
        .oneshot(Request::get(url).body(Body::empty()).unwrap())
        .await
        .unwrap();
    Answer::of(response).await
}

/// Without the assets' hashes, so that a snapshot does not change with every edit of the style sheet.
fn without_hashes(html: &str) -> String {
    let mut out = String::new();
    for part in html.split_inclusive("/assets/") {
        match (out.ends_with("/assets/"), part.split_once('-')) {
            (true, Some((name, rest))) => {
                let _ = write!(out, "{name}-HASH{}", &rest[12..]);
            }
            _ => out.push_str(part),
        }
    }
    out
}

fn empty() -> SampleStore {
    SampleStore::of(Vec::new(), Vec::new())
}

fn hostile() -> SampleStore {
    let evil = "<script>alert(1)</script>\"'&";
    let mut record: Record = sample::record(1, "fork", 1_000, 4_321);
    record.path = format!("/cgi-bin/{evil}");
    record.program = evil.to_owned();
    record.query = evil.to_owned();
    record.error = Some(evil.to_owned());
    record.method = evil.to_owned();
    let mut detail: RecordDetail = sample::detail();
    detail.stderr = format!("\u{1b}[31m{evil}");
    detail.environment[0].value = evil.to_owned();
    detail.response_head[0].value = evil.to_owned();
    SampleStore::of(vec![(record, detail)], vec![sample::program(evil, true)])
}

#[tokio::test]
async fn nothing_that_a_client_or_a_program_says_becomes_markup() {
    let id = sample::record(1, "fork", 0, 0).id;
    for url in [
        "/",
        "/?program=%3Cscript%3Ealert(1)%3C/script%3E",
        "/?fragment=summary",
        "/requests",
        &format!("/requests/{id}"),
        "/programs",
        "/programs/%3Cscript%3Ealert(1)%3C%2Fscript%3E%22'&",
        "/requests?status=%22%3E%3Cscript%3Ealert(1)",
        "/requests/%3Cscript%3Ealert(1)",
    ] {
        let answer = get(hostile(), url, Some(viewer(true))).await;
        assert!(!answer.body.contains("<script>alert"), "{url}: {}", answer.body);
        assert!(
            answer.body.contains("alert(1)") || url.contains('?'),
            "{url} does not show the text at all"
        );
        assert!(
            !answer.body.contains('\u{1b}'),
            "{url} passes terminal commands on"
        );
    }
}

#[tokio::test]
async fn no_page_needs_what_the_policy_forbids() {
    let id = sample::record(1, "fork", 0, 0).id;
    for url in [
        "/",
        "/requests",
        &format!("/requests/{id}"),
        "/programs",
        "/programs/hello",
    ] {
        let answer = get(SampleStore::busy(NOW_US), url, Some(viewer(true))).await;
        assert_eq!(answer.status, StatusCode::OK, "{url}");
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store");
        assert!(!answer.body.contains(" style="), "{url} has an inline style");
        for script in answer.body.split("<script").skip(1) {
            assert!(
                script.split('>').next().unwrap().contains("src=\"/assets/"),
                "{url} has an inline script"
            );
        }
        let handlers = ["onclick=", "onload=", "onsubmit=", "javascript:"];
        assert!(
            !handlers.iter().any(|handler| answer.body.contains(handler)),
            "{url} has an inline handler"
        );
    }
}

#[tokio::test]
async fn every_asset_a_page_names_is_there_to_keep() {
    for url in ["/", "/programs"] {
        let page = get(empty(), url, Some(viewer(true))).await;
        let assets: Vec<&str> = page
            .body
            .split('"')
            .filter(|text| text.starts_with("/assets/"))
            .collect();
        assert!(assets.len() >= 5, "{assets:?}");
        for asset in assets {
            let answer = get(empty(), asset, None).await;
            assert_eq!(answer.status, StatusCode::OK, "{asset}");
            assert!(
                answer.headers[header::CACHE_CONTROL]
                    .to_str()
                    .unwrap()
                    .contains("immutable")
            );
            let kind = answer.headers[header::CONTENT_TYPE].to_str().unwrap();
            let expected = [
                (".css", "text/css"),
                (".js", "text/javascript"),
                (".svg", "image/svg+xml"),
            ];
            assert!(
                expected
                    .iter()
                    .any(|(end, start)| asset.ends_with(end) && kind.starts_with(start)),
                "{asset} {kind}"
            );
        }
        assert!(
            !page.body.contains("src=\"\"") && !page.body.contains("href=\"\""),
            "{url} names an asset that is not there"
        );
    }
    assert_eq!(
        get(empty(), "/assets/style-000000000000.css", None).await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn the_overview_shows_figures_modes_curves_and_the_tail() {
    let answer = get(SampleStore::busy(NOW_US), "/", Some(viewer(true))).await;
    for hook in [
        "id=\"modes-table\"",
        "id=\"live-tail\"",
        "id=\"chart-distribution\"",
        "id=\"live-state\"",
        "id=\"tail-row\"",
    ] {
        assert!(answer.body.contains(hook), "{hook}");
    }
    insta::assert_snapshot!(
        "modes",
        answer.between("<section aria-labelledby=\"modes-title\">", "<figure")
    );
    let fragment = get(
        SampleStore::busy(NOW_US),
        "/?from=-15m&fragment=summary",
        Some(viewer(true)),
    )
    .await;
    let (badge, figures) = fragment
        .body
        .split_once("</span>")
        .expect("the badge, then the figures");
    assert!(badge.starts_with("<span id=\"health\"") && !figures.contains("<html"));
    for part in [badge, figures.trim()] {
        assert!(answer.body.contains(part), "not a part of the page: {part}");
    }
}

#[tokio::test]
async fn a_filter_reaches_the_figures_the_links_and_the_live_stream() {
    let answer = get(
        SampleStore::busy(NOW_US),
        "/?from=-1h&program=hello&mode=fork",
        Some(viewer(true)),
    )
    .await;
    let table = answer.between("id=\"modes-table\"", "</table>");
    assert!(
        table.contains("data-mode=\"fork\"") && !table.contains("data-mode=\"wasm-warm\""),
        "{table}"
    );
    assert!(
        answer
            .body
            .contains("data-live=\"/api/v1/live?program=hello&#38;mode=fork\""),
        "{}",
        answer.between("<table id=\"live-tail\"", ">")
    );
    assert!(
        answer
            .body
            .contains("data-fragment=\"/?from=-1h&#38;program=hello&#38;mode=fork&#38;fragment=summary\"")
    );

    let past = get(SampleStore::busy(NOW_US), "/?from=-2h&to=-1h", Some(viewer(true))).await;
    assert!(!past.body.contains("data-live="), "a range in the past is live");
    assert!(
        past.body.contains("id=\"empty\""),
        "nothing happened an hour ago, and the page does not say so"
    );

    let wrong = get(SampleStore::busy(NOW_US), "/?min_us=abc", Some(viewer(true))).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.body.contains("min_us"), "{}", wrong.body);
}

#[tokio::test]
async fn requests_page_through_all_of_them_in_either_order() {
    for first in ["/requests?mode=fork", "/requests?mode=fork&sort=-total_us"] {
        let (mut url, mut seen) = (first.to_owned(), 0);
        loop {
            let answer = get(SampleStore::busy(NOW_US), &url, None).await;
            assert_eq!(answer.status, StatusCode::OK, "{url}");
            let table = answer.between("id=\"requests-table\"", "</table>");
            assert!(!table.contains("mode-wasm"), "the filter got lost at {url}");
            seen += table.matches("<tr data-id=").count();
            let Some((_, rest)) = answer.body.split_once("rel=\"next\" href=\"") else {
                break;
            };
            url = rest.split_once('"').unwrap().0.replace("&#38;", "&");
        }
        assert_eq!(seen, 640);
    }
    assert_eq!(
        get(SampleStore::busy(NOW_US), "/requests?cursor=made-up", None)
            .await
            .status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(
        get(SampleStore::busy(NOW_US), "/requests?sort=status", None)
            .await
            .status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(
        get(SampleStore::busy(NOW_US), "/requests/none", None)
            .await
            .status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn a_request_tells_all_that_is_known() {
    let mut record = sample::record(7, "fork", 0, 4_000);
    record.method = "POST".to_owned();
    record.query = "q=it's".to_owned();
    record.request_bytes = 10;
    let store = || SampleStore::of(vec![(record.clone(), sample::detail())], Vec::new());
    let answer = get(store(), &format!("/requests/{}", record.id), Some(viewer(false))).await;
    insta::assert_snapshot!("request", without_hashes(&answer.body));
}

#[tokio::test]
async fn a_program_offers_what_the_viewer_may_do() {
    let url = "/programs/broken";
    let operator = get(SampleStore::busy(NOW_US), url, Some(viewer(true))).await;
    insta::assert_snapshot!("program", without_hashes(&operator.body));
    let config = get(SampleStore::busy(NOW_US), "/programs/hello", Some(viewer(true))).await;
    assert!(
        !config.body.contains("id=\"delete-form\""),
        "a program of the configuration can be deleted"
    );
    for reader in [Some(viewer(false)), None] {
        for url in [url, "/programs"] {
            let answer = get(SampleStore::busy(NOW_US), url, reader.clone()).await;
            assert!(
                !answer.body.contains("action=\"/programs"),
                "{url} offers a reader an action"
            );
            assert!(
                !answer.body.contains("upload.js"),
                "{url} loads the upload script for a reader"
            );
        }
    }
}

#[tokio::test]
async fn a_failed_form_says_why_above_the_programs() {
    let (dashboard, _) = sample::dashboard(SampleStore::busy(NOW_US));
    let notice = Notice {
        failed: true,
        text: "wasm: no <_start>".to_owned(),
    };
    let response = programs_page(
        &dashboard,
        &viewer(true),
        notice,
        StatusCode::UNPROCESSABLE_ENTITY,
    )
    .await;
    let answer = Answer::of(response).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        answer
            .body
            .contains("role=\"alert\">wasm: no &#60;_start&#62;</p>")
    );
    assert!(answer.body.contains("id=\"programs-table\"") && answer.body.contains("id=\"upload-form\""));
}

#[tokio::test]
async fn login_and_error_pages_stand_alone() {
    let login = Answer::of(login_page(Some("wrong <token>"), "/requests?mode=\"fork\"")).await;
    assert_eq!(login.status, StatusCode::UNAUTHORIZED);
    insta::assert_snapshot!("login", without_hashes(&login.body));
    let error = Answer::of(error_page(
        StatusCode::FORBIDDEN,
        "Forbidden",
        "A <viewer> may not.",
        None,
    ))
    .await;
    assert_eq!(error.status, StatusCode::FORBIDDEN);
    assert!(error.body.contains("A &#60;viewer&#62; may not."));
}

#[tokio::test]
async fn who_is_logged_in_stays_so_where_a_page_fails() {
    for (url, status) in [
        ("/requests/none", StatusCode::NOT_FOUND),
        ("/requests/%ff", StatusCode::NOT_FOUND),
        ("/?min_us=abc", StatusCode::BAD_REQUEST),
    ] {
        let answer = get(empty(), url, Some(viewer(false))).await;
        assert_eq!(answer.status, status, "{url}");
        assert!(
            answer.body.contains("action=\"/logout\"") && answer.body.contains(">ada</span>"),
            "{url}: {}",
            answer.body
        );
    }
}

#[tokio::test]
async fn a_program_that_was_declared_in_vain_is_there_and_says_why() {
    let dashboard = || {
        let (mut dashboard, _) = sample::dashboard(empty());
        dashboard.live = Arc::new(SampleHost(vec!["broken".to_owned()]));
        dashboard
    };
    for (url, parts) in [
        ("/", &["broken cannot be run", "None of these"][..]),
        ("/programs", &["data-program=\"broken\"", "has no _start"]),
        ("/programs/broken", &["has no _start", "None yet."]),
    ] {
        let answer = get_from(dashboard(), url, Some(viewer(true))).await;
        assert_eq!(answer.status, StatusCode::OK, "{url}");
        for part in parts {
            assert!(answer.body.contains(part), "{url} lacks {part}: {}", answer.body);
        }
        assert!(
            !answer.body.contains("curl"),
            "{url} offers to call a program that cannot be run"
        );
    }
}

#[tokio::test]
async fn commands_work_as_they_are_on_this_very_host() {
    let dashboard = |store, wish, folder: bool| {
        let (mut dashboard, _) = sample::dashboard(store);
        let facts = Arc::make_mut(&mut dashboard.facts);
        facts.mode_wish = wish;
        if folder {
            facts.folders.push(Folder {
                url: "/scripts".to_owned(),
                path: "/srv/scripts".to_owned(),
            });
        }
        dashboard
    };
    let programs = || SampleStore::of(Vec::new(), vec![sample::program("hello", true)]);
    let header = "-H &#39;Warmbin-Mode: fork&#39;";
    let with_token = format!("{header} -H &#34;Authorization: Bearer $TOKEN&#34; http");
    for (store, wish, folder, url, part) in [
        (programs(), ModeWish::Free, false, "/programs/hello", header),
        (
            programs(),
            ModeWish::WithToken,
            false,
            "/programs/hello",
            with_token.as_str(),
        ),
        (
            programs(),
            ModeWish::Never,
            false,
            "/programs/hello",
            "curl -i http",
        ),
        (programs(), ModeWish::Free, false, "/?mode=fork", header),
        (
            programs(),
            ModeWish::Free,
            true,
            "/?program=other",
            "8080/scripts/NAME",
        ),
        (empty(), ModeWish::Free, true, "/", "8080/scripts/NAME"),
        (
            empty(),
            ModeWish::Free,
            false,
            "/",
            "warmbin program add hello --native hello.sh --data &#39;/srv/warmbin data&#39;",
        ),
    ] {
        let answer = get_from(dashboard(store, wish, folder), url, Some(viewer(true))).await;
        assert!(answer.body.contains(part), "{url} {wish:?}: {}", answer.body);
        assert_eq!(
            answer.body.contains("admin-token"),
            wish == ModeWish::WithToken,
            "{url} {wish:?}"
        );
    }
}

#[tokio::test]
async fn an_empty_host_gives_the_next_command() {
    for url in ["/", "/requests", "/programs"] {
        let answer = get(empty(), url, Some(viewer(true))).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert!(
            answer
                .between("id=\"empty\"", "</code>")
                .contains("curl -i http://127.0.0.1:8080/cgi-bin/"),
            "{url}"
        );
    }
}
