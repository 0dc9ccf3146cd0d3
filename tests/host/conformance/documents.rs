//! Files below `/`: what `documents` serves, and what it never does.

use std::os::unix::fs::{PermissionsExt, symlink};

use anyhow::{Context, Result, ensure};
use warmbin_tests::{Answer, HostBuilder, guest};

use super::Where::{BeforeTheMode, Everywhere};
use super::scene::{PLAIN, Scene, pull, puppet};
use super::section;

section! {
    "Documents";
    f50 BeforeTheMode, on site, "GET of files of several kinds" =>
        "200, the bytes, Content-Length, the type of their extension, Last-Modified, nosniff": files;
    f51 BeforeTheMode, on site, "HEAD" => "the same head, no body": head;
    f52 BeforeTheMode, on site, "If-Modified-Since, If-None-Match, If-Unmodified-Since" => "304, 304, 412": conditions;
    f53 BeforeTheMode, on site, "ranges: first, last, one byte, beyond the end, rubbish" => "206 with its place; 416; the whole": ranges;
    f54 BeforeTheMode, on site, "a folder with index.html; without its slash" =>
        "the index; 301 to the address with the slash, query kept": folders;
    f55 BeforeTheMode, on site, "a folder without index.html, a name that is not there" => "404, no listing": nothing_there;
    f56 BeforeTheMode, on site, "POST, PUT, DELETE, BREW; to what is not there" => "405 with Allow; 404": other_methods;
    f57 BeforeTheMode, on site, "names that begin with a dot, also through an encoding" => "404": dot_files;
    f58 BeforeTheMode, on site, "ways out of the folder: `..`, links, encoded slashes" => "400 or 404, nothing from outside": outside;
    f59 BeforeTheMode, on site, "files of a folder of programs, of a program, of the host's own data" =>
        "404 below `/`: sources and secrets are no documents": sources;
    f60 BeforeTheMode, on site, "an executable, a `.php`, a `.shtml`" => "as files; `.shtml` is 403 until it is parsed": never_run;
    f61 Everywhere, on site, "a program's address, and a file at the same place" => "the program": programs_first;
    f62 Everywhere, on site, "a program's `Location: /page.html`" => "the document in its place": local_redirect;
    f63 BeforeTheMode, on site, "a FIFO, a socket; names with blanks, `é`, `%`" => "404; found once decoded": names;
    f64 BeforeTheMode, on site, "a file and what would be extra path" => "404": no_extra_path;
    f65 BeforeTheMode, on site, "20 requests on one connection, HTTP/1.0, a body with a GET" => "framed as they should be": connections;
    f67 BeforeTheMode, on programs_at_root, "a folder of programs at `/`" =>
        "its programs first, then the documents; its other files are neither": root_folder;
    f66 BeforeTheMode, on whole_disk, "`documents` is the folder with everything in it" =>
        "data folder, configuration and programs stay out": everything;
}

