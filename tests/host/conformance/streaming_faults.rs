//! Faults that users of other hosts reported, about streams: output that is held back.

use anyhow::{Context, Result, ensure};

use super::Where::Everywhere;
use super::flow::{Flow, VERSIONS, Version, client, line_by_line};
use super::scene::{PLAIN, Scene, pull};
use super::section;

section! {
    "Faults seen in other hosts: streams";
    x12 Everywhere, "a line at a time behind a Status" => "each arrives before the next is printed": with_status;
    x16 Everywhere, "200 KB, as much on standard error, 200 KB more, over HTTP/2" => "all of it": beside_stderr;
    x17 Everywhere, "events over HTTP/2, two streams on one connection" => "each arrives before the next is printed": two_streams;
    x21 Everywhere, "1 MiB on standard error while the client does not read" => "the program goes on, the page is whole": noise;
    x89 Everywhere, "parts of a line, a byte at a time" => "each byte arrives before the next is printed": bytes;
    x91 Everywhere, "output before the request body has come, chunk by chunk" => "passed on while the request goes on": both_ways;
    x99 Everywhere, "a flush behind every kind of head: HEAD, HTTP/1.0, a stated length, an error status" =>
        "no kind fails, and what is printed arrives": every_kind;
    x100 Everywhere, "8 KiB less a byte, then a pause" => "all of it arrives before the next is printed": odd_lump;
}

async fn with_status(scene: &Scene<'_>) -> Result<()> {
    for version in VERSIONS {
        let head = "Status: 202 Accepted%0AContent-Type: text/plain";
        line_by_line(scene, version, head, 202).await?;
    }
    Ok(())
}

async fn beside_stderr(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; repeat 200000 x; err-repeat 200000 e; repeat 200000 z");
    let answer = client(Version::Two)?
        .get(format!("{}/cgi-bin/puppet", scene.host.programs()))
        .header("Warmbin-Mode", scene.mode)
        .header("Puppet", script)
        .send()
        .await?;
    let body = answer.bytes().await?;
    ensure!(
        body.len() == 400_000 && body.starts_with(b"x") && body.ends_with(b"z"),
        "{} bytes",
        body.len()
    );
    Ok(())
}

async fn two_streams(scene: &Scene<'_>) -> Result<()> {
    let client = client(Version::Two)?;
    let script =
        "out Content-Type: text/event-stream%0A%0A; read 1; out data: 1%0A%0A; read 1; out data: 2%0A%0A";
    let mut first = Flow::begin(scene, &client, script, 2).await?;
    let mut second = Flow::begin(scene, &client, script, 2).await?;
    for event in [b"data: 1\n\n", b"data: 2\n\n"] {
        for flow in [&mut second, &mut first] {
            flow.send(b"x")?;
            flow.expect(event).await?;
        }
    }
    first.end().await?;
    second.end().await
}

async fn noise(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; out head; err-repeat 1048576 e; repeat 300000 y; err-repeat 1048576 e");
    let mut connection = scene.connect().await?;
    let request = scene.request("GET /cgi-bin/puppet HTTP/1.1", &pull(&script));
    connection.send(request.as_bytes()).await?;
    let mut other = scene.connect().await?;
    other.send(request.as_bytes()).await?;
    for connection in [&mut other, &mut connection] {
        let answer = connection.answer(false).await?;
        ensure!(
            answer.complete && answer.body.len() == 300_004,
            "{} bytes",
            answer.body.len()
        );
    }
    Ok(())
}

async fn bytes(scene: &Scene<'_>) -> Result<()> {
    for version in VERSIONS {
        let script = format!("{PLAIN}; read 1; out a; read 1; out b; read 1; out c");
        let mut flow = Flow::begin(scene, &client(version)?, &script, 3).await?;
        for byte in [b"a", b"b", b"c"] {
            flow.send(b"x")?;
            flow.expect(byte).await?;
        }
        flow.end().await?;
    }
    Ok(())
}

async fn both_ways(scene: &Scene<'_>) -> Result<()> {
    for version in VERSIONS {
        let script = format!("{PLAIN}; out first; copy");
        let mut flow = Flow::begin(scene, &client(version)?, &script, 150_000).await?;
        flow.expect(b"first").await?;
        for letter in [b'a', b'b', b'c'] {
            let piece = vec![letter; 50_000];
            flow.send(&piece)?;
            flow.expect(&piece).await?;
        }
        flow.end().await?;
    }
    Ok(())
}

async fn every_kind(scene: &Scene<'_>) -> Result<()> {
    let kinds = [
        ("HEAD", "1.1", "", 200),
        ("POST", "1.0", "", 200),
        ("POST", "1.1", "Content-Length: 6%0A", 200),
        ("POST", "1.1", "Status: 404 Not Found%0A", 404),
        ("POST", "1.1", "", 200),
    ];
    for (method, version, head, status) in kinds {
        let script = format!("out Content-Type: text/plain%0A{head}%0Aone; read 1; out two");
        let fields = format!("{}Content-Length: 1\r\n", pull(&script));
        let line = format!("{method} /cgi-bin/puppet HTTP/{version}");
        let mut connection = scene.connect().await?;
        connection.send(scene.request(&line, &fields).as_bytes()).await?;
        let answer = connection.head().await.with_context(|| line.clone())?;
        ensure!(answer.status == status, "{line} {head}: {answer:?}");
        if method == "HEAD" {
            continue;
        }
        connection.until(b"one").await.with_context(|| line.clone())?;
        connection.send(b"x").await?;
        connection.until(b"two").await.with_context(|| line.clone())?;
    }
    Ok(())
}

async fn odd_lump(scene: &Scene<'_>) -> Result<()> {
    for version in VERSIONS {
        let script = format!("{PLAIN}; read 1; repeat 8191 a; read 1; repeat 65537 b; read 1; out c");
        let mut flow = Flow::begin(scene, &client(version)?, &script, 3).await?;
        for lump in [vec![b'a'; 8191], vec![b'b'; 65_537], vec![b'c']] {
            flow.send(b"x")?;
            flow.expect(&lump).await?;
        }
        flow.end().await?;
    }
    Ok(())
}
