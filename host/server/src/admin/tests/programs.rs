//! Uploads, activation, removal.

use std::os::unix::fs::PermissionsExt;

use axum::body::Body;
use http::header::{ACCEPT, CONTENT_TYPE};

use super::{TestAdmin, known};

const SCRIPT: &[u8] = b"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nhi'\n";
/// The smallest command module: `_start` and a memory.
const MODULE: &[u8] = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x05\x03\x01\0\x01\
    \x07\x13\x02\x06_start\0\0\x06memory\x02\0\x0a\x04\x01\x02\0\x0b";
const VERSIONS: &str = "/api/v1/programs/mine/versions";

#[tokio::test]
async fn a_version_is_uploaded_activated_and_removed() {
    let admin = TestAdmin::start().await;
    let first = admin
        .upload(VERSIONS, &[("native", SCRIPT), ("wasm", MODULE)])
        .await;
    assert_eq!(first.status, 201, "{}", first.body);
    assert_eq!(first.header("location"), "/api/v1/programs/mine/versions/1");
    let version = first.json();
    assert_eq!(version["active"], true);
    assert_eq!(version["native"]["kind"], "script (#!/bin/sh)");
    assert_eq!(version["wasm"]["bytes"], MODULE.len());
    assert_eq!(admin.call("GET", first.header("location")).await.json(), version);
    for (family, mode) in [("native", 0o755), ("wasm", 0o644)] {
        let path = version[family]["path"].as_str().unwrap();
        assert_eq!(
            std::fs::metadata(path).unwrap().permissions().mode() & 0o777,
            mode
        );
    }

    // Other settings, the same artifacts; not yet active.
    let second = admin
        .upload(
            &format!("{VERSIONS}?activate=false"),
            &[("settings", b"{\"route\":\"/shop\"}")],
        )
        .await;
    assert_eq!(second.status, 201, "{}", second.body);
    assert_eq!(second.json()["wasm"], version["wasm"]);
    let program = admin.call("GET", "/api/v1/programs/mine").await.json();
    assert_eq!(
        (&program["active"], &program["route"]),
        (&1.into(), &"/cgi-bin/mine".into())
    );
    assert_eq!(program["default_mode"], "wasm-warm");

    let activate = known("POST", "/api/v1/programs/mine/activate").header(CONTENT_TYPE, "application/json");
    let activated = admin
        .send(activate.body(Body::from("{\"version\":2}")).unwrap())
        .await;
    assert_eq!(activated.status, 200);
    assert_eq!(activated.json()["route"], "/shop");
    let pools = admin.call("GET", "/api/v1/pools").await.json();
    assert_eq!(
        (&pools["items"][0]["program"], &pools["items"][0]["version"]),
        (&"mine".into(), &2.into())
    );

    // Left out, settings stay as they are.
    let third = admin.upload(VERSIONS, &[("native", SCRIPT)]).await.json();
    assert_eq!(third["settings"]["route"], "/shop");

    assert_eq!(admin.call("DELETE", "/api/v1/programs/mine").await.status, 204);
    assert_eq!(admin.call("GET", "/api/v1/programs/mine").await.status, 404);
    let folder = admin.data.path().join("data/programs/mine");
    assert!(!folder.exists(), "its files are gone");
    assert_eq!(
        admin.call("GET", "/api/v1/programs").await.json()["items"],
        serde_json::json!([])
    );
}

#[tokio::test]
async fn what_cannot_run_is_refused_and_leaves_nothing_behind() {
    let admin = TestAdmin::start().await;
    assert_eq!(
        admin
            .upload("/api/v1/programs/other/versions", &[("native", SCRIPT)])
            .await
            .status,
        201
    );
    let no_start = b"\0asm\x01\0\0\0";
    for (parts, field, reason) in [
        (vec![("native", &b"echo hello"[..])], "native", "interpreter"),
        (vec![("native", MODULE)], "native", "send it as `wasm`"),
        (vec![("wasm", SCRIPT)], "wasm", "send it as `native`"),
        (vec![("wasm", &no_start[..])], "wasm", "_start"),
        (
            vec![("native", SCRIPT), ("settings", b"{\"colour\":1}")],
            "settings",
            "colour",
        ),
        (
            vec![
                ("native", SCRIPT),
                ("settings", b"{\"route\":\"/cgi-bin/other\"}"),
            ],
            "settings",
            "program other",
        ),
        (
            vec![("native", SCRIPT), ("settings", b"{\"mode\":\"wasm-warm\"}")],
            "settings",
            "wasm artifact",
        ),
        (vec![("native", SCRIPT), ("native", SCRIPT)], "native", "twice"),
        (vec![("colour", SCRIPT)], "colour", "not a part"),
        (vec![("settings", b"{}")], "native", "needs"),
        (vec![], "native", "needs"),
    ] {
        let refusal = admin.upload(VERSIONS, &parts).await;
        assert_eq!(refusal.status, 422, "{reason}: {}", refusal.body);
        let problem = refusal.json();
        assert_eq!(problem["errors"][0]["field"], field, "{reason}");
        assert!(
            problem["detail"].as_str().unwrap().contains(reason),
            "{reason}: {problem}"
        );
    }
    let named = admin
        .upload("/api/v1/programs/..%2Fx/versions", &[("native", SCRIPT)])
        .await;
    assert_eq!(
        (named.status.as_u16(), &named.json()["errors"][0]["field"]),
        (422, &"name".into())
    );
    assert_eq!(admin.call("GET", "/api/v1/programs/mine").await.status, 404);
    let left = admin.data.path().join("data/tmp").read_dir().unwrap().count();
    assert_eq!(left, 0, "temporary files are removed");
}

#[tokio::test]
async fn forms_lead_to_the_result_or_say_what_is_wrong() {
    let admin = TestAdmin::start().await;
    let added = admin
        .upload(
            "/programs",
            &[
                ("name", b"mine"),
                ("native", SCRIPT),
                ("wasm", b""),
                ("activate", b"true"),
            ],
        )
        .await;
    assert_eq!(
        (added.status.as_u16(), added.header("location")),
        (303, "/programs/mine"),
        "{}",
        added.body
    );
    let refused = admin
        .upload("/programs", &[("name", b"mine"), ("native", b"echo")])
        .await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("interpreter"), "{}", refused.body);

    let form = |path: &'static str, body: &'static str| {
        let request = known("POST", path)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(ACCEPT, "text/html");
        admin.send(request.body(Body::from(body)).unwrap())
    };
    assert_eq!(form("/programs/mine/activate", "version=7").await.status, 404);
    assert_eq!(
        form("/programs/mine/activate", "version=1")
            .await
            .header("location"),
        "/programs/mine"
    );
    assert_eq!(form("/programs/mine/delete", "confirm=other").await.status, 422);
    assert_eq!(
        form("/programs/mine/delete", "confirm=mine")
            .await
            .header("location"),
        "/programs"
    );
    assert_eq!(admin.call("GET", "/api/v1/programs/mine").await.status, 404);
}
