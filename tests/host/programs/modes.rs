//! Choosing a mode, and what a response says of how it was run.

use anyhow::Result;
use warmbin_tests::{TestHost, guest};

#[tokio::test]
async fn a_module_is_run_warm_unless_asked_otherwise() -> Result<()> {
    let native = guest("hello", "native");
    let host = TestHost::builder()?
        .guest("hello", "")
        .table(&format!(
            "[[program]]\nname = \"bare\"\nnative = '{}'\nroute = \"/bare\"",
            native.display()
        ))
        .start()
        .await?;
    let warm = host.get("/cgi-bin/hello").send().await?;
    assert_eq!(warm.headers()["warmbin-mode"], "wasm-warm");
    assert!(warm.headers().contains_key("x-request-id"));
    let timing = warm.headers()["server-timing"].to_str()?.to_owned();
    for phase in ["queue", "start", "head"] {
        assert!(timing.contains(&format!("{phase};dur=")), "{timing}");
    }
    assert_eq!(host.get("/bare").send().await?.headers()["warmbin-mode"], "fork");
    assert_eq!(
        host.get("/cgi-bin/bare").send().await?.status(),
        404,
        "its route is elsewhere"
    );

    for (path, mode, status) in [
        ("/cgi-bin/hello", "sideways", 400),
        ("/cgi-bin/hello", "persistent", 409),
        ("/bare", "wasm-warm", 409),
    ] {
        let answer = host.get_in(mode, path).send().await?;
        assert_eq!(answer.status(), status, "{path} {mode}");
        assert_eq!(
            answer.headers()["content-type"],
            "application/problem+json",
            "{path} {mode}"
        );
        let problem: serde_json::Value = answer.json().await?;
        assert_eq!(problem["status"], status, "{problem}");
        assert!(
            problem["detail"]
                .as_str()
                .is_some_and(|detail| detail.contains(mode)),
            "{problem}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn where_overriding_is_forbidden_a_client_cannot_choose() -> Result<()> {
    let host = TestHost::builder()?
        .setting("mode_override = \"never\"\nexpose_timing = false")
        .guest("hello", "")
        .start()
        .await?;
    let answer = host.get_in("fork", "/cgi-bin/hello").send().await?;
    assert_eq!(answer.status(), 403);
    assert!(
        !answer.headers().contains_key("server-timing"),
        "{:?}",
        answer.headers()
    );
    assert!(
        !answer.headers().contains_key("warmbin-mode"),
        "{:?}",
        answer.headers()
    );
    assert_eq!(host.get("/cgi-bin/hello").send().await?.status(), 200);
    host.records_when("status=200", 1).await?;
    assert_eq!(
        host.records("mode=fork&status=200").await?.len(),
        0,
        "nothing ran in the mode asked for"
    );
    Ok(())
}
