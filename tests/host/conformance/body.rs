//! What a program is given to read (RFC 3875 §4.2).

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use warmbin_tests::{Answer, Connection, HostBuilder, chunked};

use super::Where::{BeforeTheMode, Everywhere};
use super::scene::{ENV, PLAIN, Scene, Variables, pull, puppet};
use super::section;

section! {
    "Request bodies";
    b01 Everywhere, "POST of 0, 1, 4095, 4096, 4097, 65535, 65536, 65537 and 1,000,003 bytes, also over HTTP/2" =>
        "the very bytes": sizes;
    b02 Everywhere, "a program that reads to the end, whatever CONTENT_LENGTH says" => "the body, then the end": end_of_input;
    b04 Everywhere, on roomy, "1 GiB" => "its sum is right; the host grows by less than 64 MiB": one_gib;
    b05 Everywhere, "8 MiB to a program that does not read" => "200 at once; the connection goes on": never_read;
    b06 Everywhere, on closers, "8 MiB to a program that closes standard input and prints a second later" => "200": closed_input;
    b07 Everywhere, "8 MiB to a program that writes what it reads as it reads it" => "the very bytes; nobody waits for anybody": cat;
    b08 Everywhere, "8 MiB to a program that writes 1 MiB before it reads, also over HTTP/2" => "both": writes_first;
    b09 Everywhere, "chunks, with sizes in lower and upper case, with leading zeros" =>
        "the body without framing; CONTENT_LENGTH is its length": chunks;
    b10 Everywhere, "chunks with extensions and trailer fields" => "the body alone; nothing of them in the environment": extensions;
    b12 BeforeTheMode, "chunked and Content-Length" => "400, or the chunks count and the connection ends": both_framings;
    b13 Everywhere, "a body that is cut off half way, with and without a length" =>
        "the program is ended and the record says why": cut_off;
    b14 Everywhere, "50 bytes, one every 20 ms, while others ask" => "both are served": slow_client;
    b15 Everywhere, "`Expect: 100-continue`, to a program that reads" => "100, then the body arrives": invited;
    b16 Everywhere, "`Expect: 100-continue` and 50 MB, to a program that answers 403 without reading" =>
        "403, and no 100 before it": not_invited;
    b17 Everywhere, on narrow, "a Content-Length above the limit, also over HTTP/2" =>
        "413 before the program starts": length_over_limit;
    b18 Everywhere, on narrow, "chunks above the limit" => "413; nothing is left in the data folder": chunks_over_limit;
    b19 Everywhere, on narrow, "exactly as much as the limit, with and without a length" => "200": at_limit;
    b21 Everywhere, "GET with a body" => "it is delivered": with_get;
    b22 Everywhere, "PUT, DELETE, PATCH, OPTIONS and REPORT with a body" => "it is delivered; REQUEST_METHOD is right": other_methods;
    b23 Everywhere, "HEAD with a body, then another request" => "no body in the answer; the next one is whole": with_head;
    b24 Everywhere, "20 clients with chunks at once" => "each gets its own": many_clients;
    b25 BeforeTheMode, "a Content-Length of +5, 5,5, 5 6, 0x5, -1, nothing, or 99999999999999999999" => "400": bad_lengths;
    b26 Everywhere, "Content-Length twice with the same value, and with leading zeros" => "400, or the length it says": odd_lengths;
    b27 BeforeTheMode, "chunks with a bad size, without CR LF, with a sign, over the size of numbers" => "400": bad_chunks;
    b28 BeforeTheMode, "`Transfer-Encoding: chunked, identity`, `gzip`, with a space before the colon, folded" =>
        "400 or 501, and the connection ends": smuggling;
    b29 Everywhere, "a body with Content-Encoding" => "as it is, and HTTP_CONTENT_ENCODING": encoded;
    b30 Everywhere, "300 KB in chunks, to a program that leaves at once" => "200; the connection goes on": unread_chunks;
}

fn roomy(builder: HostBuilder) -> Result<HostBuilder> {
    puppet(builder.table("[limits]\nrequest_body = \"2GiB\"\nwall = \"5m\"\nidle = \"1m\"\ncpu = \"5m\""))
}

