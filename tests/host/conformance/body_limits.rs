//! Request bodies that are too large or too slow, and where those are kept whose length is not known.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use warmbin_tests::{HostBuilder, wait_until};

use super::Where::Everywhere;
use super::body::{bytes, post, post_over_http2};
use super::framing::post_chunks;
use super::processes::{PATIENCE, childless};
use super::scene::{PLAIN, Scene, pull, puppet};
use super::section;

section! {
    "Request bodies: limits";
    b17 Everywhere, on narrow, "a Content-Length above the limit, also over HTTP/2" =>
        "413 before the program starts": length_over_limit;
    b18 Everywhere, on narrow, "chunks above the limit" => "413": chunks_over_limit;
    b19 Everywhere, on narrow, "exactly as much as the limit, with and without a length" => "200": at_limit;
    b36 Everywhere, on some, "300 KB in chunks: taken, broken off, and too many" =>
        "while they come they are in a file without a name; afterwards there is none": kept_in_files;
    b37 Everywhere, on impatient, "chunks that stop coming" => "408, and no program is started": stalled;
    b45 Everywhere, on impatient, "a body that takes longer than `idle`, and never rests as long; the program prints at its end" =>
        "200": steady;
    b46 Everywhere, on impatient, "a body with a length that stops coming" => "408; the program is ended and reaped": stalled_with_length;
}

pub(super) fn narrow(builder: HostBuilder) -> Result<HostBuilder> {
    puppet(builder.table("[limits]\nrequest_body = \"10KiB\""))
}

fn some(builder: HostBuilder) -> Result<HostBuilder> {
    puppet(builder.table("[limits]\nrequest_body = \"400KiB\""))
}

fn impatient(builder: HostBuilder) -> Result<HostBuilder> {
    puppet(builder.table("[limits]\nidle = \"1s\""))
}

async fn length_over_limit(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; out ran");
    let answer = post(scene, &script, "", &bytes(10_241)).await?;
    ensure!(answer.status == 413, "{answer:?}");
    let fields = format!("{}Content-Length: 99999999999\r\n", pull(&script));
    let answer = scene
        .raw(scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields).as_bytes())
        .await?;
    ensure!(answer.status == 413, "{answer:?}");
    let (status, _) = post_over_http2(scene, &script, bytes(10_241)).await?;
    ensure!(status == 413, "{status} over HTTP/2");
    let record = scene.record(3).await?;
    ensure!(
        record["status"] == 413 && record["start_us"] == 0,
        "it was started: {record}"
    );
    Ok(())
}

async fn chunks_over_limit(scene: &Scene<'_>) -> Result<()> {
    let chunks = format!("2800\r\n{}\r\n1\r\nx\r\n0\r\n\r\n", "x".repeat(0x2800));
    let answer = post_chunks(scene, &format!("{PLAIN}; copy"), &chunks).await?;
    ensure!(answer.status == 413, "{answer:?}");
    Ok(())
}

async fn at_limit(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; copy");
    let answer = post(scene, &script, "", &bytes(10_240)).await?;
    ensure!(answer.status == 200 && answer.body == bytes(10_240), "{answer:?}");
    let chunks = format!("2800\r\n{}\r\n0\r\n\r\n", "x".repeat(0x2800));
    let answer = post_chunks(scene, &script, &chunks).await?;
    ensure!(answer.status == 200 && answer.body.len() == 10_240, "{answer:?}");
    Ok(())
}

async fn steady(scene: &Scene<'_>) -> Result<()> {
    let fields = format!("{}Content-Length: 12\r\n", pull(&format!("{PLAIN}; count")));
    let mut connection = scene.connect().await?;
    connection
        .send(scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields).as_bytes())
        .await?;
    for _ in 0..12 {
        connection.send(b"x").await?;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let answer = connection.answer(false).await?;
    ensure!(
        answer.status == 200 && answer.text().starts_with("12 "),
        "{answer:?}"
    );
    Ok(())
}

async fn stalled_with_length(scene: &Scene<'_>) -> Result<()> {
    let fields = format!(
        "{}Content-Length: 12\r\n",
        pull(&format!("read 12; {PLAIN}; out x"))
    );
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
    let answer = scene.raw(format!("{request}half").as_bytes()).await?;
    let record = scene.record(1).await?;
    ensure!(
        answer.status == 408 && record["outcome"] == "timeout",
        "{answer:?}: {record}"
    );
    childless(scene.host).await
}

/// Files below the host's data that it has open and that have no name.
fn nameless(scene: &Scene<'_>) -> Result<usize> {
    let data = scene.host.folder().join("data");
    let open = std::fs::read_dir(format!("/proc/{}/fd", scene.host.pid()))?;
    // One that is closed meanwhile has no link any more.
    let links = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    Ok(links
        .filter(|link| link.starts_with(&data) && link.to_string_lossy().ends_with(" (deleted)"))
        .count())
}

/// Every name below the host's data.
fn names(scene: &Scene<'_>) -> Result<Vec<PathBuf>> {
    let mut folders = vec![scene.host.folder().join("data")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

async fn kept_in_files(scene: &Scene<'_>) -> Result<()> {
    // What this mode makes for its first request stays.
    scene.puppet(&format!("{PLAIN}; out x")).await?;
    scene.record(1).await?;
    let before = names(scene)?;
    let fields = format!(
        "{}Transfer-Encoding: chunked\r\n",
        pull(&format!("{PLAIN}; count"))
    );
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
    let piece = format!("493e0\r\n{}\r\n", "x".repeat(300_000));
    for (rest, status) in [(Some("0\r\n\r\n"), 200), (Some(piece.as_str()), 413), (None, 0)] {
        let mut connection = scene.connect().await?;
        connection.send(format!("{request}{piece}").as_bytes()).await?;
        wait_until("the body is in a file", PATIENCE, async || {
            Ok((nameless(scene)? == 1).then_some(()))
        })
        .await?;
        ensure!(names(scene)? == before, "the file has a name");
        if let Some(rest) = rest {
            connection.send(rest.as_bytes()).await?;
            let answer = connection.answer(false).await?;
            ensure!(answer.status == status, "{answer:?}");
        }
        drop(connection);
        wait_until("the file is gone", PATIENCE, async || {
            Ok((nameless(scene)? == 0).then_some(()))
        })
        .await?;
        ensure!(names(scene)? == before, "something is left");
    }
    Ok(())
}

async fn stalled(scene: &Scene<'_>) -> Result<()> {
    let answer = post_chunks(scene, &format!("{PLAIN}; copy"), "3\r\nabc\r\n3\r\nd").await?;
    ensure!(answer.status == 408, "{answer:?}");
    let record = scene.record(1).await?;
    ensure!(
        record["outcome"] == "timeout" && record["start_us"] == 0,
        "it was started: {record}"
    );
    Ok(())
}
