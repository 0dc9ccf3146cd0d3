//! The host's own error answers, made by a program or a document (`error_documents`).

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use warmbin_tests::{Answer, HostBuilder};

use super::Where::{BeforeTheMode, Everywhere};
use super::flow::{Version, client};
use super::scene::{ENV, Scene, Variables, pull, puppet, puppet_as};
use super::section;

section! {
    "Error documents";
    l38 Everywhere, on failing, "the program for a 404 fails: exits, prints rubbish, crashes, redirects, is not there itself" =>
        "the original 404 and its plain page, once": failing_program;
    l39 Everywhere, on with_program, "a 404 whose page a program makes" =>
        "status 404, its page and type; REDIRECT_STATUS, REDIRECT_URL in path form, REDIRECT_QUERY_STRING, \
         REDIRECT_REQUEST_METHOD": program;
    l80 Everywhere, on with_program, "the program says `Status: 200`, or nothing of it" => "the status stays the original": status_stays;
    l81 Everywhere, on with_program, "a POST, a PUT, a HEAD to what is not there" =>
        "the program sees GET, HEAD for the last, no body and no length": methods;
    l82 Everywhere, on with_program, "a body over the limit, framed by length and by chunks, over HTTP/1 and 2" =>
        "413 with the program's page; the body is not passed on; nothing hangs": too_large;
    l83 Everywhere, on with_program, "a program that fails before its header block" =>
        "502 with the other program's page, a record of each": bad_gateway;
    l84 Everywhere, on with_program, "a program's own `Status: 404`" => "its own page": own_status;
    l85 BeforeTheMode, on with_documents, "a document as page for 404 and 405" =>
        "its bytes and type with the original status; Allow kept; ranges and conditions have no meaning": document;
    l86 BeforeTheMode, on with_documents, "an error document that is not there, or below a dot" => "the plain page": no_document;
    l87 Everywhere, on with_program, "ten 404s on one connection, and over HTTP/2" => "each with its page": connections;
    l88 Everywhere, on with_program, "a wish for a mode that cannot be met" => "the problem document: it is for a tool": problems;
}

/// The program at `/cgi-bin/errors` shows what it was told, or does what the request says.
fn with_program(builder: HostBuilder) -> Result<HostBuilder> {
    let builder = builder.setting(
        "error_documents = { 404 = \"/cgi-bin/errors/page?kind=missing\", 413 = \"/cgi-bin/errors\", 502 = \"/cgi-bin/printenv\" }",
    );
    let builder = puppet_as(builder, "errors", "").guest("printenv", "");
    Ok(builder.guest("puppet", "limits = { request_body = \"1KiB\" }"))
}

fn failing(builder: HostBuilder) -> Result<HostBuilder> {
    let setting = "error_documents = { 404 = \"/cgi-bin/errors\", 502 = \"/cgi-bin/none\" }";
    puppet(puppet_as(builder.setting(setting), "errors", ""))
}

fn with_documents(builder: HostBuilder) -> Result<HostBuilder> {
    let site = builder.folder().join("site");
    std::fs::create_dir(&site)?;
    std::fs::write(site.join("missing.html"), "<h1>gone fishing</h1>")?;
    std::fs::write(site.join(".hidden.html"), "secret")?;
    std::fs::write(site.join("page.html"), "page")?;
    Ok(builder.setting(
        "documents = \"site\"\nerror_documents = { 404 = \"/missing.html\", 405 = \"/missing.html\", 400 = \"/none.html\", \
         403 = \"/.hidden.html\" }",
    ))
}

fn is_plain(answer: &Answer, status: u16) -> bool {
    answer.status == status && answer.text().contains(&format!("<h1>{status} "))
}

/// The variables on a page that the program made, whose status is checked.
fn shown(answer: &Answer, status: u16) -> Result<Variables> {
    ensure!(answer.status == status, "{answer:?}");
    let as_good = Answer {
        status: 200,
        ..answer.clone()
    };
    Variables::of(&as_good)
}

async fn failing_program(scene: &Scene<'_>) -> Result<()> {
    for script in [
        "exit 3",
        "",
        "abort",
        "out rubbish%0A%0A",
        "out Content-Type: text/plain%0AStatus: 9%0A%0Ax",
        "out Location: http://elsewhere/%0A%0A",
        "out Location: /cgi-bin/none%0A%0A",
        "out Location: /cgi-bin/errors%0A%0A",
        "out Content-Type",
    ] {
        let answer = scene.get("/cgi-bin/none?q", &pull(script)).await?;
        ensure!(is_plain(&answer, 404), "{script}: {answer:?}");
        ensure!(answer.header("location").is_none(), "{script}: {answer:?}");
    }
    // The page for a 502 is missing itself, and its 404 has a page of its own: neither is made.
    let answer = scene.puppet("exit 1").await?;
    ensure!(is_plain(&answer, 502), "{answer:?}");
    Ok(())
}

