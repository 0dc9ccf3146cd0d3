//! Faults of other hosts that concern request bodies; their numbers are of the list of faults.

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use warmbin_tests::{Connection, HostBuilder, chunked};

use super::Where::Everywhere;
use super::body::bytes;
use super::processes::{childless, growth_kib, no_more_than};
use super::scene::{ENV, PLAIN, Scene, Variables, pull, puppet};
use super::section;

section! {
    "Faults seen in other hosts: request bodies";
    x02 Everywhere, "a program that prints 70 KB, more than a pipe holds, before it reads 1 MB" => "both; nobody waits for anybody": prints_first;
    x04 Everywhere, "1 MB to a program that reads to the end" => "it sees the end": whole_megabyte;
    x11 Everywhere, "1 MB in chunks to a program that reads to the end" => "it sees the end": chunks_end;
    x14 Everywhere, "10 MB in chunks, more than is kept in memory" => "the very bytes": kept_on_disk;
    x19 Everywhere, "100 KB that come with the head, before the program can read" => "the very bytes": with_the_head;
    x20 Everywhere, "no body, to a program that reads to the end" => "it sees the end at once": no_body;
    x30 Everywhere, "100 POSTs, some unread, some broken off" => "the host has as many descriptors as before": descriptors;
    x96 Everywhere, "chunks, as git sends a push" => "200, with CONTENT_LENGTH": like_git;
    x97 Everywhere, "a body without length over HTTP/2" => "200, with CONTENT_LENGTH": without_length;
    x109 Everywhere, on boundless, "a Content-Length of a terabyte, and a program that reads 5 bytes" =>
        "200; nothing is set aside for the rest": terabyte;
    x110 Everywhere, "500 KB in 500 pieces" => "the very bytes": in_pieces;
    x114 Everywhere, on boundless, "150 MiB in chunks" => "its length is right; the host grows by less than 64 MiB": large_upload;
    x116 Everywhere, "50 MB announced, to a program that answers 401 at once" => "401 before the body is sent": refused_early;
}

fn boundless(builder: HostBuilder) -> Result<HostBuilder> {
    puppet(builder.table("[limits]\nrequest_body = \"2000GiB\"\nwall = \"5m\"\nidle = \"1m\"\ncpu = \"5m\""))
}

/// The answer's body to a POST of `body`, which is sent while the answer is read.
async fn post(scene: &Scene<'_>, script: &str, body: impl Into<reqwest::Body>) -> Result<Vec<u8>> {
    let request = scene
        .host
        .post_in(scene.mode, "/cgi-bin/puppet")
        .header("Puppet", format!("{PLAIN}; {script}"))
        .body(body);
    let answer = request.send().await?;
    ensure!(answer.status() == 200, "{answer:?}");
    Ok(answer.bytes().await?.to_vec())
}

/// A connection on which a POST with `fields` has begun, and nothing of its body.
async fn begun(scene: &Scene<'_>, script: &str, fields: &str) -> Result<Connection> {
    let mut connection = scene.connect().await?;
    let fields = format!("{}{fields}", pull(script));
    connection
        .send(scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields).as_bytes())
        .await?;
    Ok(connection)
}

fn counted(answer: &[u8]) -> Result<u64> {
    let text = std::str::from_utf8(answer)?;
    let (bytes, _) = text.split_once(' ').context("a count and a sum")?;
    Ok(bytes.parse()?)
}

async fn prints_first(scene: &Scene<'_>) -> Result<()> {
    let answer = post(scene, "repeat 70000 x; count", bytes(1_000_000)).await?;
    let (printed, count) = answer.split_at_checked(70_000).context("too short")?;
    ensure!(printed.iter().all(|byte| *byte == b'x') && counted(count)? == 1_000_000);
    Ok(())
}

async fn whole_megabyte(scene: &Scene<'_>) -> Result<()> {
    ensure!(counted(&post(scene, "count", bytes(1_000_000)).await?)? == 1_000_000);
    Ok(())
}

async fn chunks_end(scene: &Scene<'_>) -> Result<()> {
    let answer = post(scene, "count", chunked(&bytes(1_000_000), 1_017)).await?;
    ensure!(counted(&answer)? == 1_000_000);
    Ok(())
}

async fn kept_on_disk(scene: &Scene<'_>) -> Result<()> {
    let sent = bytes(10_000_000);
    ensure!(post(scene, "copy", chunked(&sent, 60_000)).await? == sent);
    Ok(())
}

async fn with_the_head(scene: &Scene<'_>) -> Result<()> {
    let sent = bytes(100_000);
    let fields = format!(
        "{}Content-Length: 100000\r\n",
        pull(&format!("sleep 100; {PLAIN}; copy"))
    );
    let mut request = scene
        .request("POST /cgi-bin/puppet HTTP/1.1", &fields)
        .into_bytes();
    request.extend_from_slice(&sent);
    let answer = scene.raw(&request).await?;
    ensure!(
        answer.status == 200 && answer.body == sent,
        "{} bytes",
        answer.body.len()
    );
    Ok(())
}