fn site(builder: HostBuilder) -> Result<HostBuilder> {
    let site = builder.folder().join("site");
    for folder in ["docs", "bare", ".git", "cgi", "cgi-bin", "sub/deep"] {
        std::fs::create_dir_all(site.join(folder))?;
    }
    let numbers = (0..1000).fold(String::new(), |text, n| format!("{text}{n:03} "));
    for (name, text) in [
        ("index.html", "<h1>home</h1>"),
        ("page.html", "<h1>page</h1>"),
        ("style.css", "a { b: c }"),
        ("script.js", "x"),
        ("data.json", "{}"),
        ("picture.png", "\u{89}PNG"),
        ("plain.txt", "0123456789"),
        ("numbers.txt", &numbers),
        ("empty.txt", ""),
        ("noextension", "bytes"),
        ("page.php", "<?php echo 'run'; ?>"),
        ("page.shtml", "<!--#exec cmd=\"id\" secret -->"),
        ("tool.cgi", "#!/bin/sh\necho run\n"),
        ("docs/index.html", "<h1>docs</h1>"),
        ("sub/deep/file.txt", "deep"),
        (".htaccess", "secret"),
        (".git/config", "secret"),
        (
            "cgi/program.sh",
            "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nran'\n# secret\n",
        ),
        ("cgi-bin/puppet", "secret"),
        ("two words.txt", "two"),
        ("é.txt", "e"),
        ("100%.txt", "percent"),
        ("../outside.txt", "secret"),
    ] {
        std::fs::write(site.join(name), text)?;
    }
    for name in ["tool.cgi", "cgi/program.sh"] {
        std::fs::set_permissions(site.join(name), std::fs::Permissions::from_mode(0o755))?;
    }
    symlink("page.html", site.join("link-inside.html"))?;
    symlink("../outside.txt", site.join("link-outside.txt"))?;
    symlink("/etc/passwd", site.join("link-away.txt"))?;
    symlink("../", site.join("up"))?;
    symlink("cgi/program.sh", site.join("link-program.txt"))?;
    symlink("nowhere", site.join("dangling.txt"))?;
    drop(std::os::unix::net::UnixListener::bind(site.join("socket"))?);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        site.join("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )?;
    let builder = builder.setting("documents = \"site\"");
    let builder = builder.table("[[directory]]\nurl = \"/programs\"\npath = \"site/cgi\"");
    puppet(builder)
}

fn whole_disk(builder: HostBuilder) -> Result<HostBuilder> {
    let root = builder.folder().to_owned();
    std::fs::create_dir(root.join("cgi"))?;
    std::fs::write(root.join("cgi/tool.sh"), "secret")?;
    std::fs::write(root.join("public.txt"), "public")?;
    let builder = builder.setting("documents = \".\"");
    let builder = builder.table("[[directory]]\nurl = \"/programs\"\npath = \"cgi\"");
    builder.script("own.sh", "#!/bin/sh\nsecret\n", "")
}

fn programs_at_root(builder: HostBuilder) -> Result<HostBuilder> {
    let root = builder.folder().to_owned();
    for folder in ["site", "cgi"] {
        std::fs::create_dir(root.join(folder))?;
    }
    std::fs::write(root.join("site/page.html"), "page")?;
    std::fs::write(root.join("site/both"), "secret")?;
    std::fs::write(root.join("cgi/source.txt"), "secret")?;
    std::fs::copy(guest("hello", "native"), root.join("cgi/both"))?;
    let builder = builder.setting("documents = \"site\"");
    Ok(builder.table("[[directory]]\nurl = \"/\"\npath = \"cgi\""))
}

async fn root_folder(scene: &Scene<'_>) -> Result<()> {
    ensure!(found(scene, "/page.html", "", 200).await?.text() == "page");
    found(scene, "/both", "", 200).await?;
    found(scene, "/source.txt", "", 403).await?;
    for target in ["/none", "/", "/page.html/x"] {
        found(scene, target, "", 404).await?;
    }
    Ok(())
}

async fn found(scene: &Scene<'_>, target: &str, fields: &str, status: u16) -> Result<Answer> {
    let answer = scene
        .raw(plain(&format!("GET {target} HTTP/1.1"), fields).as_bytes())
        .await?;
    ensure!(answer.status == status, "{target} {fields}: {answer:?}");
    ensure!(!answer.text().contains("secret"), "{target}: {}", answer.text());
    Ok(answer)
}

/// A request that wishes for no mode.
fn plain(line: &str, fields: &str) -> String {
    format!("{line}\r\nHost: a\r\n{fields}\r\n")
}

async fn files(scene: &Scene<'_>) -> Result<()> {
    for (target, kind, text) in [
        ("/page.html", "text/html", "<h1>page</h1>"),
        ("/style.css", "text/css", "a { b: c }"),
        ("/data.json", "application/json", "{}"),
        ("/picture.png", "image/png", "\u{89}PNG"),
        ("/plain.txt", "text/plain", "0123456789"),
        ("/empty.txt", "text/plain", ""),
        ("/noextension", "application/octet-stream", "bytes"),
        ("/sub/deep/file.txt", "text/plain", "deep"),
        ("/sub//deep/./file.txt?query", "text/plain", "deep"),
        ("/link-inside.html", "text/html", "<h1>page</h1>"),
    ] {
        let answer = found(scene, target, "", 200).await?;
        let length = text.len().to_string();
        ensure!(answer.text() == text && answer.complete, "{target}: {answer:?}");
        ensure!(
            answer.header("content-length") == Some(length.as_str()),
            "{target}: {answer:?}"
        );
        let named = answer.header("content-type").unwrap_or_default();
        ensure!(named.split(';').next() == Some(kind), "{target}: {named}");
        for header in ["last-modified", "x-request-id"] {
            ensure!(answer.header(header).is_some(), "{target}: no {header}");
        }
        ensure!(
            answer.header("x-content-type-options") == Some("nosniff"),
            "{target}: {answer:?}"
        );
        ensure!(answer.header("warmbin-mode").is_none(), "{target}: {answer:?}");
    }
    Ok(())
}

async fn head(scene: &Scene<'_>) -> Result<()> {
    let mut connection = scene.connect().await?;
    for target in ["/plain.txt", "/", "/empty.txt"] {
        let get = found(scene, target, "", 200).await?;
        connection
            .send(plain(&format!("HEAD {target} HTTP/1.1"), "").as_bytes())
            .await?;
        let answer = connection.answer(true).await?;
        for header in ["content-type", "content-length", "last-modified"] {
            ensure!(
                answer.header(header) == get.header(header),
                "{target}: {answer:?}"
            );
        }
        ensure!(answer.status == 200);
    }
    connection
        .send(plain("HEAD /none HTTP/1.1", "").as_bytes())
        .await?;
    ensure!(connection.answer(true).await?.status == 404);
    Ok(())
}

async fn conditions(scene: &Scene<'_>) -> Result<()> {
    let first = found(scene, "/plain.txt", "", 200).await?;
    let modified = first.header("last-modified").context("Last-Modified")?;
    let answer = found(
        scene,
        "/plain.txt",
        &format!("If-Modified-Since: {modified}\r\n"),
        304,
    )
    .await?;
    ensure!(
        answer.body.is_empty() && answer.header("content-length").is_none_or(|l| l != "0"),
        "{answer:?}"
    );
    found(
        scene,
        "/plain.txt",
        "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n",
        200,
    )
    .await?;
    found(scene, "/plain.txt", "If-Modified-Since: yesterday\r\n", 200).await?;
    found(
        scene,
        "/plain.txt",
        "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n",
        412,
    )
    .await?;
    if let Some(tag) = first.header("etag") {
        found(scene, "/plain.txt", &format!("If-None-Match: {tag}\r\n"), 304).await?;
        found(scene, "/plain.txt", "If-None-Match: \"other\"\r\n", 200).await?;
    }
    Ok(())
}

async fn ranges(scene: &Scene<'_>) -> Result<()> {
    for (range, place, text) in [
        ("bytes=0-3", "bytes 0-3/10", "0123"),
        ("bytes=-2", "bytes 8-9/10", "89"),
        ("bytes=5-", "bytes 5-9/10", "56789"),
        ("bytes=9-9", "bytes 9-9/10", "9"),
        ("bytes=8-99", "bytes 8-9/10", "89"),
    ] {
        let answer = found(scene, "/plain.txt", &format!("Range: {range}\r\n"), 206).await?;
        ensure!(
            answer.text() == text && answer.header("content-range") == Some(place),
            "{range}: {answer:?}"
        );
        ensure!(
            answer.header("content-length") == Some(text.len().to_string().as_str()),
            "{answer:?}"
        );
    }
    let answer = found(scene, "/plain.txt", "Range: bytes=10-\r\n", 416).await?;
    ensure!(answer.header("content-range") == Some("bytes */10"), "{answer:?}");
    for range in ["lines=1-2", "bytes=x", "bytes=3-1", "bytes=0-1,3-4", ""] {
        let answer = found(scene, "/plain.txt", &format!("Range: {range}\r\n"), 200).await?;
        ensure!(answer.text() == "0123456789", "{range}: {answer:?}");
    }
    let since = "Range: bytes=0-3\r\nIf-Range: Thu, 01 Jan 1970 00:00:00 GMT\r\n";
    ensure!(found(scene, "/plain.txt", since, 200).await?.body.len() == 10);
    let answer = found(scene, "/numbers.txt", "Range: bytes=2000-2003\r\n", 206).await?;
    ensure!(answer.text() == "500 ", "{answer:?}");
    Ok(())
}

async fn folders(scene: &Scene<'_>) -> Result<()> {
    ensure!(found(scene, "/", "", 200).await?.text() == "<h1>home</h1>");
    ensure!(found(scene, "/docs/?q", "", 200).await?.text() == "<h1>docs</h1>");
    for (target, location) in [
        ("/docs", "/docs/"),
        ("/docs?a=b&c", "/docs/?a=b&c"),
        ("//docs", "/docs/"),
        ("/bare/../docs", "/bare/../docs/"),
        ("/sub/deep", "/sub/deep/"),
    ] {
        let answer = found(scene, target, "", 301).await?;
        ensure!(
            answer.header("location") == Some(location),
            "{target}: {answer:?}"
        );
    }
    Ok(())
}

async fn nothing_there(scene: &Scene<'_>) -> Result<()> {
    for target in [
        "/bare/",
        "/none",
        "/none/",
        "/docs/none",
        "/page.htm",
        "/PAGE.html",
        "/page.html%20",
        "/page.html.",
        "/dangling.txt",
    ] {
        found(scene, target, "", 404).await?;
    }
    found(scene, &format!("/{}", "n".repeat(300)), "", 404).await?;
    found(scene, &"/n".repeat(3000), "", 404).await.map(drop)
}

async fn other_methods(scene: &Scene<'_>) -> Result<()> {
    for method in ["POST", "PUT", "DELETE", "BREW", "PATCH", "OPTIONS"] {
        let fields = "Content-Length: 4\r\n";
        let request = format!("{}body", plain(&format!("{method} /plain.txt HTTP/1.1"), fields));
        let answer = scene.raw(request.as_bytes()).await?;
        ensure!(answer.status == 405, "{method}: {answer:?}");
        let allow = answer.header("allow").unwrap_or_default();
        ensure!(
            allow.contains("GET") && allow.contains("HEAD"),
            "{method}: {answer:?}"
        );
        let answer = scene
            .raw(plain(&format!("{method} /none HTTP/1.1"), "").as_bytes())
            .await?;
        ensure!(answer.status == 404, "{method}: {answer:?}");
    }
    Ok(())
}

async fn dot_files(scene: &Scene<'_>) -> Result<()> {
    for target in [
        "/.htaccess",
        "/%2ehtaccess",
        "/.git/config",
        "/%2Egit/config",
        "/docs/../.htaccess",
        "/.git/",
        "/.git",
        "/..htaccess",
    ] {
        found(scene, target, "", 404).await?;
    }
    Ok(())
}

async fn outside(scene: &Scene<'_>) -> Result<()> {
    for target in [
        "/link-outside.txt",
        "/link-away.txt",
        "/up/outside.txt",
        "/docs/..%2f..%2foutside.txt",
        "/..%5coutside.txt",
        "/%252e%252e/outside.txt",
        "//etc/passwd",
        "/docs%2findex.html",
        "/....//outside.txt",
    ] {
        let answer = found(scene, target, "", 404).await?;
        ensure!(!answer.text().contains("root:"), "{target}");
    }
    for target in [
        "/../outside.txt",
        "/docs/../../outside.txt",
        "/%2e%2e/outside.txt",
        "/plain.txt%00",
        "/%zz",
    ] {
        found(scene, target, "", 400).await?;
    }
    Ok(())
}

async fn sources(scene: &Scene<'_>) -> Result<()> {
    for target in [
        "/cgi/program.sh",
        "/cgi/",
        "/cgi",
        "/link-program.txt",
        "/cgi/none",
    ] {
        found(scene, target, "", 404).await?;
    }
    let request = scene.request("GET /programs/program.sh HTTP/1.1", "");
    let answer = scene.raw(request.as_bytes()).await?;
    ensure!(answer.text() == "ran", "{answer:?}");
    // What the folder does not have is not looked for among the documents.
    found(scene, "/programs/none", "", 404).await.map(drop)
}

async fn never_run(scene: &Scene<'_>) -> Result<()> {
    ensure!(found(scene, "/tool.cgi", "", 200).await?.text() == "#!/bin/sh\necho run\n");
    ensure!(found(scene, "/page.php", "", 200).await?.text().contains("<?php"));
    found(scene, "/page.shtml", "", 403).await.map(drop)
}

async fn programs_first(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.puppet(&format!("{PLAIN}; out ran")).await?;
    ensure!(answer.text() == "ran", "{answer:?}");
    Ok(())
}

async fn local_redirect(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.puppet("out Location: /page.html?x%0A%0A").await?;
    ensure!(
        answer.status == 200 && answer.text() == "<h1>page</h1>",
        "{answer:?}"
    );
    let fields = format!(
        "{}Content-Length: 4\r\n",
        pull("read 4; out Location: /page.html%0A%0A")
    );
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
    let answer = scene.raw(format!("{request}body").as_bytes()).await?;
    ensure!(
        answer.status == 200 && answer.text() == "<h1>page</h1>",
        "{answer:?}"
    );
    let answer = scene.puppet("out Location: /docs%0A%0A").await?;
    ensure!(
        answer.status == 301 && answer.header("location") == Some("/docs/"),
        "{answer:?}"
    );
    let answer = scene.puppet("out Location: /none.html%0A%0A").await?;
    ensure!(answer.status == 404, "{answer:?}");
    Ok(())
}

async fn names(scene: &Scene<'_>) -> Result<()> {
    for target in ["/fifo", "/socket", "/fifo/"] {
        found(scene, target, "", 404).await?;
    }
    for (target, text) in [
        ("/two%20words.txt", "two"),
        ("/%C3%A9.txt", "e"),
        ("/100%25.txt", "percent"),
    ] {
        ensure!(found(scene, target, "", 200).await?.text() == text, "{target}");
    }
    Ok(())
}

async fn no_extra_path(scene: &Scene<'_>) -> Result<()> {
    for target in ["/page.html/", "/page.html/x", "/docs/index.html/"] {
        found(scene, target, "", 404).await?;
    }
    Ok(())
}

async fn connections(scene: &Scene<'_>) -> Result<()> {
    let mut connection = scene.connect().await?;
    for _ in 0..20 {
        connection
            .send(plain("GET /plain.txt HTTP/1.1", "Content-Length: 3\r\n").as_bytes())
            .await?;
        connection.send(b"abc").await?;
        let answer = connection.answer(false).await?;
        ensure!(
            answer.status == 200 && answer.text() == "0123456789" && answer.complete,
            "{answer:?}"
        );
    }
    let answer = scene.raw(b"GET /plain.txt HTTP/1.0\r\n\r\n").await?;
    ensure!(
        answer.text() == "0123456789" && answer.header("transfer-encoding").is_none(),
        "{answer:?}"
    );
    Ok(())
}

async fn everything(scene: &Scene<'_>) -> Result<()> {
    ensure!(found(scene, "/public.txt", "", 200).await?.text() == "public");
    for target in [
        "/data/warmbin.db",
        "/data/listeners.json",
        "/data",
        "/data/",
        "/warmbin.toml",
        "/cgi/tool.sh",
        "/own.sh",
        "/cgi/",
    ] {
        found(scene, target, "", 404).await?;
    }
    Ok(())
}
