//! Programs that answer for themselves: whole HTTP responses (RFC 3875 §5), interim ones, bodies alone.

use anyhow::{Result, bail, ensure};
use reqwest::Method;
use warmbin_tests::{Answer, HostBuilder};

use super::Where::Everywhere;
use super::scene::{Scene, pull, puppet, puppet_as};
use super::section;

section! {
    "Whole responses, interim responses, bodies alone";
    r55 Everywhere, on nph, "a program named nph-… that prints a whole HTTP/1.1 response, twice on one connection; over HTTP/2" =>
        "its status, fields and body, framed by the host": whole;
    r56 Everywhere, on nph, "5 and 50 times `HTTP/1.1 100 Continue` before the response" => "the response": continues;
    r57 Everywhere, on nph, "`HTTP/1.1 102 Processing` first" => "the response": processing;
    r62 Everywhere, on nph, "an HTTP/1.0 response without a length, on a connection that is kept" =>
        "the body, framed; the connection goes on": old_version;
    r63 Everywhere, on nph, "`Transfer-Encoding: chunked` and chunks, also to HTTP/1.0 and HTTP/2" =>
        "the body without the program's framing": chunks;
    r64 Everywhere, on nph, "chunks that break off, are no chunks, or are behind another coding" =>
        "an answer that is visibly not whole; 502": bad_chunks;
    r65 Everywhere, on nph, "204, 304 and HEAD with a body, then another request" => "no body; the next answer is whole": no_body;
    r66 Everywhere, on nph, "Connection, Keep-Alive, Upgrade, 101" => "not passed; 502 for 101": hop_by_hop;
    r67 Everywhere, on nph, "`Location: /x` alone behind the status line" => "302 to the client": redirect;
    r68 Everywhere, on named, "nph = \"always\" and nph = \"never\"" => "what is set counts, not the name": settings;
    r69 Everywhere, "`Status: 100` or `HTTP/1.1 100` before an ordinary header block, and nothing behind one" =>
        "the block that follows; 502": before_a_block;
    l05 Everywhere, on nph, "a whole response, and text on standard error" => "200; the text is in the record": with_stderr;
    l37 Everywhere, "`HTTP/1.1 103 Early Hints` or `Status: 103`" => "the final response": early_hints;
    r60 Everywhere, on bodies, "`body_only = \"text/x-body\"`" => "200, that type, the output as it is": body_only;
    r70 Everywhere, on bodies, "the same: nothing at all with exit 0, with exit 1; a header block; HEAD" =>
        "an empty 200; 502; a body like any other; no body": body_only_edges;
}

pub(super) fn nph(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(puppet_as(builder, "nph-puppet", ""))
}

fn named(builder: HostBuilder) -> Result<HostBuilder> {
    let builder = puppet_as(builder, "always", "nph = \"always\"");
    Ok(puppet_as(builder, "nph-never", "nph = \"never\""))
}

fn bodies(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(puppet_as(puppet(builder)?, "body", "body_only = \"text/x-body\""))
}

const PAGE: &str =
    "out HTTP/1.1 200 Fine%0D%0AContent-Type: text/plain%0D%0AX-A: b%0D%0AContent-Length: 4%0D%0A%0D%0Apage";

/// The answer of the program `name` over HTTP/1.1, after which the connection serves another request.
async fn kept(scene: &Scene<'_>, method: &str, name: &str, script: &str) -> Result<Answer> {
    let mut connection = scene.connect().await?;
    let line = format!("{method} /cgi-bin/{name} HTTP/1.1");
    connection
        .send(scene.request(&line, &pull(script)).as_bytes())
        .await?;
    let answer = connection.answer(method == "HEAD").await?;
    connection
        .send(
            scene
                .request("GET /cgi-bin/nph-puppet HTTP/1.1", &pull(PAGE))
                .as_bytes(),
        )
        .await?;
    let next = connection.answer(false).await?;
    ensure!(
        next.status == 200 && next.text() == "page",
        "after {answer:?}: {next:?}"
    );
    Ok(answer)
}

async fn nph_says(scene: &Scene<'_>, script: &str) -> Result<Answer> {
    scene.get("/cgi-bin/nph-puppet", &pull(script)).await
}

/// Status and body of an answer over HTTP/2.
async fn over_http2(scene: &Scene<'_>, script: &str) -> Result<(u16, String)> {
    let request = scene.over_http2(Method::GET, "/cgi-bin/nph-puppet", script)?;
    let answer = request.send().await?;
    Ok((answer.status().as_u16(), answer.text().await?))
}

