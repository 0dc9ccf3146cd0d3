//! What a program is given to read (RFC 3875 §4.2).

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use warmbin_tests::{Answer, Connection, HostBuilder, chunked};

use super::Where::Everywhere;
use super::flow::{Flow, Version, client};
use super::processes::{childless, growth_kib};
use super::scene::{PLAIN, Scene, Variables, pull, puppet};
use super::section;

section! {
    "Request bodies";
    b01 Everywhere, "POST of 0, 1, 4095, 4096, 4097, 65535, 65536, 65537 and 1,000,003 bytes, also over HTTP/2" =>
        "the very bytes": sizes;
    b02 Everywhere, "a program that reads to the end, whatever CONTENT_LENGTH says" => "the body, then the end": end_of_input;
    b04 Everywhere, on roomy, "1 GiB" => "its sum is right; the host grows by less than 64 MiB": one_gib;
    b03 Everywhere, "8 MiB over HTTP/2, also in chunks over HTTP/1.1, to a program that does not read" =>
        "200, the client sees no break, and its next request is answered": never_read_by_clients;
    b05 Everywhere, "8 MiB to a program that does not read" => "200 at once; the connection goes on": never_read;
    b06 Everywhere, on closers, "8 MiB to a program that closes standard input and prints a second later" => "200": closed_input;
    b07 Everywhere, "8 MiB to a program that writes what it reads as it reads it, also over HTTP/2" => "the very bytes; nobody waits for anybody": cat;
    b08 Everywhere, "8 MiB to a program that writes 1 MiB before it reads, also over HTTP/2" => "both": writes_first;
    b11 Everywhere, "over HTTP/2, a body that is shorter or longer than its content-length, and one whose stream is reset" =>
        "the program is ended and reaped, and the record says why": not_as_said;
    b13 Everywhere, "a body that is cut off half way, with and without a length" =>
        "the program is ended and reaped, and the record says why": cut_off;
    b14 Everywhere, "50 bytes, one every 20 ms, while others ask" => "both are served": slow_client;
    b20 Everywhere, on uploads, "a form with a file of 5 MB, with a length and in chunks" =>
        "the file's size and sum": form;
    b21 Everywhere, "GET with a body" => "it is delivered": with_get;
    b22 Everywhere, "PUT, DELETE, PATCH, OPTIONS and REPORT with a body" => "it is delivered; REQUEST_METHOD is right": other_methods;
    b23 Everywhere, "HEAD with a body, then another request" => "no body in the answer; the next one is whole": with_head;
    b24 Everywhere, "20 clients with chunks at once" => "each gets its own": many_clients;
    b29 Everywhere, "a body with Content-Encoding" => "as it is, and HTTP_CONTENT_ENCODING": encoded;
}

const MIB: usize = 1 << 20;

fn roomy(builder: HostBuilder) -> Result<HostBuilder> {
    puppet(builder.table("[limits]\nrequest_body = \"2GiB\"\nwall = \"5m\"\nidle = \"1m\"\ncpu = \"5m\""))
}

fn uploads(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(builder.guest("upload", ""))
}

/// Closes descriptor 0, waits, prints.
const CLOSER: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 100) "Content-Type: text/plain\n\nlater")
  (func (export "_start")
    (drop (call $close (i32.const 0)))
    ;; A subscription to the monotonic clock: 1 s from now.
    (i32.store (i32.const 216) (i32.const 1))
    (i64.store (i32.const 224) (i64.const 1000000000))
    (drop (call $poll (i32.const 200) (i32.const 304) (i32.const 1) (i32.const 400)))
    (i32.store (i32.const 0) (i32.const 100))
    (i32.store (i32.const 4) (i32.const 31))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))))"#;

fn closers(builder: HostBuilder) -> Result<HostBuilder> {
    let module = builder.folder().join("closer.wasm");
    std::fs::write(&module, wat::parse_str(CLOSER)?)?;
    let script = "#!/bin/sh\nexec <&-\nsleep 1\nprintf 'Content-Type: text/plain\\n\\nlater'\n";
    let builder = builder.script("closer", script, &format!("wasm = {module:?}"))?;
    Ok(builder)
}

/// Bytes that repeat nowhere, so that a lost, doubled or moved piece shows.
pub(super) fn bytes(length: usize) -> Vec<u8> {
    (0_u64..)
        .flat_map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes())
        .take(length)
        .collect()
}

