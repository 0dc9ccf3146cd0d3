//! Programs that arrive over the API.

use anyhow::{Context, Result};
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use warmbin_tests::{TestHost, guest};

fn script(text: &str) -> Part {
    let text = format!("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n{text}'\n");
    Part::bytes(text.into_bytes()).file_name("program.sh")
}

async fn upload(host: &TestHost, name: &str, query: &str, form: Form) -> Result<(u16, Value)> {
    let path = format!("/api/v1/programs/{name}/versions{query}");
    let answer = host.api(Method::POST, &path).multipart(form).send().await?;
    let status = answer.status().as_u16();
    if status == 201 {
        assert!(answer.headers().contains_key("location"));
    }
    let text = answer.text().await?;
    Ok((
        status,
        serde_json::from_str(&text).with_context(|| format!("{status}: {text}"))?,
    ))
}

async fn text(host: &TestHost, name: &str, mode: &str) -> Result<String> {
    let answer = host.get_in(mode, &format!("/cgi-bin/{name}")).send().await?;
    Ok(answer.text().await?)
}

#[tokio::test]
async fn versions_are_uploaded_activated_and_deleted() -> Result<()> {
    let host = TestHost::builder()?.start().await?;
    assert_eq!(host.get("/cgi-bin/mine").send().await?.status(), 404);

    let module = Part::bytes(std::fs::read(guest("hello", "wasm"))?).file_name("hello.wasm");
    let (status, version) = upload(
        &host,
        "mine",
        "",
        Form::new().part("native", script("one")).part("wasm", module),
    )
    .await?;
    assert_eq!(status, 201, "{version}");
    assert_eq!(text(&host, "mine", "fork").await?, "one");
    assert_eq!(
        text(&host, "mine", "wasm-warm").await?,
        "Hello from a CGI program.\n"
    );

    let (status, _) = upload(
        &host,
        "mine",
        "?activate=false",
        Form::new().part("native", script("two")),
    )
    .await?;
    assert_eq!(status, 201);
    assert_eq!(text(&host, "mine", "fork").await?, "one", "not active yet");
    let answer = host
        .api(Method::POST, "/api/v1/programs/mine/activate")
        .json(&json!({ "version": 2 }))
        .send()
        .await?;
    assert!(answer.status().is_success(), "{}", answer.text().await?);
    assert_eq!(text(&host, "mine", "fork").await?, "two");
    let answer = host
        .api(Method::POST, "/api/v1/programs/mine/activate")
        .json(&json!({ "version": 1 }))
        .send()
        .await?;
    assert!(answer.status().is_success());
    assert_eq!(text(&host, "mine", "fork").await?, "one", "rolled back");

    let list = host.document("/api/v1/programs").await?;
    assert!(
        list["items"]
            .as_array()
            .is_some_and(|items| items.iter().any(|item| item["name"] == "mine")),
        "{list}"
    );
    let answer = host.api(Method::DELETE, "/api/v1/programs/mine").send().await?;
    assert!(answer.status().is_success(), "{}", answer.status());
    assert_eq!(host.get("/cgi-bin/mine").send().await?.status(), 404);
    assert_eq!(
        host.api(Method::GET, "/api/v1/programs/mine")
            .send()
            .await?
            .status(),
        404
    );
    Ok(())
}

#[tokio::test]
async fn what_cannot_run_is_refused_with_its_reason() -> Result<()> {
    let host = TestHost::builder()?.guest("hello", "").start().await?;
    let wasm = |bytes: Vec<u8>| Form::new().part("wasm", Part::bytes(bytes).file_name("m.wasm"));
    let no_start = wat::parse_str("(module (memory (export \"memory\") 1))")?;
    let unknown_import = wat::parse_str(
        "(module (import \"mystery\" \"power\" (func)) (memory (export \"memory\") 1) (func (export \"_start\")))",
    )?;
    let broken = b"\0asm\x01\0\0\0\x01\xff\xff".to_vec();
    let settings = |text: &str| {
        Form::new()
            .part("native", script("x"))
            .part("settings", Part::text(text.to_owned()))
    };
    for (what, name, form, reason) in [
        ("no entry point", "a", wasm(no_start), "_start"),
        ("an unknown import", "b", wasm(unknown_import), "mystery"),
        ("broken bytes", "c", wasm(broken), "not a valid"),
        (
            "plain text",
            "d",
            Form::new().part("native", Part::bytes(b"hello".to_vec()).file_name("x")),
            "#!",
        ),
        (
            "nothing",
            "e",
            Form::new().text("settings", "{}"),
            "needs a native artifact",
        ),
        ("an unknown setting", "f", settings("{\"colour\": 1}"), "colour"),
        (
            "a taken route",
            "g",
            settings("{\"route\": \"/cgi-bin/hello\"}"),
            "hello",
        ),
    ] {
        let (status, problem) = upload(&host, name, "", form).await?;
        assert_eq!(status, 422, "{what}: {problem}");
        assert!(problem.to_string().contains(reason), "{what} is named: {problem}");
        assert_eq!(
            host.get(&format!("/cgi-bin/{name}")).send().await?.status(),
            404,
            "{what}"
        );
        // It could be served elsewhere.
        let known = host.api(Method::GET, &format!("/api/v1/programs/{name}"));
        assert_eq!(known.send().await?.status(), 404, "{what}");
    }
    let answer = host.api(Method::DELETE, "/api/v1/programs/hello").send().await?;
    assert_eq!(answer.status(), 409, "the configuration declares it");
    assert_eq!(host.get("/cgi-bin/hello").send().await?.status(), 200);
    Ok(())
}