async fn whole(scene: &Scene<'_>) -> Result<()> {
    let answer = kept(scene, "GET", "nph-puppet", PAGE).await?;
    ensure!(
        answer.status == 200 && answer.header("x-a") == Some("b") && answer.text() == "page",
        "{answer:?}"
    );
    ensure!(over_http2(scene, PAGE).await? == (200, "page".to_owned()));
    let gone = "out HTTP/1.1 404 Gone away%0AContent-Type: text/plain%0A%0Agone";
    ensure!(over_http2(scene, gone).await? == (404, "gone".to_owned()));
    Ok(())
}

async fn continues(scene: &Scene<'_>) -> Result<()> {
    for times in [5, 50] {
        let script = format!("repeat {times} HTTP/1.1 100 Continue%0D%0A%0D%0A; {PAGE}");
        let answer = kept(scene, "GET", "nph-puppet", &script).await?;
        ensure!(answer.status == 200 && answer.text() == "page", "{answer:?}");
    }
    Ok(())
}

async fn processing(scene: &Scene<'_>) -> Result<()> {
    let script = format!("out HTTP/1.1 102 Processing%0D%0A%0D%0A; sleep 50; {PAGE}");
    let answer = kept(scene, "GET", "nph-puppet", &script).await?;
    ensure!(answer.status == 200 && answer.text() == "page", "{answer:?}");
    Ok(())
}

async fn old_version(scene: &Scene<'_>) -> Result<()> {
    let script = "out HTTP/1.0 200 OK%0D%0AServer: own%0D%0A%0D%0Aold";
    let answer = kept(scene, "GET", "nph-puppet", script).await?;
    ensure!(
        answer.status == 200 && answer.header("server") == Some("own") && answer.text() == "old",
        "{answer:?}"
    );
    Ok(())
}

const CHUNKS: &str = "out HTTP/1.1 200 OK%0D%0ATransfer-Encoding: chunked%0D%0A%0D%0A\
    3%3Bname=value%0D%0Aone%0D%0A; sleep 20; out 5%0D%0A%0D%0Atwo%0D%0A0%0D%0AX-Sum: 1%0D%0A%0D%0A";

async fn chunks(scene: &Scene<'_>) -> Result<()> {
    let answer = kept(scene, "GET", "nph-puppet", CHUNKS).await?;
    ensure!(answer.text() == "one\r\ntwo" && answer.complete, "{answer:?}");
    let request = scene.request("GET /cgi-bin/nph-puppet HTTP/1.0", &pull(CHUNKS));
    let answer = scene.raw(request.as_bytes()).await?;
    ensure!(
        answer.text() == "one\r\ntwo" && answer.header("transfer-encoding").is_none(),
        "{answer:?}"
    );
    ensure!(over_http2(scene, CHUNKS).await? == (200, "one\r\ntwo".to_owned()));
    Ok(())
}

async fn bad_chunks(scene: &Scene<'_>) -> Result<()> {
    let head = "out HTTP/1.1 200 OK%0D%0ATransfer-Encoding: chunked%0D%0A%0D%0A";
    for body in [
        "3%0D%0Aone%0D%0A",
        "5%0D%0Aone",
        "3%0D%0Aone+%0D%0A0%0D%0A%0D%0A",
        "page",
    ] {
        let answer = nph_says(scene, &format!("{head}{body}")).await?;
        ensure!(answer.status == 200 && !answer.complete, "{body}: {answer:?}");
        if let Ok(answer) = over_http2(scene, &format!("{head}{body}")).await {
            bail!("{body}: looks whole over HTTP/2: {answer:?}");
        }
    }
    let record = scene.record(8).await?;
    ensure!(record["outcome"] == "bad_output", "{record}");
    let answer = nph_says(
        scene,
        "out HTTP/1.1 200 OK%0D%0ATransfer-Encoding: gzip%0D%0A%0D%0Ax",
    )
    .await?;
    ensure!(answer.status == 502, "{answer:?}");
    Ok(())
}

async fn no_body(scene: &Scene<'_>) -> Result<()> {
    for status in ["204 No Content", "304 Not Modified"] {
        let script = format!("out HTTP/1.1 {status}%0D%0AETag: \"a\"%0D%0A%0D%0Abody");
        let answer = kept(scene, "GET", "nph-puppet", &script).await?;
        ensure!(
            status.starts_with(&answer.status.to_string()) && answer.body.is_empty(),
            "{answer:?}"
        );
    }
    let answer = kept(scene, "HEAD", "nph-puppet", PAGE).await?;
    ensure!(answer.header("content-length") == Some("4"), "{answer:?}");
    Ok(())
}

