//! Faults of other hosts that concern answers; their numbers are of the list of faults.

use anyhow::{Result, ensure};
use warmbin_tests::HostBuilder;

use super::Where::Everywhere;
use super::body::post_over_http2;
use super::scene::{PLAIN, Scene, pull, puppet, puppet_as};
use super::section;
use super::whole_responses::nph;

section! {
    "Faults seen in other hosts: answers";
    x74 Everywhere, on hasty, "a program that is too slow to answer" => "504, not 500": too_slow;
    x75 Everywhere, on hasty, "one that is too slow with the rest" => "broken off once, not after another limit": too_slow_later;
    x76 Everywhere, "`transfer-encoding: Chunked` in any spelling, `gzip`, empty" => "502, never framed twice": own_framing;
    x77 Everywhere, "a Last-Modified or a Date that is no date" => "the field is dropped; the page comes": no_date;
    x80 Everywhere, on nph, "a whole response with `Connection: keep-alive` and more body than its length says, twice" =>
        "two whole answers on one connection": longer_than_said;
    x81 Everywhere, "1 MB where several ranges are asked for" => "200 and all of it": large_with_range;
    x82 Everywhere, on failing_page, "an error page's program that prints a Status of its own" =>
        "its page, with the status of the error": page_status;
    x84 Everywhere, "no output; a header block alone" => "502; 200 without a body": little;
    x85 Everywhere, on bare, "text without a header block" => "502; with `body_only` the text": headerless;
    x86 Everywhere, "a login: `Location: /x`, Set-Cookie first or last, with a Status" => "the client gets cookie and Location": login;
    x87 Everywhere, "an empty X-Sendfile" => "502, and the host goes on": empty_sendfile;
    x90 Everywhere, on failing_page, "413 over HTTP/1.1 and HTTP/2 where the program of the error page fails" =>
        "413 at once, by the host": page_fails;
    x92 Everywhere, "304 with a Content-Length, then another request, ten times" => "ten whole answers": not_modified;
    x94 Everywhere, "what Python's cgitb prints before anything else" => "the page": cgitb;
    x95 Everywhere, "a body of markup without Content-Type" => "no type is guessed: 502, or none with a Status": markup;
    x101 Everywhere, "a picture: bytes that are no text in any encoding" => "the very bytes, no charset added": picture;
    x102 Everywhere, "header blocks of rubbish" => "502 each, and the host goes on": rubbish;
    x104 Everywhere, "a header block that ends with LF LF after CR LF lines" => "the page": mixed_ends;
    x105 Everywhere, "`Content-Length: -1` before and after a true one" => "the whole body": negative;
    x107 Everywhere, "Location without Status, and with a body" => "302": moved;
    x111 Everywhere, "Status and Location in lower case, at the end of a long block" => "they count": late_status;
    x115 Everywhere, "HTTP/1.0, with and without keep-alive, and a streamed body" =>
        "no chunks; the connection ends with the body": old_client;
    x117 Everywhere, "`Upgrade: h2c` with HTTP2-Settings" => "an answer over HTTP/1.1; the program is not told": upgrade;
}

fn hasty(builder: HostBuilder) -> Result<HostBuilder> {
    puppet(builder.table("[limits]\nwall = \"500ms\"\ngrace = \"200ms\""))
}

/// The page for 404 has a status of its own, the one for 413 is not made.
fn failing_page(builder: HostBuilder) -> Result<HostBuilder> {
    let page = "#!/bin/sh\nprintf 'Status: 200 Fine\\nContent-Type: text/plain\\n\\nnot here'\n";
    let builder = builder
        .setting("error_documents = { 404 = \"/cgi-bin/page\", 413 = \"/cgi-bin/broken\" }")
        .script("page", page, "")?
        .script("broken", "#!/bin/sh\nexit 1\n", "")?;
    Ok(puppet_as(
        builder,
        "puppet",
        "limits = { request_body = \"1KiB\" }",
    ))
}

fn bare(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(puppet_as(puppet(builder)?, "bare", "body_only = \"text/plain\""))
}

async fn too_slow(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.puppet("sleep 20000").await?;
    ensure!(answer.status == 504, "{answer:?}");
    let record = scene.record(1).await?;
    ensure!(record["outcome"] == "timeout", "{record}");
    Ok(())
}

async fn too_slow_later(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.puppet(&format!("{PLAIN}; out half; sleep 20000")).await?;
    ensure!(
        answer.status == 200 && answer.text() == "half" && !answer.complete,
        "{answer:?}"
    );
    let record = scene.record(1).await?;
    let took = record["total_us"].as_u64().unwrap_or(u64::MAX);
    ensure!(record["outcome"] == "timeout" && took < 5_000_000, "{record}");
    Ok(())
}