/// The answer to a POST of `body` to the puppet.
pub(super) async fn post(scene: &Scene<'_>, script: &str, fields: &str, body: &[u8]) -> Result<Answer> {
    let fields = format!("{}Content-Length: {}\r\n{fields}", pull(script), body.len());
    let mut request = scene
        .request("POST /cgi-bin/puppet HTTP/1.1", &fields)
        .into_bytes();
    request.extend_from_slice(body);
    scene.raw(&request).await
}

/// Status and body of the answer to a POST over HTTP/2.
pub(super) async fn post_over_http2(
    scene: &Scene<'_>,
    script: &str,
    body: Vec<u8>,
) -> Result<(u16, Vec<u8>)> {
    let request = scene.over_http2(Method::POST, "/cgi-bin/puppet", script)?;
    let answer = request.body(body).send().await?;
    Ok((answer.status().as_u16(), answer.bytes().await?.to_vec()))
}

/// Writes `body` while the answer is being read: neither side may wait for the other to finish.
async fn both_ways(scene: &Scene<'_>, script: &str, body: Vec<u8>) -> Result<(u16, Vec<u8>)> {
    let answer = scene
        .host
        .post_in(scene.mode, "/cgi-bin/puppet")
        .header("Puppet", script)
        .body(body)
        .send()
        .await?;
    Ok((answer.status().as_u16(), answer.bytes().await?.to_vec()))
}

async fn sizes(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; copy");
    for length in [0, 1, 4095, 4096, 4097, 65_535, 65_536, 65_537, 1_000_003] {
        let sent = bytes(length);
        let (status, received) = both_ways(scene, &script, sent.clone()).await?;
        ensure!(
            status == 200 && received == sent,
            "{length} bytes: {status}, {} bytes",
            received.len()
        );
        let (status, received) = post_over_http2(scene, &script, sent.clone()).await?;
        ensure!(
            status == 200 && received == sent,
            "{length} bytes over HTTP/2: {status}"
        );
    }
    Ok(())
}

async fn end_of_input(scene: &Scene<'_>) -> Result<()> {
    let answer = post(scene, &format!("{PLAIN}; copy"), "", b"fourteen bytes").await?;
    ensure!(answer.text() == "fourteen bytes" && answer.complete, "{answer:?}");
    Ok(())
}

async fn one_gib(scene: &Scene<'_>) -> Result<()> {
    // What a first request of this mode needs once is not growth.
    post(scene, &format!("{PLAIN}; count"), "", b"x").await?;
    let grown = growth_kib(scene.host, send_one_gib(scene)).await?;
    ensure!(grown < 64 << 10, "the host grew by {grown} KiB");
    Ok(())
}

async fn send_one_gib(scene: &Scene<'_>) -> Result<()> {
    let fields = format!(
        "{}Content-Length: {}\r\n",
        pull(&format!("{PLAIN}; count")),
        1024 * MIB
    );
    let mut connection = scene.connect().await?;
    connection
        .send(scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields).as_bytes())
        .await?;
    let mut piece = bytes(MIB);
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for number in 0_u64..1024 {
        // No two pieces are the same.
        piece[..8].copy_from_slice(&number.to_be_bytes());
        for word in piece.chunks_exact(8) {
            sum = (sum ^ u64::from_be_bytes(word.try_into()?)).wrapping_mul(0x0100_0000_01b3);
        }
        connection.send(&piece).await?;
    }
    let answer = connection.answer(false).await?;
    let expected = format!("{} {sum:016x}", 1024 * MIB);
    ensure!(
        answer.status == 200 && answer.text() == expected,
        "{answer:?}, not {expected}"
    );
    Ok(())
}

/// That another request on this connection is answered, unless the host said that it would close.
pub(super) async fn goes_on(scene: &Scene<'_>, mut connection: Connection, answer: &Answer) -> Result<()> {
    if answer.header("connection") == Some("close") {
        return Ok(());
    }
    let next = scene.request(
        "GET /cgi-bin/puppet HTTP/1.1",
        &pull(&format!("{PLAIN}; out next")),
    );
    connection.send(next.as_bytes()).await?;
    let next = connection.answer(false).await?;
    ensure!(next.text() == "next", "after {answer:?}: {next:?}");
    Ok(())
}

