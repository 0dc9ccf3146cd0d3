//! Faults of other hosts that concern environments and routes; their numbers are of the list of faults.

use std::os::unix::fs::{PermissionsExt, symlink};

use anyhow::{Result, ensure};
use warmbin_tests::HostBuilder;

use super::Where::{BeforeTheMode, Everywhere, Native};
use super::scene::{ENV, Scene, Variables, pull, puppet, puppet_as};
use super::section;

section! {
    "Faults seen in other hosts: environments and routes";
    x46 Everywhere, "`Proxy` in every spelling, beside a form field of that name" => "no HTTP_PROXY": httpoxy;
    x47 Everywhere, "`Host: name:1234`, `Host: [::1]:1234`, `Host: NAME.`" => "SERVER_NAME without a port": host_port;
    x49 Everywhere, on nested, "programs at `/`, `/a`, `/a/b`, asked for `/a/b/c`, `/a/bc`, `/ab`" =>
        "SCRIPT_NAME and PATH_INFO are cut at the longest route": prefixes;
    x50 Everywhere, "`?` and no query; no `?`" => "QUERY_STRING is there and empty": empty_query;
    x51 Everywhere, "`Host: [2001:db8::1]`, with and without a port; `[::1` and `::1`" => "SERVER_NAME keeps its brackets; 400": ipv6_host;
    x55 Everywhere, on error_page, "an error page's program" => "REDIRECT_URL is a path, not a URL": redirect_url;
    x57 Everywhere, "OPTIONS of a program's address" => "the program answers it": options;
    x59 Native(NO_FILE), on folder, "a script reached through a link in its path" =>
        "SCRIPT_FILENAME is a file that is there; the folder's root is DOCUMENT_ROOT": script_filename;
    x60 BeforeTheMode, on documents, "executable files where nobody said that programs are" => "as files": opt_in;
    x61 Everywhere, "`PROGRAM/extra`" => "SCRIPT_FILENAME and PATH_INFO both": extra_path;
    x62 Native(NO_FILE), on folder, "a program without extension below folders with dots" => "found": no_extension;
    x64 Native(NO_FILE), on folder, "`#!/usr/bin/env sh`, and PATH of the host unset" => "runs; PATH has a default": env_shebang;
    x65 Native(NO_FILE), on folder, "where it runs" => "its own folder; HOME and the host's variables are not passed": clean_start;
    x66 Native(NO_FILE), on folder, "one file under two linked names that looks at its name" => "each name is seen": multi_call;
    x67 Everywhere, "a header of 5,000 bytes among 50 others" => "every byte": long_environment;
    x69 BeforeTheMode, on folder, "`%2f`, `%5c`, `%2e%2e%2f`, `%252e` in a program's path" => "404 or 400, never a source": encoded_slash;
    x70 Everywhere, "`X_Client_Id` and `X-Client-Id`, in either order and case" => "the second's value": spoofed;
    x72 Everywhere, "`?-s`, `?-d+auto_prepend_file=/etc/passwd`, `?%ADd+x`, `?%2ds`" => "no argument": php_options;
}

const NO_FILE: &str = "A drop-in script is a file that the system starts.";

const SHOW: &str =
    "#!/usr/bin/env sh\nprintf 'Content-Type: text/plain\\n\\nHERE=%s\\nNAME=%s\\n' \"$(pwd)\" \"$0\"; env\n";

fn nested(builder: HostBuilder) -> Result<HostBuilder> {
    let mut builder = builder;
    for (name, route) in [("root", "/"), ("a", "/a"), ("ab", "/a/b")] {
        builder = puppet_as(builder, name, &format!("route = {route:?}"));
    }
    Ok(builder)
}

fn error_page(builder: HostBuilder) -> Result<HostBuilder> {
    puppet(builder.setting("error_documents = { 404 = \"/cgi-bin/puppet\" }"))
}

fn write(file: &std::path::Path, text: &str) -> Result<()> {
    std::fs::write(file, text)?;
    Ok(std::fs::set_permissions(
        file,
        std::fs::Permissions::from_mode(0o755),
    )?)
}

fn folder(builder: HostBuilder) -> Result<HostBuilder> {
    let root = builder.folder().to_owned();
    for below in ["cgi/v1.2/tools.d", "real"] {
        std::fs::create_dir_all(root.join(below))?;
    }
    for file in ["cgi/show", "cgi/v1.2/tools.d/show", "real/show", "outside"] {
        write(&root.join(file), SHOW)?;
    }
    symlink("../real", root.join("cgi/linked"))?;
    for name in ["one", "two"] {
        symlink("show", root.join("cgi").join(name))?;
    }
    Ok(builder.table("[[directory]]\nurl = \"/cgi\"\npath = \"cgi\""))
}