async fn own_framing(scene: &Scene<'_>) -> Result<()> {
    for field in [
        "transfer-encoding: Chunked",
        "Transfer-Encoding:chunked",
        "TRANSFER-ENCODING: gzip, chunked",
        "Transfer-Encoding:",
        "Transfer-Encoding: identity",
    ] {
        scene
            .unusable(&format!(
                "out Content-Type: text/plain%0A{field}%0A%0A1%0D%0Ax%0D%0A0%0D%0A%0D%0A"
            ))
            .await?;
    }
    Ok(())
}

async fn no_date(scene: &Scene<'_>) -> Result<()> {
    for date in [
        "x",
        "0",
        "yesterday",
        "Mon, 32 Jan 2026 10:00:00 GMT",
        "2026-01-05T10:00:00Z",
    ] {
        let script = format!("out Content-Type: text/plain%0ALast-Modified: {date}%0ADate: {date}%0A%0Apage");
        let answer = scene.whole(&script, 200, "page").await?;
        ensure!(answer.header("last-modified").is_none(), "{date}: {answer:?}");
        // The host's own, as for any answer without one.
        ensure!(
            answer.header("date").is_some_and(|own| own != date),
            "{date}: {answer:?}"
        );
    }
    let good = "Mon, 05 Jan 2026 10:00:00 GMT";
    let script = format!("out Content-Type: text/plain%0ALast-Modified: {good}%0AExpires: 0%0A%0Apage");
    let answer = scene.whole(&script, 200, "page").await?;
    ensure!(
        answer.header("last-modified") == Some(good) && answer.header("expires") == Some("0"),
        "{answer:?}"
    );
    Ok(())
}

async fn longer_than_said(scene: &Scene<'_>) -> Result<()> {
    let script = "out HTTP/1.1 200 OK%0D%0AConnection: keep-alive%0D%0AContent-Length: 4%0D%0A%0D%0Apage\
                  HTTP/1.1 200 OK%0D%0A%0D%0Asmuggled";
    let mut connection = scene.connect().await?;
    for _ in 0..2 {
        let request = scene.request("GET /cgi-bin/nph-puppet HTTP/1.1", &pull(script));
        connection.send(request.as_bytes()).await?;
        let answer = connection.answer(false).await?;
        ensure!(answer.status == 200 && answer.text() == "page", "{answer:?}");
    }
    Ok(())
}

async fn large_with_range(scene: &Scene<'_>) -> Result<()> {
    let fields = format!(
        "{}Range: bytes=0-3,100-200,999990-\r\n",
        pull(&format!("{PLAIN}; repeat 100000 0123456789"))
    );
    let answer = scene.get("/cgi-bin/puppet", &fields).await?;
    ensure!(
        answer.status == 200 && answer.body == b"0123456789".repeat(100_000) && answer.complete,
        "{} bytes",
        answer.body.len()
    );
    Ok(())
}

async fn page_status(scene: &Scene<'_>) -> Result<()> {
    let request = "GET /none HTTP/1.1\r\nHost: h\r\n\r\n";
    let answer = scene.raw(request.as_bytes()).await?;
    ensure!(answer.status == 404 && answer.text() == "not here", "{answer:?}");
    Ok(())
}

async fn page_fails(scene: &Scene<'_>) -> Result<()> {
    let fields = format!("{}Content-Length: 2000\r\n", pull(PLAIN));
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
    let answer = scene
        .raw(format!("{request}{}", "x".repeat(2000)).as_bytes())
        .await?;
    ensure!(answer.status == 413 && answer.complete, "{answer:?}");
    let (status, _) = post_over_http2(scene, PLAIN, vec![b'x'; 2000]).await?;
    ensure!(status == 413, "{status}");
    Ok(())
}

async fn little(scene: &Scene<'_>) -> Result<()> {
    scene.unusable("exit 0").await?;
    scene.whole(PLAIN, 200, "").await.map(drop)
}

async fn headerless(scene: &Scene<'_>) -> Result<()> {
    scene.unusable("out Hello, world%0A%0A").await?;
    scene.unusable("out %3Chtml>%0A%3C/html>%0A").await?;
    let answer = scene
        .get("/cgi-bin/bare", &pull("out Hello, world%0A%0A"))
        .await?;
    ensure!(
        answer.status == 200 && answer.text() == "Hello, world\n\n",
        "{answer:?}"
    );
    Ok(())
}

async fn login(scene: &Scene<'_>) -> Result<()> {
    for (block, status) in [
        ("Location: /x%0ASet-Cookie: a=b", 302),
        ("Set-Cookie: a=b%0ALocation: /x", 302),
        ("Status: 303 See Other%0ALocation: /x%0ASet-Cookie: a=b", 303),
    ] {
        let answer = scene.whole(&format!("out {block}%0A%0A"), status, "").await?;
        ensure!(
            answer.header("location") == Some("/x") && answer.header("set-cookie") == Some("a=b"),
            "{answer:?}"
        );
    }
    Ok(())
}

async fn empty_sendfile(scene: &Scene<'_>) -> Result<()> {
    for block in ["X-Sendfile:", "Content-Type: text/plain%0AX-Sendfile: "] {
        scene.unusable(&format!("out {block}%0A%0Abody")).await?;
    }
    scene
        .whole(&format!("{PLAIN}; out page"), 200, "page")
        .await
        .map(drop)
}