async fn never_read(scene: &Scene<'_>) -> Result<()> {
    let sent = bytes(8 << 20);
    let fields = format!(
        "{}Content-Length: {}\r\n",
        pull(&format!("{PLAIN}; out done")),
        sent.len()
    );
    let mut connection = scene.connect().await?;
    connection
        .send(scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields).as_bytes())
        .await?;
    // Its answer comes before the body has gone.
    let head = connection.head().await?;
    ensure!(head.status == 200, "{head:?}");
    let rest = if head.header("transfer-encoding").is_some() {
        "4\r\ndone\r\n0\r\n\r\n"
    } else {
        "done"
    };
    let body = connection.until(rest.as_bytes()).await?;
    ensure!(body == rest.as_bytes(), "{:?}", String::from_utf8_lossy(&body));
    connection.send(&sent).await?;
    goes_on(scene, connection, &head).await
}

async fn never_read_by_clients(scene: &Scene<'_>) -> Result<()> {
    for (version, length_known) in [(Version::Two, true), (Version::Two, false), (Version::One, false)] {
        let client = client(version)?;
        for round in 0..3 {
            let sent = bytes(8 << 20);
            let body = if length_known {
                sent.into()
            } else {
                chunked(&sent, 50_000)
            };
            let answer = client
                .post(format!("{}/cgi-bin/puppet", scene.host.programs()))
                .header("Warmbin-Mode", scene.mode)
                .header("Puppet", format!("{PLAIN}; out done"))
                .body(body)
                .send()
                .await
                .with_context(|| format!("{version:?}, round {round}"))?;
            let (status, text) = (answer.status(), answer.text().await?);
            ensure!(status == 200 && text == "done", "{version:?}: {status}: {text}");
        }
    }
    Ok(())
}

async fn not_as_said(scene: &Scene<'_>) -> Result<()> {
    let client = client(Version::Two)?;
    let script = format!("{PLAIN}; read 5; out begun; copy; sleep 20000");
    for (count, said, more, reset) in [
        (1, 1000, &b""[..], false),
        (2, 6, b"longer", false),
        (3, 1000, b"", true),
    ] {
        let mut flow = Flow::begin(scene, &client, &script, said).await?;
        flow.send(b"hello")?;
        flow.expect(b"begun").await?;
        if reset {
            drop(flow);
        } else {
            flow.send(more)?;
            ensure!(flow.end().await.is_err(), "the answer is whole");
        }
        let record = scene.record(count).await?;
        ensure!(record["outcome"] == "client_gone", "{count}: {record}");
    }
    childless(scene.host).await
}

async fn form(scene: &Scene<'_>) -> Result<()> {
    let file = bytes(5_000_000);
    let sum = file.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut body =
        b"--mark\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n".to_vec();
    body.extend_from_slice(&file);
    body.extend_from_slice(b"\r\n--mark--\r\n");
    for body in [chunked(&body, 30_000), body.into()] {
        let answer = scene
            .host
            .post_in(scene.mode, "/cgi-bin/upload")
            .header("Content-Type", "multipart/form-data; boundary=mark")
            .body(body)
            .send()
            .await?;
        let text = answer.text().await?;
        let expected = format!("\"file\" file=\"f\" size=5000000 fnv1a={sum:016x}\n");
        ensure!(text == expected, "{text}, not {expected}");
    }
    Ok(())
}

async fn closed_input(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .host
        .post_in(scene.mode, "/cgi-bin/closer")
        .body(bytes(8 << 20))
        .send()
        .await?;
    let (status, text) = (answer.status(), answer.text().await?);
    let record = scene.record(1).await?;
    ensure!(status == 200 && text == "later", "{status} {text}: {record}");
    Ok(())
}

async fn cat(scene: &Scene<'_>) -> Result<()> {
    let sent = bytes(8 << 20);
    let script = format!("{PLAIN}; copy");
    for over_http2 in [false, true] {
        let (status, received) = if over_http2 {
            post_over_http2(scene, &script, sent.clone()).await?
        } else {
            both_ways(scene, &script, sent.clone()).await?
        };
        ensure!(
            status == 200 && received == sent,
            "{status}, {} bytes, over HTTP/2: {over_http2}",
            received.len()
        );
    }
    Ok(())
}

async fn writes_first(scene: &Scene<'_>) -> Result<()> {
    let sent = bytes(8 << 20);
    let script = format!("{PLAIN}; repeat 1048576 x; copy");
    for over_http2 in [false, true] {
        let (status, received) = if over_http2 {
            post_over_http2(scene, &script, sent.clone()).await?
        } else {
            both_ways(scene, &script, sent.clone()).await?
        };
        let (first, rest) = received.split_at_checked(1 << 20).context("too short")?;
        ensure!(
            status == 200 && first.iter().all(|byte| *byte == b'x') && rest == sent,
            "{status}"
        );
    }
    Ok(())
}

