//! Files that programs name and the host sends.

use std::os::unix::fs::symlink;

use anyhow::{Result, ensure};
use warmbin_tests::{Answer, HostBuilder};

use super::Where::Everywhere;
use super::scene::{Scene, pull, puppet_as};
use super::section;

section! {
    "X-Sendfile";
    r49 Everywhere, on files, "`X-Sendfile: FILE` in a root, outside, empty, missing, relative, a folder" =>
        "the file with its length; 403; 502; 404; 502; 404. The field never reaches the client": places;
    r71 Everywhere, on files, "ways out of the root: `..`, links, a root whose name is a prefix; nothing configured" => "403": outside;
    r72 Everywhere, on files, "a type, a cookie, a wrong Content-Length and a body of the program's" =>
        "type and cookie are kept, length and body are the file's; without a type, the file's": own_fields;
    r73 Everywhere, on files, "ranges, If-Modified-Since, HEAD, POST" => "206, 304, a head, the file": conditions;
    r74 Everywhere, on files, "`Status: 404` with a range asked for" => "404 and the whole file": with_status;
    r75 Everywhere, on files, "an empty file, a name with blanks, `%20`, `é`" => "the file": names;
    r76 Everywhere, on files, "X-Sendfile, twice on one connection, and endless output behind it" =>
        "two whole answers; the program is ended": kept;
}

fn files(builder: HostBuilder) -> Result<HostBuilder> {
    let folder = builder.folder().canonicalize()?;
    for name in ["files/sub", "files-other"] {
        std::fs::create_dir_all(folder.join(name))?;
    }
    for (name, text) in [
        ("files/ten.txt", "0123456789"),
        ("files/empty", ""),
        ("files/two words.txt", "two"),
        ("files/é.txt", "e"),
        ("files/sub/deep.html", "deep"),
        ("files-other/secret.txt", "secret"),
        ("secret.txt", "secret"),
    ] {
        std::fs::write(folder.join(name), text)?;
    }
    symlink("../secret.txt", folder.join("files/link-out"))?;
    symlink("ten.txt", folder.join("files/link-in"))?;
    let roots = format!("sendfile_roots = [{:?}]", folder.join("files"));
    let builder = puppet_as(builder, "sender", &roots);
    Ok(puppet_as(builder, "puppet", ""))
}

/// What the program is to print so that `name` below the host's folder is sent.
fn named(scene: &Scene<'_>, name: &str) -> Result<String> {
    let folder = scene.host.folder().canonicalize()?;
    Ok(format!("X-Sendfile: {}/{name}", folder.display()))
}

async fn send(scene: &Scene<'_>, field: &str, line: &str, fields: &str) -> Result<Answer> {
    let script = format!("out Content-Type: text/x-own%0A{field}%0A%0A; out own body");
    let request = scene.request(line, &format!("{}{fields}", pull(&script)));
    let answer = scene.raw(request.as_bytes()).await?;
    ensure!(answer.header("x-sendfile").is_none(), "it leaks: {answer:?}");
    Ok(answer)
}

async fn get(scene: &Scene<'_>, field: &str) -> Result<Answer> {
    send(scene, field, "GET /cgi-bin/sender HTTP/1.1", "").await
}

async fn places(scene: &Scene<'_>) -> Result<()> {
    for name in ["files/ten.txt", "files/link-in", "files/sub/../ten.txt"] {
        let answer = get(scene, &named(scene, name)?).await?;
        ensure!(
            answer.status == 200
                && answer.text() == "0123456789"
                && answer.header("content-length") == Some("10"),
            "{answer:?}"
        );
    }
    for (field, status) in [
        (named(scene, "secret.txt")?, 403),
        ("X-Sendfile: /etc/passwd".to_owned(), 403),
        ("X-Sendfile: ".to_owned(), 502),
        ("X-Sendfile: ten.txt".to_owned(), 502),
        (named(scene, "files/none")?, 404),
        (named(scene, "files/sub")?, 404),
    ] {
        let answer = get(scene, &field).await?;
        ensure!(answer.status == status, "{field}: {answer:?}");
        let text = answer.text();
        ensure!(
            !text.contains("secret") && !text.contains("own body"),
            "{answer:?}"
        );
    }
    let record = scene.record(9).await?;
    ensure!(
        record["outcome"] == "bad_output"
            && record["error"]
                .as_str()
                .is_some_and(|why| why.contains("files/sub")),
        "{record}"
    );
    Ok(())
}