async fn program(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.get("/no%20such/page?a=b%20c", &pull(ENV)).await?;
    ensure!(answer.header("content-type") == Some("text/plain"), "{answer:?}");
    shown(&answer, 404)?.hold(&[
        ("REDIRECT_STATUS", Some("404")),
        ("REDIRECT_URL", Some("/no such/page")),
        ("REDIRECT_QUERY_STRING", Some("a=b%20c")),
        ("REDIRECT_REQUEST_METHOD", Some("GET")),
        ("REQUEST_METHOD", Some("GET")),
        ("SCRIPT_NAME", Some("/cgi-bin/errors")),
        ("PATH_INFO", Some("/page")),
        ("QUERY_STRING", Some("kind=missing")),
        ("REQUEST_URI", Some("/no%20such/page?a=b%20c")),
    ])?;
    let answer = scene.get("/none", &pull(ENV)).await?;
    shown(&answer, 404)?.hold(&[
        ("REDIRECT_URL", Some("/none")),
        ("REDIRECT_QUERY_STRING", Some("")),
    ])?;
    let record = scene.record(1).await?;
    ensure!(
        record["status"] == 404 && record["program"] == "errors",
        "{record}"
    );
    Ok(())
}

async fn status_stays(scene: &Scene<'_>) -> Result<()> {
    for status in ["Status: 200 Fine%0A", "Status: 500%0A", "", "X-More: 1%0A"] {
        let script = format!("out Content-Type: text/plain%0A{status}Set-Cookie: a=b%0A%0Apage");
        let answer = scene.get("/none", &pull(&script)).await?;
        ensure!(
            answer.status == 404 && answer.text() == "page",
            "{status}: {answer:?}"
        );
        ensure!(answer.header("set-cookie") == Some("a=b"), "{answer:?}");
    }
    Ok(())
}

async fn methods(scene: &Scene<'_>) -> Result<()> {
    for method in ["POST", "PUT", "BREW"] {
        let fields = format!(
            "{}Content-Length: 4\r\nContent-Type: a/b\r\n",
            pull(&format!("{ENV}; out body=; copy"))
        );
        let request = scene.request(&format!("{method} /none HTTP/1.1"), &fields);
        let answer = scene.raw(format!("{request}text").as_bytes()).await?;
        shown(&answer, 404)?.hold(&[
            ("REDIRECT_REQUEST_METHOD", Some(method)),
            ("REQUEST_METHOD", Some("GET")),
            ("CONTENT_LENGTH", None),
            ("CONTENT_TYPE", None),
            ("body", Some("")),
        ])?;
    }
    let script = pull("out Content-Type: text/x-head%0A%0Abody");
    let answer = scene
        .raw(scene.request("HEAD /none HTTP/1.1", &script).as_bytes())
        .await?;
    ensure!(
        answer.status == 404 && answer.header("content-type") == Some("text/x-head"),
        "{answer:?}"
    );
    let records = scene
        .host
        .records_when(&format!("mode={}&status=404", scene.mode), 4)
        .await?;
    ensure!(
        records.iter().any(|record| record["method"] == "HEAD"),
        "{records:?}"
    );
    Ok(())
}

async fn too_large(scene: &Scene<'_>) -> Result<()> {
    let script = pull(&format!("{ENV}; out body=; count"));
    let body = "x".repeat(100_000);
    let length = format!("{script}Content-Length: {}\r\n", body.len());
    let chunks = format!("{script}Transfer-Encoding: chunked\r\n");
    for (fields, body) in [
        (&length, body.clone()),
        (&chunks, format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())),
        // The body never comes.
        (&length, String::new()),
    ] {
        let request = scene.request("POST /cgi-bin/puppet?q HTTP/1.1", fields);
        let mut connection = scene.connect().await?;
        connection.send(request.as_bytes()).await?;
        // The host may answer and close before all of it is sent.
        let _ = connection.send(body.as_bytes()).await;
        let answer = connection.answer(false).await?;
        let found = shown(&answer, 413)?;
        found.hold(&[
            ("REDIRECT_STATUS", Some("413")),
            ("REDIRECT_URL", Some("/cgi-bin/puppet")),
            ("REDIRECT_REQUEST_METHOD", Some("POST")),
            ("CONTENT_LENGTH", None),
        ])?;
        ensure!(
            found.get("body").is_some_and(|body| body.starts_with("0 ")),
            "{answer:?}"
        );
    }
    let request = scene.over_http2(Method::POST, "/cgi-bin/puppet", ENV)?;
    let answer = request.body(body).send().await?;
    ensure!(answer.status() == 413, "{}", answer.status());
    ensure!(answer.text().await?.contains("REDIRECT_STATUS=413"));
    let records = scene
        .host
        .records_when(&format!("mode={}&status=413", scene.mode), 8)
        .await?;
    let of = |name: &str| records.iter().filter(|record| record["program"] == name).count();
    ensure!((of("puppet"), of("errors")) == (4, 4), "{records:?}");
    Ok(())
}

