//! What a program is told: its meta-variables and its arguments (RFC 3875 §4.1, §4.4).

use anyhow::{Result, ensure};

use warmbin_tests::HostBuilder;

use super::Where::{Everywhere, Native};
use super::scene::Scene;
use super::section;

/// A module has no working directory but `/`, and no folder of the host's to stand in.
const NO_FOLDER: &str = "A module sees no folder that it was not given: its working directory is `/`.";

section! {
    "The environment";
    e01 Everywhere, "a GET without query, body or extra path" =>
        "GATEWAY_INTERFACE and REQUEST_METHOD, QUERY_STRING present and empty, no CONTENT_LENGTH, CONTENT_TYPE, \
         PATH_INFO, PATH_TRANSLATED": a_bare_get;
    e02 Everywhere, "`?a=1&b=%20x`" => "QUERY_STRING byte for byte, still encoded": query_as_sent;
    e43 Native(NO_FOLDER), on folders, "a program that prints its working directory" =>
        "the program's folder": own_folder;
    e44 Native(NO_FOLDER), on folders, "the same with `working_dir` set" => "that folder": working_dir;
}

fn folders(builder: HostBuilder) -> Result<HostBuilder> {
    const PWD: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s' \"$(pwd -P)\"\n";
    builder
        .script("pwd", PWD, "")?
        .script("pwd-elsewhere", PWD, "working_dir = \"/usr\"")
}

async fn a_bare_get(scene: &Scene<'_>) -> Result<()> {
    let variables = scene.environment("", "").await?;
    for (name, value) in [
        ("GATEWAY_INTERFACE", Some("CGI/1.1")),
        ("REQUEST_METHOD", Some("GET")),
        ("QUERY_STRING", Some("")),
        ("CONTENT_LENGTH", None),
        ("CONTENT_TYPE", None),
        ("PATH_INFO", None),
        ("PATH_TRANSLATED", None),
    ] {
        ensure!(
            variables.get(name) == value,
            "{name} is {:?}",
            variables.get(name)
        );
    }
    Ok(())
}

async fn query_as_sent(scene: &Scene<'_>) -> Result<()> {
    let variables = scene.environment("?a=1&b=%20x", "").await?;
    ensure!(
        variables.get("QUERY_STRING") == Some("a=1&b=%20x"),
        "{variables:?}"
    );
    Ok(())
}

async fn own_folder(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.get("/cgi-bin/pwd", "").await?;
    let folder = scene.host.folder().canonicalize()?;
    ensure!(answer.text() == folder.to_string_lossy(), "{}", answer.text());
    Ok(())
}

async fn working_dir(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.get("/cgi-bin/pwd-elsewhere", "").await?;
    ensure!(answer.text() == "/usr", "{}", answer.text());
    Ok(())
}