async fn outside(scene: &Scene<'_>) -> Result<()> {
    for name in [
        "files/../secret.txt",
        "files/link-out",
        "files/sub/../../secret.txt",
        "files-other/secret.txt",
        "files/%252e%252e/secret.txt",
        "files/%2e%2e/secret.txt",
    ] {
        let answer = get(scene, &named(scene, name)?).await?;
        ensure!(
            matches!(answer.status, 403 | 404) && !answer.text().contains("secret"),
            "{name}: {answer:?}"
        );
    }
    let field = named(scene, "files/ten.txt")?;
    let answer = send(scene, &field, "GET /cgi-bin/puppet HTTP/1.1", "").await?;
    ensure!(answer.status == 403, "without roots: {answer:?}");
    Ok(())
}

async fn own_fields(scene: &Scene<'_>) -> Result<()> {
    let field = format!(
        "Content-Length: 3%0ASet-Cookie: a=b%0ACache-Control: private%0A{}",
        named(scene, "files/sub/deep.html")?
    );
    let answer = get(scene, &field).await?;
    ensure!(
        answer.text() == "deep"
            && answer.header("content-length") == Some("4")
            && answer.header("content-type") == Some("text/x-own")
            && answer.header("set-cookie") == Some("a=b")
            && answer.header("cache-control") == Some("private"),
        "{answer:?}"
    );
    for status in ["", "Status: 200%0A"] {
        let script = format!("out {status}{}%0A%0A", named(scene, "files/sub/deep.html")?);
        let answer = scene.get("/cgi-bin/sender", &pull(&script)).await?;
        ensure!(
            answer.text() == "deep" && answer.header("content-type") == Some("text/html"),
            "{answer:?}"
        );
    }
    Ok(())
}

async fn conditions(scene: &Scene<'_>) -> Result<()> {
    let field = named(scene, "files/ten.txt")?;
    let line = "GET /cgi-bin/sender HTTP/1.1";
    let part = send(scene, &field, line, "Range: bytes=2-4\r\n").await?;
    ensure!(
        part.status == 206 && part.text() == "234" && part.header("content-range") == Some("bytes 2-4/10"),
        "{part:?}"
    );
    let modified = get(scene, &field).await?;
    let since = modified.header("last-modified").unwrap_or_default();
    let fresh = send(scene, &field, line, &format!("If-Modified-Since: {since}\r\n")).await?;
    ensure!(fresh.status == 304 && fresh.body.is_empty(), "{fresh:?}");
    let head = send(scene, &field, "HEAD /cgi-bin/sender HTTP/1.1", "").await?;
    ensure!(
        head.status == 200 && head.header("content-length") == Some("10") && head.body.is_empty(),
        "{head:?}"
    );
    let posted = send(
        scene,
        &field,
        "POST /cgi-bin/sender HTTP/1.1",
        "Content-Length: 0\r\nRange: bytes=2-4\r\n",
    )
    .await?;
    ensure!(
        posted.status == 200 && posted.text() == "0123456789",
        "{posted:?}"
    );
    Ok(())
}

async fn with_status(scene: &Scene<'_>) -> Result<()> {
    let field = format!("Status: 404 Gone%0A{}", named(scene, "files/ten.txt")?);
    let line = "GET /cgi-bin/sender HTTP/1.1";
    let answer = send(scene, &field, line, "Range: bytes=2-4\r\n").await?;
    ensure!(
        answer.status == 404 && answer.text() == "0123456789",
        "{answer:?}"
    );
    Ok(())
}

async fn names(scene: &Scene<'_>) -> Result<()> {
    for (name, text) in [
        ("files/empty", ""),
        ("files/two words.txt", "two"),
        ("files/two%2520words.txt", "two"),
        ("files/é.txt", "e"),
        ("files/%25C3%25A9.txt", "e"),
    ] {
        let answer = get(scene, &named(scene, name)?).await?;
        ensure!(
            answer.status == 200
                && answer.text() == text
                && answer.header("content-length") == Some(&*text.len().to_string()),
            "{name}: {answer:?}"
        );
    }
    Ok(())
}

async fn kept(scene: &Scene<'_>) -> Result<()> {
    let script = format!(
        "out {}%0A%0A; repeat 1000000000 more",
        named(scene, "files/ten.txt")?
    );
    let mut connection = scene.connect().await?;
    for _ in 0..2 {
        let request = scene.request("GET /cgi-bin/sender HTTP/1.1", &pull(&script));
        connection.send(request.as_bytes()).await?;
        let answer = connection.answer(false).await?;
        ensure!(
            answer.status == 200 && answer.text() == "0123456789",
            "{answer:?}"
        );
    }
    // A record is written when the program has left.
    let record = scene.record(2).await?;
    ensure!(record["status"] == 200 && record["outcome"] == "ok", "{record}");
    Ok(())
}
