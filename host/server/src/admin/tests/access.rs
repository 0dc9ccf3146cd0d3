//! Who gets in.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE};

use super::{TOKEN, TestAdmin, anonymous, known};

const FORM: &str = "application/x-www-form-urlencoded";

#[tokio::test]
async fn strangers_see_health_and_are_sent_to_log_in() {
    let admin = TestAdmin::start().await;
    let answer = |path: &'static str| admin.send(anonymous("GET", path).body(Body::empty()).unwrap());
    for path in ["/healthz", "/readyz", "/login", "/api/openapi.json", "/api/docs"] {
        assert_eq!(answer(path).await.status, 200, "{path}");
    }
    for path in ["/metrics", "/api/v1/programs", "/api/nothing"] {
        let refusal = answer(path).await;
        assert_eq!(refusal.status, 401, "{path}");
        assert!(refusal.header("www-authenticate").starts_with("Bearer"), "{path}");
        assert_eq!(
            refusal.header("content-type"),
            "application/problem+json",
            "{path}"
        );
    }
    let page = answer("/requests?mode=fork&status=5xx").await;
    assert_eq!(page.status, 303);
    assert_eq!(
        page.header("location"),
        "/login?next=%2Frequests%3Fmode%3Dfork%26status%3D5xx"
    );
}

#[tokio::test]
async fn metrics_are_open_to_this_machine_unless_a_proxy_passed_them_on() {
    let admin = TestAdmin::start().await;
    for (peer, header, expected) in [
        ("127.0.0.1:9", ("host", "127.0.0.1:8081"), 200),
        ("[::ffff:127.0.0.1]:9", ("host", "localhost:8081"), 200),
        ("[::1]:9", ("host", "[::1]:8081"), 200),
        ("127.0.0.1:9", ("x-forwarded-for", "192.0.2.1"), 401),
        ("127.0.0.1:9", ("host", "rebound.example:8081"), 401),
        ("192.0.2.1:9", ("host", "127.0.0.1:8081"), 401),
    ] {
        let request = anonymous("GET", "/metrics")
            .extension(ConnectInfo(peer.parse::<SocketAddr>().unwrap()))
            .header(header.0, header.1);
        let answer = admin.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, expected, "{peer} {header:?}");
    }
}

#[tokio::test]
async fn a_session_lasts_from_login_to_logout() {
    let admin = TestAdmin::start().await;
    let form = format!("token={TOKEN}&next=%2Fprograms");
    let request = anonymous("POST", "/login").header(CONTENT_TYPE, FORM);
    let login = admin.send(request.body(Body::from(form)).unwrap()).await;
    assert_eq!(
        (login.status.as_u16(), login.header("location")),
        (303, "/programs")
    );
    let cookie = login.header("set-cookie").split(';').next().unwrap().to_owned();

    let with_cookie = |method, path| {
        let request = anonymous(method, path).header(COOKIE, &cookie);
        admin.send(request.body(Body::empty()).unwrap())
    };
    assert_eq!(with_cookie("GET", "/api/v1/programs").await.status, 200);
    assert_eq!(
        with_cookie("GET", "/login?next=/requests")
            .await
            .header("location"),
        "/requests"
    );
    let both = anonymous("GET", "/api/v1/programs")
        .header(COOKIE, &cookie)
        .header(AUTHORIZATION, "Bearer wrong");
    let both = admin.send(both.body(Body::empty()).unwrap()).await;
    assert_eq!(both.status, 401, "a wrong token is never overlooked");

    let logout = with_cookie("POST", "/logout").await;
    assert!(logout.header("set-cookie").contains("Max-Age=0"), "{logout:?}");
    assert_eq!(with_cookie("GET", "/api/v1/programs").await.status, 401);
}

#[tokio::test]
async fn the_printed_link_logs_in_and_a_guesser_is_slowed_down() {
    let admin = TestAdmin::start().await;
    let get = |path: String| admin.send(anonymous("GET", &path).body(Body::empty()).unwrap());
    let login = get(format!("/login?token={TOKEN}")).await;
    assert_eq!((login.status.as_u16(), login.header("location")), (303, "/"));
    for _ in 0..10 {
        let refused = get("/login?token=guess".to_owned()).await;
        assert_eq!(refused.status, 401);
        assert!(refused.header("set-cookie").is_empty());
    }
    let slowed = get(format!("/login?token={TOKEN}")).await;
    assert_eq!(slowed.status, 429, "even the right token waits");
    assert!(slowed.header("retry-after").parse::<u64>().unwrap() > 0);
}

#[tokio::test]
async fn other_sites_forms_are_refused_and_clients_without_a_browser_are_not() {
    let admin = TestAdmin::start().await;
    for (headers, expected) in [
        (vec![("sec-fetch-site", "cross-site")], 403),
        (
            vec![
                ("sec-fetch-site", "same-site"),
                ("origin", "http://127.0.0.1:8080"),
            ],
            403,
        ),
        (
            vec![("origin", "http://127.0.0.1:8080"), ("host", "127.0.0.1:8081")],
            403,
        ),
        (
            vec![("origin", "http://127.0.0.1:8081"), ("host", "127.0.0.1:8081")],
            404,
        ),
        (vec![("sec-fetch-site", "same-origin")], 404),
        (vec![], 404),
    ] {
        let mut request = known("DELETE", "/api/v1/programs/none");
        for (name, value) in &headers {
            request = request.header(*name, *value);
        }
        let answer = admin.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, expected, "{headers:?}");
    }
}
