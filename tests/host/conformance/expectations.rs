//! Clients that ask before they send a body (RFC 9110 §10.1.1).

use anyhow::{Result, ensure};
use warmbin_tests::Connection;

use super::Where::Everywhere;
use super::body::goes_on;
use super::body_limits::narrow;
use super::scene::{PLAIN, Scene, pull};
use super::section;

section! {
    "Request bodies: clients that ask first";
    b15 Everywhere, "`Expect: 100-continue`, to a program that reads" => "100, then the body arrives": invited;
    b16 Everywhere, "`Expect: 100-continue` and 50 MB, to a program that answers 403 without reading" =>
        "403, and no 100 before it": not_invited;
    b40 Everywhere, on narrow, "a body that the host refuses: above the limit, for no program" =>
        "413, 404, and no 100 before it": refused_uninvited;
    b41 Everywhere, "a refused client that sends its body after all; one that sends a request instead" =>
        "the body is no request: the connection ends, or takes the body first": after_a_refusal;
    b42 Everywhere, "`Expect`, and the body is sent without waiting, with a length and in chunks" => "the body": hasty;
    b43 Everywhere, "`Expect: 100-Continue` and chunks" => "100, then the body arrives": invited_chunks;
    b44 Everywhere, "another expectation; HTTP/1.0 with `Expect: 100-continue`" =>
        "417, or the body; no 100; unread, the connection goes on": unknown;
}

const EXPECT: &str = "Expect: 100-continue\r\n";

/// A connection on which a POST to `path` has begun, whose `fields` have its client wait.
async fn waiting(scene: &Scene<'_>, path: &str, script: &str, fields: &str) -> Result<Connection> {
    let fields = format!("{}{fields}", pull(script));
    let mut connection = scene.connect().await?;
    let request = scene.request(&format!("POST {path} HTTP/1.1"), &fields);
    connection.send(request.as_bytes()).await?;
    Ok(connection)
}

/// The client is told to send its body, `hello`, and does, as `sent`.
async fn sent_when_told(scene: &Scene<'_>, fields: &str, sent: &[u8]) -> Result<()> {
    let mut connection = waiting(scene, "/cgi-bin/puppet", &format!("{PLAIN}; copy"), fields).await?;
    let interim = connection.head().await?;
    ensure!(interim.status == 100, "{interim:?}");
    connection.send(sent).await?;
    let answer = connection.answer(false).await?;
    ensure!(answer.status == 200 && answer.text() == "hello", "{answer:?}");
    Ok(())
}

async fn invited(scene: &Scene<'_>) -> Result<()> {
    sent_when_told(scene, &format!("{EXPECT}Content-Length: 5\r\n"), b"hello").await
}

async fn not_invited(scene: &Scene<'_>) -> Result<()> {
    let no = "out Status: 403%0AContent-Type: text/plain%0A%0Ano";
    let mut connection = waiting(
        scene,
        "/cgi-bin/puppet",
        no,
        &format!("{EXPECT}Content-Length: 50000000\r\n"),
    )
    .await?;
    let answer = connection.head().await?;
    ensure!(answer.status == 403, "{answer:?}");
    Ok(())
}

async fn refused_uninvited(scene: &Scene<'_>) -> Result<()> {
    for (path, status) in [("/cgi-bin/puppet", 413), ("/cgi-bin/none", 404)] {
        let script = format!("{PLAIN}; copy");
        let mut connection = waiting(
            scene,
            path,
            &script,
            &format!("{EXPECT}Content-Length: 20000\r\n"),
        )
        .await?;
        let answer = connection.head().await?;
        ensure!(answer.status == status, "{answer:?}");
    }
    Ok(())
}

async fn after_a_refusal(scene: &Scene<'_>) -> Result<()> {
    let no = "out Status: 403%0AContent-Type: text/plain%0A%0Ano";
    let hidden = scene.request(
        "GET /cgi-bin/puppet HTTP/1.1",
        &pull(&format!("{PLAIN}; out hidden")),
    );
    let length = format!("{EXPECT}Content-Length: {}\r\n", hidden.len());
    let mut connection = waiting(scene, "/cgi-bin/puppet", no, &length).await?;
    let answer = connection.answer(false).await?;
    ensure!(answer.status == 403 && answer.text() == "no", "{answer:?}");
    // If the connection has ended already, so much the better.
    let _ = connection.send(hidden.as_bytes()).await;
    let next = scene.request(
        "GET /cgi-bin/puppet HTTP/1.1",
        &pull(&format!("{PLAIN}; out next")),
    );
    let _ = connection.send(next.as_bytes()).await;
    if let Ok(answer) = connection.answer(false).await {
        ensure!(answer.text() == "next", "{answer:?}");
    }
    Ok(())
}

async fn hasty(scene: &Scene<'_>) -> Result<()> {
    for (framing, body) in [
        ("Content-Length: 5\r\n", "hello"),
        ("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"),
    ] {
        let fields = format!(
            "{}Expect: 100-continue\r\n{framing}",
            pull(&format!("{PLAIN}; copy"))
        );
        let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
        let answer = scene.raw(format!("{request}{body}").as_bytes()).await?;
        ensure!(answer.status == 200 && answer.text() == "hello", "{answer:?}");
    }
    Ok(())
}

async fn invited_chunks(scene: &Scene<'_>) -> Result<()> {
    sent_when_told(
        scene,
        "Expect: 100-Continue\r\nTransfer-Encoding: chunked\r\n",
        b"5\r\nhello\r\n0\r\n\r\n",
    )
    .await
}

async fn unknown(scene: &Scene<'_>) -> Result<()> {
    for (version, expectation) in [("1.1", "a-wonder"), ("1.0", "100-continue")] {
        let fields = format!(
            "{}Expect: {expectation}\r\nConnection: keep-alive\r\nContent-Length: 200000\r\n",
            pull(&format!("{PLAIN}; out done"))
        );
        let line = format!("POST /cgi-bin/puppet HTTP/{version}");
        let mut connection = scene.connect().await?;
        connection.send(scene.request(&line, &fields).as_bytes()).await?;
        connection.send(&vec![b'x'; 200_000]).await?;
        let head = connection.head().await?;
        ensure!(matches!(head.status, 200 | 417), "{head:?}");
        if version == "1.1" && head.status == 200 {
            connection.until(b"0\r\n\r\n").await?;
            goes_on(scene, connection, &head).await?;
        }
    }
    Ok(())
}
