//! Who may ask, and how questions that make no sense are answered.

use anyhow::Result;
use reqwest::Method;
use warmbin_tests::{TOKEN, TestHost};

#[tokio::test]
async fn the_api_asks_for_a_token_and_health_does_not() -> Result<()> {
    let host = TestHost::builder()?.guest("hello", "").start().await?;
    for path in ["/healthz", "/readyz", "/login", "/api/openapi.json"] {
        let answer = host
            .client()
            .get(format!("{}{path}", host.admin()))
            .send()
            .await?;
        assert_eq!(answer.status(), 200, "{path}");
    }
    for path in [
        "/api/v1/requests",
        "/api/v1/summary",
        "/api/v1/programs",
        "/api/v1/live",
    ] {
        for token in [None, Some("wrong")] {
            let mut request = host.client().get(format!("{}{path}", host.admin()));
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            let answer = request.send().await?;
            assert_eq!(answer.status(), 401, "{path} {token:?}");
            assert!(answer.headers().contains_key("www-authenticate"), "{path}");
            assert_eq!(
                answer.headers()["content-type"],
                "application/problem+json",
                "{path}"
            );
        }
    }
    let page = host
        .client()
        .get(format!("{}/requests", host.admin()))
        .send()
        .await?;
    assert_eq!(page.status(), 303);
    assert!(page.headers()["location"].to_str()?.starts_with("/login"));
    let metrics = host.api(Method::GET, "/metrics").send().await?;
    assert_eq!(metrics.status(), 200);
    Ok(())
}

#[tokio::test]
async fn a_programs_page_cannot_act_through_a_session() -> Result<()> {
    let host = TestHost::builder()?.guest("hello", "").start().await?;
    let form = format!("token={TOKEN}&next=%2F");
    let login = host
        .client()
        .post(format!("{}/login", host.admin()))
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(form)
        .send()
        .await?;
    assert_eq!(login.status(), 303);
    let cookie = login.headers()["set-cookie"].to_str()?.to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"),
        "{cookie}"
    );
    let cookie = cookie.split(';').next().unwrap_or_default().to_owned();

    let list = host
        .client()
        .get(format!("{}/api/v1/programs", host.admin()))
        .header("Cookie", &cookie);
    assert_eq!(list.send().await?.status(), 200, "the session is good");
    let foreign = host
        .client()
        .delete(format!("{}/api/v1/programs/hello", host.admin()))
        .header("Cookie", &cookie)
        .header("Origin", host.programs())
        .header("Sec-Fetch-Site", "same-site");
    assert_eq!(foreign.send().await?.status(), 403);
    Ok(())
}

#[tokio::test]
async fn unknown_parameters_are_named() -> Result<()> {
    let host = TestHost::builder()?.guest("hello", "").start().await?;
    for (path, named) in [
        ("/api/v1/requests?colour=red", "colour"),
        ("/api/v1/requests?mode=sideways", "mode"),
        ("/api/v1/requests?limit=0", "limit"),
        ("/api/v1/summary?group_by=moon", "group_by"),
    ] {
        let answer = host.api(Method::GET, path).send().await?;
        assert_eq!(answer.status(), 400, "{path}");
        let text = answer.text().await?;
        assert!(text.contains(named), "{path}: {text}");
    }
    Ok(())
}