async fn no_body(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.puppet(&format!("{PLAIN}; count")).await?;
    ensure!(counted(&answer.body)? == 0, "{answer:?}");
    Ok(())
}

async fn descriptors(scene: &Scene<'_>) -> Result<()> {
    let round = async |times: usize| {
        for number in 0..times {
            let sent = bytes(20_000);
            match number % 3 {
                0 => drop(
                    begun(
                        scene,
                        &format!("{PLAIN}; copy"),
                        "Content-Length: 9\r\nConnection: close\r\n",
                    )
                    .await?,
                ),
                1 => drop(post(scene, "out unread", sent).await?),
                _ => drop(post(scene, "copy", chunked(&sent, 900)).await?),
            }
        }
        // Written when their programs have left.
        anyhow::Ok(())
    };
    round(10).await?;
    scene.record(10).await?;
    childless(scene.host).await?;
    let before = super::processes::descriptors(scene.host)?;
    round(100).await?;
    scene.record(110).await?;
    no_more_than(before, scene.host).await
}

async fn like_git(scene: &Scene<'_>) -> Result<()> {
    let mut connection = begun(
        scene,
        &format!("read 9999; {ENV}"),
        "Content-Type: application/x-git-receive-pack-request\r\nTransfer-Encoding: chunked\r\n",
    )
    .await?;
    connection.send(b"4\r\n0000\r\n5\r\nPACK!\r\n0\r\n\r\n").await?;
    Variables::of(&connection.answer(false).await?)?.hold(&[
        ("CONTENT_LENGTH", Some("9")),
        ("CONTENT_TYPE", Some("application/x-git-receive-pack-request")),
    ])
}

async fn without_length(scene: &Scene<'_>) -> Result<()> {
    let sent = bytes(300_000);
    let script = format!("{PLAIN}; env; out %3D%3D%3D%3D%3D; copy");
    let request = scene.over_http2(Method::POST, "/cgi-bin/puppet", &script)?;
    let answer = request.body(chunked(&sent, 7_001)).send().await?.bytes().await?;
    let at = answer
        .windows(5)
        .position(|window| window == b"=====")
        .context("no mark")?;
    let (environment, body) = answer.split_at(at);
    ensure!(body[5..] == sent[..], "{} bytes", body.len());
    let environment = String::from_utf8_lossy(environment);
    ensure!(
        environment.lines().any(|line| line == "CONTENT_LENGTH=300000"),
        "{environment}"
    );
    Ok(())
}

async fn terabyte(scene: &Scene<'_>) -> Result<()> {
    scene.puppet(&format!("{PLAIN}; count")).await?;
    let grown = growth_kib(scene.host, async {
        let mut connection = begun(
            scene,
            &format!("read 5; {PLAIN}; out enough"),
            "Content-Length: 1000000000000\r\n",
        )
        .await?;
        connection.send(b"hello").await?;
        let head = connection.head().await?;
        ensure!(head.status == 200, "{head:?}");
        Ok(())
    })
    .await?;
    ensure!(grown < 64 << 10, "the host grew by {grown} KiB");
    Ok(())
}

async fn in_pieces(scene: &Scene<'_>) -> Result<()> {
    let sent = bytes(500_000);
    let mut connection = begun(scene, &format!("{PLAIN}; count"), "Content-Length: 500000\r\n").await?;
    for piece in sent.chunks(1_000) {
        connection.send(piece).await?;
        tokio::task::yield_now().await;
    }
    let answer = connection.answer(false).await?;
    ensure!(counted(&answer.body)? == 500_000, "{answer:?}");
    Ok(())
}

async fn large_upload(scene: &Scene<'_>) -> Result<()> {
    post(scene, "count", "x").await?;
    let grown = growth_kib(scene.host, send_large(scene)).await?;
    ensure!(grown < 64 << 10, "the host grew by {grown} KiB");
    Ok(())
}

async fn send_large(scene: &Scene<'_>) -> Result<()> {
    let mut connection = begun(
        scene,
        &format!("{PLAIN}; count"),
        "Transfer-Encoding: chunked\r\n",
    )
    .await?;
    let piece = bytes(1 << 20);
    for _ in 0..150 {
        connection.send(b"100000\r\n").await?;
        connection.send(&piece).await?;
        connection.send(b"\r\n").await?;
    }
    connection.send(b"0\r\n\r\n").await?;
    let answer = connection.answer(false).await?;
    ensure!(counted(&answer.body)? == 150 << 20, "{answer:?}");
    Ok(())
}

async fn refused_early(scene: &Scene<'_>) -> Result<()> {
    let script = "out Status: 401%0AWWW-Authenticate: Basic%0AContent-Type: text/plain%0A%0Awho?";
    let mut connection = begun(scene, script, "Content-Length: 50000000\r\n").await?;
    let head = connection.head().await?;
    ensure!(head.status == 401, "{head:?}");
    Ok(())
}
