//! A newcomer's first minutes: log in, upload, request, and watch the rows come in.

use std::time::Duration;

use anyhow::{Context, Result};
use thirtyfour::prelude::*;
use warmbin_tests::{Browser, TOKEN, TestHost, guest, wait_until};

const PATIENCE: Duration = Duration::from_secs(20);

/// The element, once it is there and seen.
async fn find(browser: &Browser, selector: &str) -> Result<WebElement> {
    let query = browser
        .driver
        .query(By::Css(selector))
        .wait(PATIENCE, Duration::from_millis(50))
        .and_displayed();
    query
        .first()
        .await
        .with_context(|| format!("{selector} does not appear"))
}

async fn log_in(host: &TestHost, browser: &Browser) -> Result<()> {
    browser.driver.goto(format!("{}/programs", host.admin())).await?;
    find(browser, "#login-form input[name=token]")
        .await?
        .send_keys(TOKEN)
        .await?;
    find(browser, "#login-form button").await?.click().await?;
    find(browser, "#upload-form").await?;
    Ok(())
}

/// The text of an element at this moment, if it is there. Asked in one go: elements are replaced while the page lives.
async fn text(browser: &Browser, selector: &str) -> Result<Option<String>> {
    let script = "return document.querySelector(arguments[0])?.textContent?.trim() ?? null";
    let answer = browser.driver.execute(script, vec![selector.into()]).await?;
    Ok(answer.json().as_str().map(str::to_owned))
}

/// Fills the upload form and sends it; the state that it ends in, and what it says.
async fn upload(
    browser: &Browser,
    name: &str,
    files: &[(&str, &std::path::Path)],
) -> Result<(String, String)> {
    find(browser, "#upload-form input[name=name]")
        .await?
        .send_keys(name)
        .await?;
    for (field, file) in files {
        let input = find(browser, &format!("#upload-form input[name={field}]")).await?;
        input.send_keys(file.display().to_string()).await?;
    }
    find(browser, "#upload-form button[type=submit]")
        .await?
        .click()
        .await?;
    let result = find(
        browser,
        "#upload-result[data-state=ok], #upload-result[data-state=error]",
    )
    .await?;
    Ok((
        result.attr("data-state").await?.unwrap_or_default(),
        result.text().await?,
    ))
}

#[tokio::test(flavor = "multi_thread")]
async fn uploaded_programs_are_compared_live() -> Result<()> {
    let host = TestHost::builder()?.start().await?;
    let browser = Browser::start().await?;
    log_in(&host, &browser).await?;

    let script = host.folder().join("mine.sh");
    std::fs::write(
        &script,
        "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nmine'\n",
    )?;
    let files = [("native", script.as_path()), ("wasm", &guest("hello", "wasm"))];
    let (state, said) = upload(&browser, "mine", &files).await?;
    assert_eq!(state, "ok", "{said}");

    browser.driver.goto(format!("{}/", host.admin())).await?;
    find(&browser, "#live-state[data-state=live]").await?;
    // A mark that a reload would wipe out.
    browser
        .driver
        .execute("window.neverReloaded = true", vec![])
        .await?;

    for (mode, body) in [("fork", "mine"), ("wasm-warm", "Hello from a CGI program.\n")] {
        for count in 1..=2 {
            let answer = host.get_in(mode, "/cgi-bin/mine").send().await?;
            let id = answer.headers()["x-request-id"].to_str()?.to_owned();
            assert_eq!(answer.text().await?, body);
            find(&browser, &format!("#live-tail tbody tr[data-id='{id}']")).await?;
            let cell = format!("#modes-table tbody tr[data-mode='{mode}'] td[data-col=count]");
            wait_until(&format!("{mode} counts {count}"), PATIENCE, async || {
                Ok((text(&browser, &cell).await? == Some(count.to_string())).then_some(()))
            })
            .await?;
        }
    }
    let kept = browser
        .driver
        .execute("return window.neverReloaded === true", vec![])
        .await?;
    assert_eq!(
        kept.json(),
        &serde_json::Value::Bool(true),
        "the page was reloaded"
    );
    browser.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_module_shows_its_reason() -> Result<()> {
    let host = TestHost::builder()?.start().await?;
    let browser = Browser::start().await?;
    log_in(&host, &browser).await?;
    let module = host.folder().join("broken.wasm");
    std::fs::write(
        &module,
        wat::parse_str(
            "(module (import \"mystery\" \"power\" (func)) (memory (export \"memory\") 1) (func (export \"_start\")))",
        )?,
    )?;
    let (state, said) = upload(&browser, "broken", &[("wasm", &module)]).await?;
    assert_eq!(state, "error");
    assert!(said.contains("mystery"), "{said}");
    assert_eq!(host.get("/cgi-bin/broken").send().await?.status(), 404);
    browser.close().await
}
