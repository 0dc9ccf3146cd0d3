//! Fossil: a whole application behind a script of two lines.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::example::{Example, all_ended_well, field, head_agrees, page, text};

const PROGRAM: &str = "/usr/bin/fossil";

/// Runs the client with a home of its own.
fn fossil(home: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new(PROGRAM)
        .args(arguments)
        .current_dir(home)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("USER", "owner")])
        .env("HOME", home)
        .output()?;
    ensure!(output.status.success(), "fossil {arguments:?}: {output:?}");
    Ok(String::from_utf8(output.stdout)?)
}

#[tokio::test(flavor = "multi_thread")]
async fn fossil_shows_pages_logs_users_in_and_is_cloned() -> Result<()> {
    let example = Example::of("Fossil", PROGRAM, "fossil")?;
    let home = example.root().join("fossil");
    fossil(&home, &["init", "--admin-user", "owner", "project.fossil"])?;
    fossil(
        &home,
        &["user", "password", "owner", "s3cret!", "-R", "project.fossil"],
    )?;
    let work = home.join("work");
    std::fs::create_dir(&work)?;
    fossil(&work, &["open", "../project.fossil"])?;
    std::fs::write(work.join("note.txt"), "kept by fossil\n")?;
    fossil(&work, &["add", "note.txt"])?;
    fossil(&work, &["commit", "--no-warnings", "-m", "A note & more"])?;
    let host = example.start().await?;

    let timeline = text(&host, "/project/timeline").await?;
    assert!(timeline.contains("A note &amp; more"), "{timeline}");
    assert_eq!(
        page(&host, "/project/raw/note.txt?ci=trunk").await?.1,
        b"kept by fossil\n"
    );
    for target in [
        "/project/timeline",
        "/project/raw/note.txt?ci=trunk",
        "/project/style.css",
    ] {
        head_agrees(&host, target).await?;
    }

    // A condition, which fossil answers by itself.
    let (fields, _) = page(&host, "/project/timeline").await?;
    let etag = field(&fields, "etag")?;
    let same = host
        .get("/project/timeline")
        .header("If-None-Match", etag)
        .send()
        .await?;
    assert_eq!(same.status(), 304);
    assert!(same.bytes().await?.is_empty());

    // Anonymous visitors see no administration; a user who logged in does.
    let refused = host.get("/project/setup").send().await?;
    assert_eq!(refused.status(), 302);
    let wrong = login(&host, "wrong").await?;
    assert!(wrong.headers().get("set-cookie").is_none());
    let right = login(&host, "s3cret!").await?;
    assert_eq!(right.status(), 302);
    let cookie = field(right.headers(), "set-cookie")?;
    assert!(cookie.starts_with("fossil-"), "{cookie}");
    let pair = cookie.split(';').next().context("a cookie")?;
    let setup = host.get("/project/setup").header("cookie", pair).send().await?;
    assert_eq!(setup.status(), 200);
    assert!(setup.text().await?.contains("Users"));

    let url = format!("{}/project", host.programs());
    let client = host.folder().join("client");
    std::fs::create_dir(&client)?;
    fossil(&client, &["clone", &url, "copy.fossil", "--no-open"])?;
    let kept = fossil(&client, &["cat", "note.txt", "-r", "trunk", "-R", "copy.fossil"])?;
    assert_eq!(kept, "kept by fossil\n");
    all_ended_well(&host, 15).await
}

/// Sends the login form.
async fn login(host: &warmbin_tests::TestHost, password: &str) -> Result<reqwest::Response> {
    let url = format!("{}/project/login", host.programs());
    let body = format!("u=owner&p={}&in=Login", password.replace('!', "%21"));
    Ok(host
        .post("/project/login")
        .header("content-type", "application/x-www-form-urlencoded")
        .header("referer", url)
        .body(body)
        .send()
        .await?)
}