async fn hop_by_hop(scene: &Scene<'_>) -> Result<()> {
    let script = "out HTTP/1.1 200 OK%0AConnection: close, X-Private%0AX-Private: 1%0AKeep-Alive: x%0AUpgrade: y%0A%0Apage";
    let answer = kept(scene, "GET", "nph-puppet", script).await?;
    for name in ["connection", "x-private", "keep-alive", "upgrade"] {
        ensure!(answer.header(name).is_none(), "{name}: {answer:?}");
    }
    let script = "out HTTP/1.1 101 Switching Protocols%0D%0AUpgrade: websocket%0D%0A%0D%0Axxxx";
    let answer = nph_says(scene, script).await?;
    ensure!(answer.status == 502, "{answer:?}");
    Ok(())
}

async fn redirect(scene: &Scene<'_>) -> Result<()> {
    let answer = nph_says(scene, "out HTTP/1.1 302 Found%0D%0ALocation: /x%0D%0A%0D%0A").await?;
    ensure!(
        answer.status == 302 && answer.header("location") == Some("/x"),
        "{answer:?}"
    );
    Ok(())
}

async fn settings(scene: &Scene<'_>) -> Result<()> {
    for (name, body) in [("always", "one\r\ntwo"), ("nph-never", "")] {
        let answer = scene.get(&format!("/cgi-bin/{name}"), &pull(CHUNKS)).await?;
        if body.is_empty() {
            ensure!(answer.status == 502, "{name}: {answer:?}");
        } else {
            ensure!(
                answer.status == 200 && answer.text() == body,
                "{name}: {answer:?}"
            );
        }
    }
    Ok(())
}

async fn before_a_block(scene: &Scene<'_>) -> Result<()> {
    for interim in ["Status: 100 Continue%0A%0A", "HTTP/1.1 100 Continue%0D%0A%0D%0A"] {
        let script = format!("out {interim}Status: 404%0AContent-Type: text/plain%0A%0Agone");
        let answer = scene.puppet(&script).await?;
        ensure!(answer.status == 404 && answer.text() == "gone", "{answer:?}");
        let answer = scene.puppet(&format!("out {interim}")).await?;
        ensure!(answer.status == 502, "{answer:?}");
    }
    Ok(())
}

async fn with_stderr(scene: &Scene<'_>) -> Result<()> {
    let answer = nph_says(scene, &format!("err a warning%0A; {PAGE}; err another%0A")).await?;
    ensure!(answer.status == 200 && answer.text() == "page", "{answer:?}");
    let id = scene.record(1).await?["id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let record = scene.host.document(&format!("/api/v1/requests/{id}")).await?;
    ensure!(record["stderr"] == "a warning\nanother\n", "{record}");
    Ok(())
}

async fn early_hints(scene: &Scene<'_>) -> Result<()> {
    for interim in ["HTTP/1.1 103 Early Hints", "Status: 103"] {
        let script = format!(
            "out {interim}%0ALink: </style.css>%0A%0A; sleep 20; out Content-Type: text/plain%0A%0Apage"
        );
        let answer = scene.puppet(&script).await?;
        ensure!(answer.status == 200 && answer.text() == "page", "{answer:?}");
        ensure!(answer.header("link").is_none(), "{answer:?}");
    }
    Ok(())
}

async fn body(scene: &Scene<'_>, method: &str, script: &str) -> Result<Answer> {
    let request = scene.request(&format!("{method} /cgi-bin/body HTTP/1.1"), &pull(script));
    scene.raw(request.as_bytes()).await
}

async fn body_only(scene: &Scene<'_>) -> Result<()> {
    let answer = body(
        scene,
        "GET",
        "out %0A%0D%0A: no <head> %00%FF; sleep 20; out , more",
    )
    .await?;
    ensure!(
        answer.status == 200
            && answer.header("content-type") == Some("text/x-body")
            && answer.body == b"\n\r\n: no <head> \0\xff, more",
        "{answer:?}"
    );
    Ok(())
}

async fn body_only_edges(scene: &Scene<'_>) -> Result<()> {
    let nothing = body(scene, "GET", "exit 0").await?;
    ensure!(nothing.status == 200 && nothing.body.is_empty(), "{nothing:?}");
    let failed = body(scene, "GET", "exit 1").await?;
    ensure!(failed.status == 502, "{failed:?}");
    let block = body(scene, "GET", "out Status: 404%0AX-Sendfile: /etc/passwd%0A%0Ax").await?;
    ensure!(
        block.status == 200 && block.text() == "Status: 404\nX-Sendfile: /etc/passwd\n\nx",
        "{block:?}"
    );
    let head = body(scene, "HEAD", "out page").await?;
    ensure!(head.status == 200 && head.body.is_empty(), "{head:?}");
    Ok(())
}