async fn bad_gateway(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .get("/cgi-bin/puppet?q", &pull("out No colon%0A%0A"))
        .await?;
    shown(&answer, 502)?.hold(&[
        ("REDIRECT_STATUS", Some("502")),
        ("REDIRECT_URL", Some("/cgi-bin/puppet")),
        ("REDIRECT_QUERY_STRING", Some("q")),
    ])?;
    let records = scene
        .host
        .records_when(&format!("mode={}&status=502", scene.mode), 2)
        .await?;
    let of = |name: &str| records.iter().filter(|record| record["program"] == name).count();
    ensure!((of("puppet"), of("printenv")) == (1, 1), "{records:?}");
    Ok(())
}

async fn own_status(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .puppet("out Status: 404%0AContent-Type: text/plain%0A%0Aown")
        .await?;
    ensure!(answer.status == 404 && answer.text() == "own", "{answer:?}");
    Ok(())
}

async fn ask(scene: &Scene<'_>, line: &str, fields: &str) -> Result<Answer> {
    scene
        .raw(format!("{line}\r\nHost: a\r\n{fields}\r\n").as_bytes())
        .await
}

async fn document(scene: &Scene<'_>) -> Result<()> {
    for fields in [
        "",
        "Range: bytes=0-3\r\n",
        "If-None-Match: *\r\n",
        "If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT\r\n",
        "Accept: application/json\r\n",
    ] {
        let answer = ask(scene, "GET /none HTTP/1.1", fields).await?;
        ensure!(
            answer.status == 404 && answer.text() == "<h1>gone fishing</h1>",
            "{fields}: {answer:?}"
        );
        let kind = answer.header("content-type").context("a type")?;
        ensure!(kind.starts_with("text/html"), "{kind}");
        ensure!(answer.header("content-range").is_none(), "{answer:?}");
    }
    let answer = ask(scene, "DELETE /page.html HTTP/1.1", "").await?;
    ensure!(
        answer.status == 405 && answer.text() == "<h1>gone fishing</h1>",
        "{answer:?}"
    );
    ensure!(
        answer.header("allow").is_some_and(|allow| allow.contains("GET")),
        "{answer:?}"
    );
    let mut connection = scene.connect().await?;
    for _ in 0..2 {
        connection.send(b"HEAD /none HTTP/1.1\r\nHost: a\r\n\r\n").await?;
        let answer = connection.answer(true).await?;
        ensure!(
            answer.status == 404 && answer.header("content-length") == Some("21"),
            "{answer:?}"
        );
    }
    Ok(())
}

async fn no_document(scene: &Scene<'_>) -> Result<()> {
    let answer = ask(scene, "GET /%zz HTTP/1.1", "").await?;
    ensure!(is_plain(&answer, 400), "{answer:?}");
    let answer = ask(scene, "GET /a HTTP/1.1", "Warmbin-Mode: fork\r\nVia: x\r\n").await?;
    ensure!(
        answer.status == 403 && !answer.text().contains("secret"),
        "{answer:?}"
    );
    Ok(())
}

async fn connections(scene: &Scene<'_>) -> Result<()> {
    let mut connection = scene.connect().await?;
    for at in 0..10 {
        let fields = pull(&format!("out Content-Type: text/plain%0A%0Apage {at}"));
        let request = scene.request("GET /none HTTP/1.1", &fields);
        connection.send(request.as_bytes()).await?;
        let answer = connection.answer(false).await?;
        ensure!(
            answer.status == 404 && answer.text() == format!("page {at}"),
            "{answer:?}"
        );
    }
    let client = client(Version::Two)?;
    for _ in 0..3 {
        let request = client.get(format!("{}/none", scene.host.programs()));
        let answer = request
            .header("Warmbin-Mode", scene.mode)
            .header("Puppet", ENV)
            .send()
            .await?;
        ensure!(answer.status() == 404);
        ensure!(answer.text().await?.contains("REDIRECT_STATUS=404"));
    }
    Ok(())
}

async fn problems(scene: &Scene<'_>) -> Result<()> {
    let request = "GET /cgi-bin/puppet HTTP/1.1\r\nHost: a\r\nWarmbin-Mode: prefork\r\n\r\n";
    let answer = scene.raw(request.as_bytes()).await?;
    ensure!(answer.status == 409, "{answer:?}");
    ensure!(
        answer.header("content-type") == Some("application/problem+json"),
        "{answer:?}"
    );
    Ok(())
}
