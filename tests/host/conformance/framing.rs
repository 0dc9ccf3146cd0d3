//! How a request body says where it ends (RFC 9112 §6, §7), and what is made of one that does not.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use warmbin_tests::Answer;

use super::Where::{BeforeTheMode, Everywhere};
use super::body::{bytes, goes_on};
use super::scene::{ENV, PLAIN, Scene, Variables, pull};
use super::section;

section! {
    "Request bodies: framing";
    b09 Everywhere, "chunks, with sizes in lower and upper case, with leading zeros" =>
        "the body without framing; CONTENT_LENGTH is its length": chunks;
    b10 Everywhere, "chunks with extensions and trailer fields" => "the body alone; nothing of them in the environment": extensions;
    b12 BeforeTheMode, "chunked and Content-Length" => "400, or the chunks count and the connection ends": both_framings;
    b25 BeforeTheMode, "a Content-Length of +5, 5,5, 5 6, 0x5, -1, nothing, or 99999999999999999999" => "400": bad_lengths;
    b26 Everywhere, "Content-Length twice with the same value, and with leading zeros" => "400, or the length it says": odd_lengths;
    b27 BeforeTheMode, "chunks with a bad size, without CR LF, with a sign, over the size of numbers" => "400": bad_chunks;
    b28 BeforeTheMode, "`Transfer-Encoding: chunked, identity`, `gzip`, with a space before the colon, folded" =>
        "400 or 501, and the connection ends": smuggling;
    b30 Everywhere, "300 KB in chunks, to a program that leaves at once" => "200; the connection goes on": unread_chunks;
    b31 BeforeTheMode, "`Transfer-Encoding: gzip, chunked`, `identity, chunked`, chunked twice" =>
        "400 or 501, and the connection ends": other_codings;
    b32 BeforeTheMode, "a chunk extension of 70 KB, 2000 trailer fields, a trailer field of 200 KB" =>
        "400, 413 or 431, and the connection ends": oversized;
    b33 BeforeTheMode, "chunks whose lines end in LF alone, in CR alone, or in LF within an extension" =>
        "400, and the connection ends": bare_ends;
    b34 Everywhere, "a body of requests, to a program that does not read" => "none of them is answered": requests_within;
    b35 Everywhere, "HTTP/1.0 with a Content-Length; with chunks" => "the body; 400": old_version;
    b38 Everywhere, "1 MB to no program, for a bad Host, for a mode that there is not" =>
        "404, 400, 400; the connection goes on": nobody_takes_it;
    b39 BeforeTheMode, "`Content-Length` folded, with a space before the colon, in two lines of which one is bad" =>
        "400, and the connection ends": hidden_lengths;
}