fn narrow(builder: HostBuilder) -> Result<HostBuilder> {
    puppet(builder.table("[limits]\nrequest_body = \"10KiB\""))
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
async fn post(scene: &Scene<'_>, script: &str, fields: &str, body: &[u8]) -> Result<Answer> {
    let fields = format!("{}Content-Length: {}\r\n{fields}", pull(script), body.len());
    let mut request = scene
        .request("POST /cgi-bin/puppet HTTP/1.1", &fields)
        .into_bytes();
    request.extend_from_slice(body);
    scene.raw(&request).await
}

/// The answer to a POST of these bytes as they are, said to be chunks.
async fn post_chunks(scene: &Scene<'_>, script: &str, chunks: &str) -> Result<Answer> {
    let fields = format!("{}Transfer-Encoding: chunked\r\n", pull(script));
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
    scene.raw(format!("{request}{chunks}").as_bytes()).await
}

/// Status and body of the answer to a POST over HTTP/2.
async fn post_over_http2(scene: &Scene<'_>, script: &str, body: Vec<u8>) -> Result<(u16, Vec<u8>)> {
    let client = reqwest::Client::builder()
        .http2_prior_knowledge()
        .no_proxy()
        .build()?;
    let answer = client
        .post(format!("{}/cgi-bin/puppet", scene.host.programs()))
        .header("Warmbin-Mode", scene.mode)
        .header("Puppet", script)
        .body(body)
        .send()
        .await?;
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

/// The most that a process held in memory, in KiB.
pub(super) fn resident(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let words = line.context("a process has a peak")?.trim();
    Ok(words.trim_end_matches(" kB").parse()?)
}

async fn one_gib(scene: &Scene<'_>) -> Result<()> {
    const MIB: usize = 1 << 20;
    // What a first request of this mode needs once is not growth.
    post(scene, &format!("{PLAIN}; count"), "", b"x").await?;
    let before = resident(scene.host.pid())?;
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
    let grown = resident(scene.host.pid())?.saturating_sub(before);
    ensure!(grown < 64 << 10, "the host grew by {grown} KiB");
    Ok(())
}

/// That another request on this connection is answered, unless the host said that it would close.
async fn goes_on(scene: &Scene<'_>, mut connection: Connection, answer: &Answer) -> Result<()> {
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
    let (status, received) = both_ways(scene, &format!("{PLAIN}; copy"), sent.clone()).await?;
    ensure!(
        status == 200 && received == sent,
        "{status}, {} bytes",
        received.len()
    );
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

async fn chunks(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; copy");
    let long = "0123456789abcdef".repeat(0x2b);
    let cases = [
        ("a\r\n0123456789\r\n0\r\n\r\n".to_owned(), "0123456789".to_owned()),
        ("A\r\n0123456789\r\n0\r\n\r\n".to_owned(), "0123456789".to_owned()),
        (
            "000a\r\n0123456789\r\n000\r\n\r\n".to_owned(),
            "0123456789".to_owned(),
        ),
        (
            "1\r\na\r\n1\r\nb\r\n2\r\n\r\n\r\n0\r\n\r\n".to_owned(),
            "ab\r\n".to_owned(),
        ),
        (format!("2B0\r\n{long}\r\n0\r\n\r\n"), long),
        ("0\r\n\r\n".to_owned(), String::new()),
    ];
    for (chunks, body) in cases {
        let answer = post_chunks(scene, &script, &chunks).await?;
        ensure!(
            answer.status == 200 && answer.text() == body,
            "{chunks}: {answer:?}"
        );
    }
    let answer = post_chunks(
        scene,
        &format!("read 99; {ENV}"),
        "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n",
    )
    .await?;
    Variables::of(&answer)?.hold(&[("CONTENT_LENGTH", Some("7")), ("HTTP_TRANSFER_ENCODING", None)])
}

async fn extensions(scene: &Scene<'_>) -> Result<()> {
    let chunks = "3;name=value;other=\"a;b\"\r\nabc\r\n0;last\r\nX-Trailer: 1\r\nContent-Length: 99\r\n\r\n";
    let answer = post_chunks(scene, &format!("{PLAIN}; copy"), chunks).await?;
    ensure!(answer.status == 200 && answer.text() == "abc", "{answer:?}");
    let answer = post_chunks(scene, &format!("read 99; {ENV}"), chunks).await?;
    Variables::of(&answer)?.hold(&[("CONTENT_LENGTH", Some("3")), ("HTTP_X_TRAILER", None)])
}

async fn both_framings(scene: &Scene<'_>) -> Result<()> {
    let fields = format!(
        "{}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        pull(&format!("{PLAIN}; copy"))
    );
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
    let hidden = scene.request(
        "GET /cgi-bin/puppet HTTP/1.1",
        &pull(&format!("{PLAIN}; out hidden")),
    );
    let mut connection = scene.connect().await?;
    connection
        .send(format!("{request}3\r\nabc\r\n0\r\n\r\n{hidden}").as_bytes())
        .await?;
    let answer = connection.answer(false).await?;
    let taken = answer.status == 200 && answer.text() == "abc";
    ensure!(answer.status == 400 || taken, "{answer:?}");
    // RFC 9112 §6.1: whoever sends both is not to be trusted with another request.
    ensure!(connection.head().await.is_err(), "the connection goes on");
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
    Ok(())
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

async fn invited(scene: &Scene<'_>) -> Result<()> {
    let fields = format!(
        "{}Content-Length: 5\r\nExpect: 100-continue\r\n",
        pull(&format!("{PLAIN}; copy"))
    );
    let mut connection = scene.connect().await?;
    connection
        .send(scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields).as_bytes())
        .await?;
    let interim = connection.head().await?;
    ensure!(interim.status == 100, "{interim:?}");
    connection.send(b"hello").await?;
    let answer = connection.answer(false).await?;
    ensure!(answer.status == 200 && answer.text() == "hello", "{answer:?}");
    Ok(())
}

async fn not_invited(scene: &Scene<'_>) -> Result<()> {
    let fields = format!(
        "{}Content-Length: 50000000\r\nExpect: 100-continue\r\n",
        pull("out Status: 403%0AContent-Type: text/plain%0A%0Ano")
    );
    let mut connection = scene.connect().await?;
    connection
        .send(scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields).as_bytes())
        .await?;
    let answer = connection.head().await?;
    ensure!(answer.status == 403, "{answer:?}");
    Ok(())
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
    let left: Vec<_> = std::fs::read_dir(scene.host.folder().join("data"))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.contains("tmp"))
        .collect();
    ensure!(left.is_empty(), "{left:?}");
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

async fn refused(scene: &Scene<'_>, fields: &str, body: &str, statuses: &[u16]) -> Result<()> {
    let fields = format!("{}{fields}", pull(&format!("{PLAIN}; copy")));
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
    let mut connection = scene.connect().await?;
    connection.send(format!("{request}{body}").as_bytes()).await?;
    let answer = connection.answer(false).await?;
    ensure!(
        statuses.contains(&answer.status),
        "{fields:?} {body:?}: {answer:?}"
    );
    ensure!(
        connection.head().await.is_err(),
        "{fields:?}: the connection goes on"
    );
    Ok(())
}

async fn bad_lengths(scene: &Scene<'_>) -> Result<()> {
    for length in [
        "+5",
        "5,5",
        "5 6",
        "5, 6",
        "0x5",
        "-1",
        "",
        "five",
        "99999999999999999999",
    ] {
        refused(scene, &format!("Content-Length: {length}\r\n"), "hello", &[400]).await?;
    }
    refused(
        scene,
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "hello!",
        &[400],
    )
    .await
}

async fn odd_lengths(scene: &Scene<'_>) -> Result<()> {
    for fields in [
        "Content-Length: 0005\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n",
    ] {
        let fields = format!("{}{fields}", pull(&format!("{PLAIN}; copy")));
        let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
        let answer = scene.raw(format!("{request}hello").as_bytes()).await?;
        let right = answer.status == 200 && answer.text() == "hello";
        ensure!(right || answer.status == 400, "{answer:?}");
    }
    Ok(())
}

async fn bad_chunks(scene: &Scene<'_>) -> Result<()> {
    for body in [
        "x\r\nabc\r\n0\r\n\r\n",
        "-3\r\nabc\r\n0\r\n\r\n",
        "+3\r\nabc\r\n0\r\n\r\n",
        "0x3\r\nabc\r\n0\r\n\r\n",
        "3\r\nabcd\r\n0\r\n\r\n",
        "3\r\nab\r\n0\r\n\r\n",
        "\r\nabc\r\n0\r\n\r\n",
        "10000000000000000\r\nabc\r\n0\r\n\r\n",
    ] {
        refused(scene, "Transfer-Encoding: chunked\r\n", body, &[400]).await?;
    }
    Ok(())
}

async fn smuggling(scene: &Scene<'_>) -> Result<()> {
    let body = "3\r\nabc\r\n0\r\n\r\n";
    for fields in [
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: identity\r\n",
    ] {
        refused(scene, fields, body, &[400, 501]).await?;
    }
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

async fn unread_chunks(scene: &Scene<'_>) -> Result<()> {
    let fields = format!(
        "{}Transfer-Encoding: chunked\r\n",
        pull(&format!("{PLAIN}; out done"))
    );
    let mut request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
    for _ in 0..300 {
        request.push_str("3e8\r\n");
        request.push_str(&"x".repeat(1000));
        request.push_str("\r\n");
    }
    request.push_str("0\r\n\r\n");
    let mut connection = scene.connect().await?;
    connection.send(request.as_bytes()).await?;
    let answer = connection.answer(false).await?;
    ensure!(answer.status == 200 && answer.text() == "done", "{answer:?}");
    goes_on(scene, connection, &answer).await
}
