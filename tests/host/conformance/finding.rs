//! Which program a path leads to: routes, methods.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Result, ensure};
use warmbin_tests::{HostBuilder, guest};

use super::Where::{BeforeTheMode, Everywhere};
use super::scene::{ENV, Scene, Variables, pull, puppet, puppet_as};
use super::section;

section! {
    "Finding the program";
    f01 BeforeTheMode, "a name that no program has" => "404": no_such_program;
    f15 Everywhere, on no_extra_path, "extra path where `path_info` is off" => "404; without it 200, also at `/`": extra_path_off;
    f18 BeforeTheMode, on documents, "an executable in a folder that is not for programs" => "sent as a file, not run": not_run;
    f19 Everywhere, "OPTIONS, BREW, a method of 60 letters, lower case" => "the program runs, REQUEST_METHOD as sent": methods;
    f20 Everywhere, on nested, "programs at `/a`, `/a/b/c` and a folder at `/a/b`" =>
        "the longest route wins, and SCRIPT_NAME is it": longest_route;
    f21 Everywhere, on at_root, "a program at `/`" => "SCRIPT_NAME empty, the whole path in PATH_INFO": mounted_at_root;
    f32 Everywhere, on overlapping, "a program and a folder at one address, a program inside a folder's" =>
        "the program wins, the rest is the folder's": overlaps;
    f35 BeforeTheMode, "`OPTIONS *`; `GET *`" => "answered by the host; 400": asterisk;
    f38 BeforeTheMode, on not_executable, "a declared program whose file has no executable bit" => "403": declared_not_executable;
    f36 BeforeTheMode, "CONNECT and TRACE" => "501, no program runs": refused_methods;
}

/// A script that greets.
pub(super) const HELLO: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nhello'\n";

pub(super) fn write(file: &Path, text: &str, mode: u32) -> Result<()> {
    std::fs::write(file, text)?;
    set_mode(file, mode)
}

pub(super) fn set_mode(file: &Path, mode: u32) -> Result<()> {
    Ok(std::fs::set_permissions(
        file,
        std::fs::Permissions::from_mode(mode),
    )?)
}

fn no_extra_path(builder: HostBuilder) -> Result<HostBuilder> {
    let builder = puppet_as(builder, "root", "route = \"/\"\npath_info = false");
    Ok(builder.guest("puppet", "path_info = false"))
}

fn documents(builder: HostBuilder) -> Result<HostBuilder> {
    let site = builder.folder().join("site");
    std::fs::create_dir(&site)?;
    write(&site.join("program.cgi"), "#!/bin/sh\nexit 1\n", 0o755)?;
    Ok(builder.setting("documents = \"site\""))
}

fn nested(builder: HostBuilder) -> Result<HostBuilder> {
    let cgi = builder.folder().join("cgi/b2");
    std::fs::create_dir_all(&cgi)?;
    for (from, to) in [("native", "puppet"), ("wasm", "puppet.wasm")] {
        std::fs::copy(guest("puppet", from), cgi.join(to))?;
    }
    let builder = puppet_as(builder, "short", "route = \"/a\"");
    let builder = puppet_as(builder, "long", "route = \"/a/b/c\"");
    Ok(builder.table("[[directory]]\nurl = \"/a/b\"\npath = \"cgi\""))
}

fn at_root(builder: HostBuilder) -> Result<HostBuilder> {
    puppet(puppet_as(builder, "root", "route = \"/\""))
}

fn overlapping(builder: HostBuilder) -> Result<HostBuilder> {
    let cgi = builder.folder().join("cgi");
    std::fs::create_dir_all(cgi.join("sub"))?;
    for name in ["puppet", "other", "sub/puppet"] {
        write(&cgi.join(name), HELLO, 0o755)?;
    }
    let builder = puppet_as(builder, "same", "route = \"/both\"");
    let builder = puppet_as(builder, "inner", "route = \"/both/sub/inner\"");
    let builder = builder.table("[[directory]]\nurl = \"/both\"\npath = \"cgi\"");
    let builder = builder.table("[[directory]]\nurl = \"/cgi-bin\"\npath = \"cgi\"");
    puppet(builder)
}