async fn not_modified(scene: &Scene<'_>) -> Result<()> {
    let mut connection = scene.connect().await?;
    for round in 0..10 {
        let (script, status, body) = if round % 2 == 0 {
            (
                "out Status: 304%0AContent-Length: 100%0A%0Abody".to_owned(),
                304,
                "",
            )
        } else {
            (format!("{PLAIN}; out page"), 200, "page")
        };
        let request = scene.request("GET /cgi-bin/puppet HTTP/1.1", &pull(&script));
        connection.send(request.as_bytes()).await?;
        let answer = connection.answer(false).await?;
        ensure!(
            answer.status == status && answer.text() == body,
            "{round}: {answer:?}"
        );
    }
    Ok(())
}

async fn cgitb(scene: &Scene<'_>) -> Result<()> {
    let script = "out <!--: spam%0D%0AContent-Type: text/html%0D%0A%0D%0A<body>Traceback";
    scene.whole(script, 200, "<body>Traceback").await.map(drop)
}

async fn markup(scene: &Scene<'_>) -> Result<()> {
    scene
        .unusable("out X-A: b%0A%0A<script>alert(1)</script>")
        .await?;
    let answer = scene
        .whole("out Status: 200%0A%0A<script>", 200, "<script>")
        .await?;
    ensure!(answer.header("content-type").is_none(), "{answer:?}");
    Ok(())
}

async fn picture(scene: &Scene<'_>) -> Result<()> {
    let script = "out Content-Type: image/png%0A%0A%89PNG%0D%0A%1A%0A%00%00%C0%80%FF%FE";
    let answer = scene.puppet(script).await?;
    ensure!(
        answer.header("content-type") == Some("image/png")
            && answer.body == b"\x89PNG\r\n\x1a\n\0\0\xc0\x80\xff\xfe",
        "{answer:?}"
    );
    Ok(())
}

async fn rubbish(scene: &Scene<'_>) -> Result<()> {
    for output in [
        "%00%00%00",
        "%FF%FE%0A%0A",
        ":::%0A%0A",
        "%0A",
        "%0D%0A%0D%0A",
        "GET / HTTP/1.1%0A%0A",
        "%1B[2J%0A%0A",
    ] {
        scene.unusable(&format!("out {output}")).await?;
    }
    scene
        .whole(&format!("{PLAIN}; out page"), 200, "page")
        .await
        .map(drop)
}

async fn mixed_ends(scene: &Scene<'_>) -> Result<()> {
    let script = "out Content-Type: text/plain%0D%0AX-A: b%0A%0Apage";
    let answer = scene.whole(script, 200, "page").await?;
    ensure!(answer.header("x-a") == Some("b"), "{answer:?}");
    Ok(())
}

async fn negative(scene: &Scene<'_>) -> Result<()> {
    for lengths in [
        "Content-Length: -1%0AContent-Length: 4",
        "Content-Length: 4%0AContent-Length: -1",
    ] {
        scene
            .whole(
                &format!("out Content-Type: text/plain%0A{lengths}%0A%0Apage"),
                200,
                "page",
            )
            .await?;
    }
    Ok(())
}

async fn moved(scene: &Scene<'_>) -> Result<()> {
    let script = "out Content-Type: text/plain%0ALocation: http://x/%0A%0Amoved";
    let answer = scene.whole(script, 302, "moved").await?;
    ensure!(answer.header("location") == Some("http://x/"), "{answer:?}");
    Ok(())
}

async fn late_status(scene: &Scene<'_>) -> Result<()> {
    let script = "out Content-Type: text/plain%0A; repeat 100 X-Filler: y%0A; out location: http://x/%0Astatus: 307%0A%0A";
    let answer = scene.whole(script, 307, "").await?;
    ensure!(answer.header("location") == Some("http://x/"), "{answer:?}");
    Ok(())
}

async fn old_client(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; out one; sleep 20; out two");
    for fields in ["", "Connection: keep-alive\r\n"] {
        let request = scene.request(
            "GET /cgi-bin/puppet HTTP/1.0",
            &format!("{}{fields}", pull(&script)),
        );
        let answer = scene.raw(request.as_bytes()).await?;
        ensure!(
            answer.text() == "onetwo" && answer.header("transfer-encoding").is_none(),
            "{answer:?}"
        );
    }
    Ok(())
}

async fn upgrade(scene: &Scene<'_>) -> Result<()> {
    let fields = format!(
        "{}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n",
        pull(&format!("{PLAIN}; env"))
    );
    let answer = scene.get("/cgi-bin/puppet", &fields).await?;
    let text = answer.text();
    ensure!(
        answer.status == 200 && !text.contains("HTTP_UPGRADE=") && !text.contains("HTTP_HTTP2_SETTINGS="),
        "{answer:?}"
    );
    Ok(())
}
