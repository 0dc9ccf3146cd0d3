//! The life of a program: standard error, limits, the ways to end.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use warmbin_tests::{HostBuilder, TestHost, wait_until};

use super::Where::{Everywhere, Native};
use super::flow::{Version, client};
use super::processes::{PATIENCE, childless, lives, told_to_end};
use super::scene::{PLAIN, Scene, pull, puppet};
use super::section;

section! {
    "Life-cycle";
    l01 Everywhere, "8 KiB on standard error before the page" => "200; the text is in the record": stderr_first;
    l03 Native(STREAMS), on closes_stderr, "standard error closed, a pause, then the page" => "200": page_without_stderr;
    l04 Native(STREAMS), on closes_stdout, "standard output closed after the page, then a second of standard error" =>
        "the page is complete before; what is written later is in the record": late_stderr;
    l07 Everywhere, on a_second, "nothing is printed within `wall`" =>
        "504; the program is gone, the record says `timeout`": silent;
    l08 Native(SIGNALS), on deaf, "SIGTERM is ignored beyond `wall`" => "504; killed after `grace`": ignores_term;
    l09 Everywhere, on a_second, "head and half of the body, then nothing until `wall`" =>
        "the transfer is broken off: HTTP/1.0, 1.1 and 2": half_then_silence;
    l10 Everywhere, on strict, "`strict_exit`: half of the page, then exit code 1" =>
        "a reset, no last chunk, RST_STREAM: HTTP/1.0, 1.1 and 2": half_then_failure;
    l12 Everywhere, "all of the page, then exit code 1" => "200, whole; the record says `exit_nonzero`": late_failure;
    l20 Native(STREAMS), on lists_files, "a program that lists its open files" => "0, 1, 2, and the list": open_files;
    l21 Native(SIGNALS), on tells_signals, "a program that tells which signals are ignored and blocked" => "none": dispositions;
    l34 Everywhere, "SIGTERM to the host while a program runs" =>
        "no new connections; the answer is completed, then the host leaves": finishes_first;
    l36 Everywhere, "Upgrade: websocket, and h2c" => "ignored: 200 of HTTP/1.1, no Upgrade, an intact connection": upgrade;
}

const STREAMS: &str = "A module has no descriptors of the system's: its streams are the host's own.";
const SIGNALS: &str = "A module has no signals.";

fn closes_stderr(builder: HostBuilder) -> Result<HostBuilder> {
    let text = "#!/bin/sh\nexec 2>&-\nsleep 0.3\nprintf 'Content-Type: text/plain\\n\\npage'\n";
    builder.script("puppet", text, "")
}

fn closes_stdout(builder: HostBuilder) -> Result<HostBuilder> {
    let text = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s' $$\nexec >&-\n\
                for part in 1 2 3 4 5; do sleep 0.2; echo late >&2; done\n";
    builder.script("puppet", text, "")
}

fn a_second(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(builder.guest("puppet", "limits = { wall = \"1s\", grace = \"1s\" }"))
}

fn deaf(builder: HostBuilder) -> Result<HostBuilder> {
    let text = "#!/bin/sh\ntrap '' TERM\nsleep 99\nsleep 99\n";
    builder.script("puppet", text, "limits = { wall = \"1s\", grace = \"1s\" }")
}

fn strict(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(builder.guest("puppet", "strict_exit = true"))
}

fn lists_files(builder: HostBuilder) -> Result<HostBuilder> {
    let text = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nexec ls /proc/self/fd\n";
    builder.script("puppet", text, "")
}

fn tells_signals(builder: HostBuilder) -> Result<HostBuilder> {
    let text = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nexec cat /proc/self/status\n";
    builder.script("puppet", text, "")
}