/// The answer to a POST of these bytes as they are, said to be chunks.
pub(super) async fn post_chunks(scene: &Scene<'_>, script: &str, chunks: &str) -> Result<Answer> {
    let fields = format!("{}Transfer-Encoding: chunked\r\n", pull(script));
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
    scene.raw(format!("{request}{chunks}").as_bytes()).await
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

async fn other_codings(scene: &Scene<'_>) -> Result<()> {
    let body = "3\r\nabc\r\n0\r\n\r\n";
    for fields in [
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: identity, chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: , chunked\r\n",
        "Transfer-Encoding: chunked;q=1\r\n",
        "Transfer-Encoding: \"chunked\"\r\n",
        "Transfer-Encoding: \x0bchunked\r\n",
        "Transfer-Encoding:\r\n",
    ] {
        refused(scene, fields, body, &[400, 501]).await?;
    }
    Ok(())
}

async fn oversized(scene: &Scene<'_>) -> Result<()> {
    let long = "x".repeat(70_000);
    let many = "X-Trailer: 1\r\n".repeat(2000);
    let longer = "x".repeat(200_000);
    for body in [
        format!("3;{long}\r\nabc\r\n0\r\n\r\n"),
        format!("3\r\nabc\r\n0\r\n{many}\r\n"),
        format!("3\r\nabc\r\n0\r\nX-Trailer: {longer}\r\n\r\n"),
    ] {
        refused(scene, "Transfer-Encoding: chunked\r\n", &body, &[400, 413, 431]).await?;
    }
    Ok(())
}

async fn bare_ends(scene: &Scene<'_>) -> Result<()> {
    for body in [
        "3\nabc\n0\n\n",
        "3\nabc\r\n0\r\n\r\n",
        "3\r\nabc\n0\r\n\r\n",
        "3\rabc\r\n0\r\n\r\n",
        "3;a\nabc\r\n0\r\n\r\n",
        "3 3\r\nabc\r\n0\r\n\r\n",
    ] {
        refused(scene, "Transfer-Encoding: chunked\r\n", body, &[400]).await?;
    }
    Ok(())
}

async fn requests_within(scene: &Scene<'_>) -> Result<()> {
    let hidden = scene
        .request(
            "GET /cgi-bin/puppet HTTP/1.1",
            &pull(&format!("{PLAIN}; out hidden")),
        )
        .repeat(500);
    let length = format!("Content-Length: {}\r\n", hidden.len());
    let chunks = format!("{:x}\r\n{hidden}\r\n0\r\n\r\n", hidden.len());
    for (framing, body) in [
        (length.as_str(), hidden.as_str()),
        ("Transfer-Encoding: chunked\r\n", &chunks),
    ] {
        let fields = format!("{}{framing}", pull(&format!("{PLAIN}; out done")));
        let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
        let mut connection = scene.connect().await?;
        connection.send(format!("{request}{body}").as_bytes()).await?;
        let answer = connection.answer(false).await?;
        ensure!(answer.status == 200 && answer.text() == "done", "{answer:?}");
        goes_on(scene, connection, &answer).await?;
    }
    Ok(())
}

async fn old_version(scene: &Scene<'_>) -> Result<()> {
    let script = pull(&format!("{PLAIN}; copy"));
    let request = scene.request(
        "POST /cgi-bin/puppet HTTP/1.0",
        &format!("{script}Content-Length: 5\r\n"),
    );
    let answer = scene.raw(format!("{request}hello, and more").as_bytes()).await?;
    ensure!(answer.status == 200 && answer.text() == "hello", "{answer:?}");
    let request = scene.request(
        "POST /cgi-bin/puppet HTTP/1.0",
        &format!("{script}Transfer-Encoding: chunked\r\n"),
    );
    let answer = scene
        .raw(format!("{request}5\r\nhello\r\n0\r\n\r\n").as_bytes())
        .await?;
    ensure!(answer.status == 400, "{answer:?}");
    Ok(())
}

async fn nobody_takes_it(scene: &Scene<'_>) -> Result<()> {
    let body = bytes(1_000_000);
    let mode = format!("Warmbin-Mode: {}\r\n", scene.mode);
    for (path, fields, status) in [
        ("/cgi-bin/none", format!("Host: h\r\n{mode}"), 404),
        ("/cgi-bin/puppet", format!("Host: <h>\r\n{mode}"), 400),
        (
            "/cgi-bin/puppet",
            "Host: h\r\nWarmbin-Mode: none\r\n".to_owned(),
            400,
        ),
    ] {
        let head = format!("POST {path} HTTP/1.1\r\n{fields}Content-Length: 1000000\r\n\r\n");
        let mut connection = scene.connect().await?;
        connection.send(head.as_bytes()).await?;
        // The answer does not wait for the body, and does not break it off.
        let answer = tokio::time::timeout(Duration::from_secs(20), connection.answer(false))
            .await
            .context("no answer")??;
        ensure!(answer.status == status, "{path} {fields:?}: {answer:?}");
        connection.send(&body).await?;
        goes_on(scene, connection, &answer)
            .await
            .with_context(|| format!("{path} {fields:?}"))?;
    }
    Ok(())
}

async fn hidden_lengths(scene: &Scene<'_>) -> Result<()> {
    for fields in [
        "Content-Length:\r\n 5\r\n",
        "Content-Length : 5\r\n",
        "Content-Length: 5\r\nContent-Length: x\r\n",
        " Content-Length: 5\r\n",
        "Content-Length: 5\x0b\r\n",
    ] {
        refused(scene, fields, "hello", &[400]).await?;
    }
    Ok(())
}