async fn cut_off(scene: &Scene<'_>) -> Result<()> {
    for (count, framing) in [
        (1, "Content-Length: 1000\r\n"),
        (2, "Transfer-Encoding: chunked\r\n"),
    ] {
        let fields = format!("{}{framing}", pull(&format!("{PLAIN}; copy; sleep 20000")));
        let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
        let mut connection = scene.connect().await?;
        connection.send(format!("{request}5\r\nhello").as_bytes()).await?;
        if count == 1 {
            // It is running: its output has begun.
            connection.until(b"\r\n\r\n").await?;
        }
        drop(connection);
        let record = scene.record(count).await?;
        ensure!(record["outcome"] == "client_gone", "{record}");
    }
    childless(scene.host).await
}

async fn slow_client(scene: &Scene<'_>) -> Result<()> {
    let fields = format!("{}Content-Length: 50\r\n", pull(&format!("{PLAIN}; copy")));
    let mut connection = scene.connect().await?;
    connection
        .send(scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields).as_bytes())
        .await?;
    let sent = bytes(50);
    for byte in &sent {
        connection.send(&[*byte]).await?;
        tokio::time::sleep(Duration::from_millis(20)).await;
        if *byte % 8 == 0 {
            let other = scene.puppet(&format!("{PLAIN}; out other")).await?;
            ensure!(other.text() == "other", "{other:?}");
        }
    }
    let answer = connection.answer(false).await?;
    ensure!(answer.status == 200 && answer.body == sent, "{answer:?}");
    Ok(())
}

async fn with_get(scene: &Scene<'_>) -> Result<()> {
    let fields = format!("{}Content-Length: 14\r\n", pull(&format!("{PLAIN}; copy")));
    let request = scene.request("GET /cgi-bin/puppet HTTP/1.1", &fields);
    let answer = scene.raw(format!("{request}fourteen bytes").as_bytes()).await?;
    ensure!(answer.text() == "fourteen bytes", "{answer:?}");
    Ok(())
}

async fn other_methods(scene: &Scene<'_>) -> Result<()> {
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "REPORT"] {
        let fields = format!(
            "{}Content-Length: 4\r\n",
            pull(&format!("{PLAIN}; copy; out %0A; env"))
        );
        let request = scene.request(&format!("{method} /cgi-bin/puppet HTTP/1.1"), &fields);
        let answer = scene.raw(format!("{request}body").as_bytes()).await?;
        ensure!(answer.text().starts_with("body\n"), "{method}: {answer:?}");
        Variables::of(&answer)?.hold(&[("REQUEST_METHOD", Some(method)), ("CONTENT_LENGTH", Some("4"))])?;
    }
    Ok(())
}

async fn with_head(scene: &Scene<'_>) -> Result<()> {
    let fields = format!("{}Content-Length: 4\r\n", pull(&format!("{PLAIN}; copy")));
    let request = scene.request("HEAD /cgi-bin/puppet HTTP/1.1", &fields);
    let mut connection = scene.connect().await?;
    connection.send(format!("{request}body").as_bytes()).await?;
    let answer = connection.answer(true).await?;
    ensure!(answer.status == 200, "{answer:?}");
    goes_on(scene, connection, &answer).await
}

async fn many_clients(scene: &Scene<'_>) -> Result<()> {
    let one = |number: usize| async move {
        let sent = bytes(50_000 + 997 * number);
        let answer = scene
            .host
            .post_in(scene.mode, "/cgi-bin/puppet")
            .header("Puppet", format!("{PLAIN}; copy"))
            .body(chunked(&sent, 1_000 + number))
            .send()
            .await?;
        let received = answer.bytes().await?;
        ensure!(received == sent, "client {number}: {} bytes", received.len());
        Ok(())
    };
    futures_util::future::try_join_all((0..20).map(one)).await?;
    Ok(())
}

async fn encoded(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; copy; out %0A; env");
    let answer = post(scene, &script, "Content-Encoding: gzip\r\n", b"\x1f\x8b\0rest").await?;
    ensure!(answer.body.starts_with(b"\x1f\x8b\0rest\n"), "{answer:?}");
    Variables::of(&answer)?.hold(&[
        ("HTTP_CONTENT_ENCODING", Some("gzip")),
        ("CONTENT_LENGTH", Some("7")),
    ])
}