/// What is remembered in full of the newest request.
pub(super) async fn detail(scene: &Scene<'_>, count: usize) -> Result<Value> {
    let id = scene.record(count).await?["id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    scene.host.document(&format!("/api/v1/requests/{id}")).await
}

async fn stderr_first(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .puppet(&format!("err-repeat 8192 e; {PLAIN}; out page"))
        .await?;
    ensure!(answer.status == 200 && answer.text() == "page", "{answer:?}");
    let record = detail(scene, 1).await?;
    let said = record["stderr"].as_str().unwrap_or_default();
    ensure!(
        said.len() == 8192 && said.bytes().all(|byte| byte == b'e'),
        "{record}"
    );
    Ok(())
}

async fn page_without_stderr(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.puppet("").await?;
    ensure!(answer.status == 200 && answer.text() == "page", "{answer:?}");
    Ok(())
}

async fn late_stderr(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.puppet("").await?;
    ensure!(answer.status == 200 && answer.complete, "{answer:?}");
    ensure!(lives(answer.text().parse()?), "the answer waited for the program");
    let record = detail(scene, 1).await?;
    ensure!(record["stderr"] == "late\n".repeat(5), "{record}");
    ensure!(record["outcome"] == "ok", "{record}");
    childless(scene.host).await
}

async fn silent(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.puppet("sleep 99000").await?;
    ensure!(answer.status == 504 && answer.complete, "{answer:?}");
    let record = scene.record(1).await?;
    ensure!(record["outcome"] == "timeout", "{record}");
    childless(scene.host).await
}

async fn ignores_term(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.puppet("").await?;
    ensure!(answer.status == 504, "{answer:?}");
    childless(scene.host).await
}

async fn half_then_silence(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; repeat 3000 y; sleep 99000");
    broken_everywhere(scene, &script, 3000, "timeout").await
}

async fn half_then_failure(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; repeat 3000 y; exit 1");
    broken_everywhere(scene, &script, 3000, "exit_nonzero").await
}

/// Does `script` over every version of HTTP: `bytes` of the body come, and then it shows that there should be more.
pub(super) async fn broken_everywhere(
    scene: &Scene<'_>,
    script: &str,
    bytes: usize,
    outcome: &str,
) -> Result<()> {
    let answer = scene.puppet(script).await?;
    ensure!(
        answer.status == 200 && answer.body.len() == bytes && !answer.complete,
        "HTTP/1.1: {answer:?}"
    );

    // A body of HTTP/1.0 ends with its connection: only a reset tells that it is not whole.
    let (text, error) = to_the_end(scene, script).await?;
    ensure!(
        text.starts_with(b"HTTP/1.0 200 ") && text.ends_with(&vec![b'y'; bytes]),
        "HTTP/1.0: {} bytes",
        text.len()
    );
    ensure!(
        error == Some(std::io::ErrorKind::ConnectionReset),
        "HTTP/1.0: {error:?}"
    );

    let mut answer = client(Version::Two)?
        .get(format!("{}/cgi-bin/puppet", scene.host.programs()))
        .header("Warmbin-Mode", scene.mode)
        .header("Puppet", script)
        .send()
        .await?;
    ensure!(answer.status() == 200, "HTTP/2: {answer:?}");
    let mut seen = 0;
    let error = loop {
        match answer.chunk().await {
            Ok(Some(piece)) => seen += piece.len(),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    ensure!(
        seen == bytes && error.is_some(),
        "HTTP/2: {seen} bytes, then {error:?}"
    );
    let record = scene.record(3).await?;
    ensure!(record["outcome"] == outcome, "{record}");
    Ok(())
}

/// Everything that comes of `script` on a connection of HTTP/1.0, and how the connection ended if not well.
async fn to_the_end(scene: &Scene<'_>, script: &str) -> Result<(Vec<u8>, Option<std::io::ErrorKind>)> {
    let mut stream = TcpStream::connect(scene.host.programs().trim_start_matches("http://")).await?;
    let request = scene.request("GET /cgi-bin/puppet HTTP/1.0", &pull(script));
    stream.write_all(request.as_bytes()).await?;
    let mut text = Vec::new();
    loop {
        match tokio::time::timeout(PATIENCE, stream.read_buf(&mut text))
            .await
            .context("the connection does not end")?
        {
            Ok(0) => return Ok((text, None)),
            Ok(_) => {}
            Err(error) => return Ok((text, Some(error.kind()))),
        }
    }
}

async fn late_failure(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; out all of it; exit 1");
    let answer = scene.puppet(&script).await?;
    ensure!(
        answer.status == 200 && answer.complete && answer.text() == "all of it",
        "{answer:?}"
    );
    let record = scene.record(1).await?;
    ensure!(record["outcome"] == "exit_nonzero", "{record}");
    // Nor does it look broken where the end of the connection is the end of the body.
    let (text, error) = to_the_end(scene, &script).await?;
    ensure!(text.ends_with(b"all of it") && error.is_none(), "{error:?}");
    Ok(())
}

async fn open_files(scene: &Scene<'_>) -> Result<()> {
    // Others run, too, and their pipes are open in the host.
    let busy = futures_util::future::try_join_all((0..8).map(|_| scene.puppet(""))).await?;
    for answer in busy {
        ensure!(answer.text() == "0\n1\n2\n3\n", "{}", answer.text());
    }
    Ok(())
}

async fn dispositions(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.puppet("").await?.text();
    for figure in ["SigIgn:", "SigBlk:", "ShdPnd:"] {
        let line = answer
            .lines()
            .find_map(|line| line.strip_prefix(figure))
            .context("the figure is listed")?;
        ensure!(line.trim().bytes().all(|digit| digit == b'0'), "{figure}{line}");
    }
    Ok(())
}

async fn finishes_first(scene: &Scene<'_>) -> Result<()> {
    // It ends the host, so each mode has one of its own.
    let host = puppet(TestHost::builder()?)?.start().await?;
    let scene = Scene::new(&host, scene.mode);
    let mut connection = scene.connect().await?;
    let fields = format!(
        "{}Content-Length: 1\r\n",
        pull(&format!("{PLAIN}; out one; read 1; out two"))
    );
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.0", &fields);
    connection.send(request.as_bytes()).await?;
    connection.until(b"one").await?;
    told_to_end(&host).await?;
    connection.send(b"x").await?;
    connection.until(b"two").await?;
    wait_until("the host has left", PATIENCE, async || {
        Ok((!lives(host.pid())).then_some(()))
    })
    .await
}

async fn upgrade(scene: &Scene<'_>) -> Result<()> {
    let websocket = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                     Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let h2c =
        "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n";
    let mut connection = scene.connect().await?;
    for fields in [websocket, h2c, ""] {
        let fields = format!("{fields}{}", pull(&format!("{PLAIN}; out page")));
        let request = scene.request("GET /cgi-bin/puppet HTTP/1.1", &fields);
        connection.send(request.as_bytes()).await?;
        let head = connection.head().await?;
        ensure!(
            head.status == 200 && head.header("upgrade").is_none(),
            "{fields}: {head:?}"
        );
        connection.until(b"page\r\n0\r\n\r\n").await?;
    }
    Ok(())
}