fn documents(builder: HostBuilder) -> Result<HostBuilder> {
    let site = builder.folder().join("site");
    std::fs::create_dir_all(site.join("cgi-bin"))?;
    for name in ["tool", "tool.cgi", "tool.pl", "cgi-bin/tool"] {
        write(&site.join(name), SHOW)?;
    }
    puppet(builder.setting("documents = \"site\""))
}

async fn shown(scene: &Scene<'_>, target: &str) -> Result<Variables> {
    Variables::of(&scene.get(target, "").await?)
}

async fn httpoxy(scene: &Scene<'_>) -> Result<()> {
    for name in ["Proxy", "PROXY", "proxy", "Proxy_", "pRoXy"] {
        let found = scene
            .environment("?HTTP_PROXY=http://evil", &format!("{name}: http://evil\r\n"))
            .await?;
        found.hold(&[("HTTP_PROXY", None), ("http_proxy", None)])?;
    }
    Ok(())
}

async fn host_port(scene: &Scene<'_>) -> Result<()> {
    for (host, name) in [("name:1234", "name"), ("[::1]:1234", "[::1]"), ("NAME.", "name")] {
        let request = scene.request_to(host, "GET /cgi-bin/puppet HTTP/1.1", &pull(ENV));
        let found = Variables::of(&scene.raw(request.as_bytes()).await?)?;
        found.hold(&[("SERVER_NAME", Some(name)), ("HTTP_HOST", Some(host))])?;
    }
    Ok(())
}

async fn ipv6_host(scene: &Scene<'_>) -> Result<()> {
    for host in ["[2001:db8::1]", "[2001:db8::1]:8443"] {
        let request = scene.request_to(host, "GET /cgi-bin/puppet HTTP/1.1", &pull(ENV));
        let found = Variables::of(&scene.raw(request.as_bytes()).await?)?;
        found.hold(&[("SERVER_NAME", Some("[2001:db8::1]")), ("HTTP_HOST", Some(host))])?;
    }
    for host in ["[::1", "::1"] {
        let request = scene.request_to(host, "GET /cgi-bin/puppet HTTP/1.1", &pull(ENV));
        let answer = scene.raw(request.as_bytes()).await?;
        ensure!(answer.status == 400, "{host}: {answer:?}");
    }
    Ok(())
}

async fn prefixes_of(scene: &Scene<'_>, target: &str, script: &str, info: Option<&str>) -> Result<()> {
    let found = Variables::of(&scene.get(target, &pull(ENV)).await?)?;
    found.hold(&[("SCRIPT_NAME", Some(script)), ("PATH_INFO", info)])
}

async fn prefixes(scene: &Scene<'_>) -> Result<()> {
    for (target, script, info) in [
        ("/a/b/c", "/a/b", Some("/c")),
        ("/a/b", "/a/b", None),
        ("/a/b/", "/a/b", Some("/")),
        ("/a/bc", "/a", Some("/bc")),
        ("/a", "/a", None),
        ("/ab", "", Some("/ab")),
        ("/", "", Some("/")),
    ] {
        prefixes_of(scene, target, script, info).await?;
    }
    Ok(())
}

async fn empty_query(scene: &Scene<'_>) -> Result<()> {
    for below in ["", "?"] {
        scene
            .environment(below, "")
            .await?
            .hold(&[("QUERY_STRING", Some(""))])?;
    }
    Ok(())
}

async fn redirect_url(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.get("/none/of%20these?q=1", &pull(ENV)).await?;
    ensure!(answer.status == 404, "{answer:?}");
    let mut page = answer;
    page.status = 200;
    Variables::of(&page)?.hold(&[
        ("REDIRECT_URL", Some("/none/of these")),
        ("REDIRECT_STATUS", Some("404")),
        ("REDIRECT_QUERY_STRING", Some("q=1")),
    ])
}

async fn options(scene: &Scene<'_>) -> Result<()> {
    let script = "out Allow: GET, OPTIONS%0AStatus: 204%0A%0A";
    let request = scene.request("OPTIONS /cgi-bin/puppet HTTP/1.1", &pull(script));
    let answer = scene.raw(request.as_bytes()).await?;
    ensure!(
        answer.status == 204 && answer.header("allow") == Some("GET, OPTIONS"),
        "{answer:?}"
    );
    Ok(())
}