/// The puppet of the folder, in the form that the mode runs.
pub(super) fn file(scene: &Scene<'_>) -> &'static str {
    if scene.is_wasm() { "puppet.wasm" } else { "puppet" }
}

/// Each target is answered with `status`, and with nothing of any file.
pub(super) async fn refused(scene: &Scene<'_>, status: u16, targets: &[&str]) -> Result<()> {
    for target in targets {
        let answer = scene.get(target, "").await?;
        ensure!(
            answer.status == status,
            "{target}: {} {}",
            answer.status,
            answer.text()
        );
        ensure!(!answer.text().contains("secret"), "{target}: {}", answer.text());
    }
    Ok(())
}

pub(super) async fn variables(scene: &Scene<'_>, target: &str) -> Result<Variables> {
    Variables::of(&scene.get(target, &pull(ENV)).await?)
}

async fn no_such_program(scene: &Scene<'_>) -> Result<()> {
    let targets = [
        "/cgi-bin/none",
        "/none",
        "/",
        "/cgi-bin",
        "/cgi-bin/",
        "/cgi-bin/puppe",
        "/cgi-bin/puppetx",
        "/puppet",
    ];
    refused(scene, 404, &targets).await
}

async fn extra_path_off(scene: &Scene<'_>) -> Result<()> {
    for (target, status) in [
        ("/cgi-bin/puppet", 200),
        ("/cgi-bin/puppet?x", 200),
        ("/cgi-bin/puppet/", 404),
        ("/cgi-bin/puppet/foo", 404),
        ("/", 200),
        ("/foo", 404),
    ] {
        let answer = scene.get(target, &pull(ENV)).await?;
        ensure!(answer.status == status, "{target}: {}", answer.status);
    }
    Ok(())
}

async fn not_run(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.get("/program.cgi", "").await?;
    ensure!(
        answer.status == 200 && answer.text() == "#!/bin/sh\nexit 1\n",
        "{answer:?}"
    );
    Ok(())
}

async fn methods(scene: &Scene<'_>) -> Result<()> {
    let long = "LONG".repeat(15);
    for method in [
        "OPTIONS",
        "BREW",
        "PROPFIND",
        "PUT",
        "DELETE",
        "PATCH",
        "get",
        "M-SEARCH",
        "A!#$%&'*+.^_`|~9",
        &long,
    ] {
        let request = scene.request(&format!("{method} /cgi-bin/puppet HTTP/1.1"), &pull(ENV));
        let answer = scene.raw(request.as_bytes()).await?;
        Variables::of(&answer)?.hold(&[("REQUEST_METHOD", Some(method))])?;
    }
    Ok(())
}

async fn longest_route(scene: &Scene<'_>) -> Result<()> {
    let dropped = format!("/a/b/b2/{}", file(scene));
    for (target, script, info) in [
        ("/a/x", "/a", Some("/x")),
        ("/a", "/a", None),
        ("/a/bb", "/a", Some("/bb")),
        ("/a/b/c/d", "/a/b/c", Some("/d")),
        ("/a/b/c", "/a/b/c", None),
        (&format!("{dropped}/e"), &dropped, Some("/e")),
    ] {
        variables(scene, target)
            .await?
            .hold(&[("SCRIPT_NAME", Some(script)), ("PATH_INFO", info)])?;
    }
    refused(scene, 404, &["/a/b/x", "/ab"]).await
}

async fn mounted_at_root(scene: &Scene<'_>) -> Result<()> {
    for (target, script, info) in [
        ("/x", "", Some("/x")),
        ("/x//y/", "", Some("/x//y/")),
        ("/", "", Some("/")),
        ("/cgi-bin", "", Some("/cgi-bin")),
        ("/cgi-bin/puppet/x", "/cgi-bin/puppet", Some("/x")),
    ] {
        let found = variables(scene, target).await?;
        found.hold(&[("SCRIPT_NAME", Some(script)), ("PATH_INFO", info)])?;
    }
    Ok(())
}

async fn overlaps(scene: &Scene<'_>) -> Result<()> {
    for (target, script, info) in [
        ("/both", "/both", None),
        ("/both/other", "/both", Some("/other")),
        ("/both/sub/inner", "/both/sub/inner", None),
        ("/cgi-bin/puppet/x", "/cgi-bin/puppet", Some("/x")),
    ] {
        variables(scene, target)
            .await?
            .hold(&[("SCRIPT_NAME", Some(script)), ("PATH_INFO", info)])?;
    }
    if !scene.is_wasm() {
        for target in ["/cgi-bin/other", "/cgi-bin/sub/puppet"] {
            let answer = scene.get(target, "").await?;
            ensure!(answer.text() == "hello", "{target}: {answer:?}");
        }
    }
    Ok(())
}

fn not_executable(builder: HostBuilder) -> Result<HostBuilder> {
    let file = builder.folder().join("plain");
    let builder = builder.script("plain", HELLO, "")?;
    set_mode(&file, 0o644)?;
    Ok(builder)
}

async fn declared_not_executable(scene: &Scene<'_>) -> Result<()> {
    refused(scene, 403, &["/cgi-bin/plain", "/cgi-bin/plain/x"]).await
}

async fn asterisk(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .raw(scene.request("OPTIONS * HTTP/1.1", "").as_bytes())
        .await?;
    ensure!(
        answer.status == 204 && answer.header("allow").is_some(),
        "{answer:?}"
    );
    let answer = scene.raw(scene.request("GET * HTTP/1.1", "").as_bytes()).await?;
    ensure!(answer.status == 400, "{answer:?}");
    Ok(())
}

async fn refused_methods(scene: &Scene<'_>) -> Result<()> {
    for line in [
        "TRACE /cgi-bin/puppet HTTP/1.1",
        "CONNECT example.com:80 HTTP/1.1",
        "CONNECT /cgi-bin/puppet HTTP/1.1",
    ] {
        let answer = scene
            .raw(scene.request(line, "Cookie: secret=1\r\n").as_bytes())
            .await?;
        let refused = answer.status == 501 || (answer.status == 400 && line.starts_with("CONNECT /"));
        ensure!(refused && !answer.text().contains("secret"), "{line}: {answer:?}");
    }
    Ok(())
}