async fn script_filename(scene: &Scene<'_>) -> Result<()> {
    let found = shown(scene, "/cgi/linked/show/x?y").await?;
    let file = found.get("SCRIPT_FILENAME").unwrap_or_default();
    ensure!(std::path::Path::new(file).is_file(), "{file}");
    let root = scene.host.folder().join("cgi");
    found.hold(&[
        ("SCRIPT_NAME", Some("/cgi/linked/show")),
        ("PATH_INFO", Some("/x")),
        ("DOCUMENT_ROOT", root.to_str()),
    ])
}

async fn opt_in(scene: &Scene<'_>) -> Result<()> {
    for name in ["/tool", "/tool.cgi", "/tool.pl"] {
        let answer = scene.get(name, "").await?;
        ensure!(
            answer.status == 200 && answer.text() == SHOW,
            "{name}: {answer:?}"
        );
    }
    Ok(())
}

async fn extra_path(scene: &Scene<'_>) -> Result<()> {
    let found = scene.environment("/extra", "").await?;
    found.hold(&[("PATH_INFO", Some("/extra"))])?;
    ensure!(
        found
            .get("SCRIPT_FILENAME")
            .is_some_and(|file| file.ends_with("puppet")),
        "{found:?}"
    );
    Ok(())
}

async fn no_extension(scene: &Scene<'_>) -> Result<()> {
    let found = shown(scene, "/cgi/v1.2/tools.d/show/v2.0").await?;
    found.hold(&[
        ("SCRIPT_NAME", Some("/cgi/v1.2/tools.d/show")),
        ("PATH_INFO", Some("/v2.0")),
    ])
}

async fn env_shebang(scene: &Scene<'_>) -> Result<()> {
    let found = shown(scene, "/cgi/show").await?;
    ensure!(
        found.get("PATH").is_some_and(|path| path.contains("/usr/bin")),
        "{found:?}"
    );
    Ok(())
}

async fn clean_start(scene: &Scene<'_>) -> Result<()> {
    let folder = scene.host.folder().join("cgi");
    let found = shown(scene, "/cgi/show").await?;
    found.hold(&[
        ("HERE", folder.to_str()),
        ("HOME", None),
        ("WARMBIN_ADMIN_TOKEN", None),
    ])
}

async fn multi_call(scene: &Scene<'_>) -> Result<()> {
    for name in ["one", "two"] {
        let found = shown(scene, &format!("/cgi/{name}")).await?;
        ensure!(
            found.get("NAME").is_some_and(|seen| seen.ends_with(name)),
            "{found:?}"
        );
    }
    Ok(())
}

async fn long_environment(scene: &Scene<'_>) -> Result<()> {
    use std::fmt::Write as _;
    let long = "v".repeat(5_000);
    let mut fields = format!("X-Long: {long}\r\n");
    for number in 0..50 {
        write!(fields, "X-Other-{number}: {number}\r\n")?;
    }
    let found = scene.environment("", &fields).await?;
    found.hold(&[
        ("HTTP_X_LONG", Some(&long)),
        ("HTTP_X_OTHER_0", Some("0")),
        ("HTTP_X_OTHER_49", Some("49")),
    ])
}

async fn encoded_slash(scene: &Scene<'_>) -> Result<()> {
    for target in [
        "/cgi%2fshow",
        "/cgi/..%2foutside",
        "/cgi/%2e%2e%2foutside",
        "/cgi/%2e%2e/outside",
        "/cgi/..%5coutside",
        "/cgi/%252e%252e/outside",
        "/cgi/show%00.txt",
        "/cgi//../../outside",
    ] {
        let answer = scene.get(target, "").await?;
        ensure!(
            matches!(answer.status, 400 | 404) && !answer.text().contains("printf"),
            "{target}: {answer:?}"
        );
    }
    Ok(())
}

async fn spoofed(scene: &Scene<'_>) -> Result<()> {
    for fields in [
        "X_Client_Id: evil\r\nX-Client-Id: good\r\n",
        "x-client-id: good\r\nx_client_id: evil\r\n",
        "X-Client_Id: evil\r\nX-CLIENT-ID: good\r\nX_Client-Id: evil\r\n",
    ] {
        let found = scene.environment("", fields).await?;
        found.hold(&[("HTTP_X_CLIENT_ID", Some("good"))])?;
    }
    Ok(())
}

async fn php_options(scene: &Scene<'_>) -> Result<()> {
    for query in [
        "-s",
        "-d+auto_prepend_file=/etc/passwd",
        "%ADd+x",
        "%2ds",
        "-h",
        "+-s",
    ] {
        let script = "out Content-Type: text/plain%0A%0A; args";
        let answer = scene
            .get(&format!("/cgi-bin/puppet?{query}"), &pull(script))
            .await?;
        ensure!(answer.text().starts_with("1\n"), "{query}: {answer:?}");
    }
    Ok(())
}
