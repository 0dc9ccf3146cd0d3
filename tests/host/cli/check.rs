//! Configurations that are wrong are refused before anything is served.

use std::process::Output;

use anyhow::Result;
use reqwest::Method;
use warmbin_tests::{TestHost, repository, warmbin};

fn run(command: &str, config: &std::path::Path) -> Result<Output> {
    Ok(warmbin()?
        .arg(command)
        .arg("--config")
        .arg(config)
        .env("WARMBIN_DATA", config.with_file_name("data"))
        .output()?)
}

#[test]
fn bad_configurations_exit_with_78_and_name_what_is_wrong() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("warmbin.toml");
    for (text, named) in [
        ("colour = \"red\"", "colour"),
        ("listen = \"nowhere\"", "listen"),
        ("mode_override = \"sometimes\"", "mode_override"),
        ("[limits]\nwall = \"soon\"", "wall"),
        (
            "[[program]]\nname = \"x\"\nnative = \"missing-file\"",
            "missing-file",
        ),
        ("[[program]]\nname = \"../x\"\nnative = \"/bin/true\"", "name"),
        ("[[program]]\nname = \"x\"", "neither native nor wasm"),
        (
            "[[program]]\nname = \"x\"\nnative = \"/bin/true\"\nmode = \"wasm-warm\"",
            "wasm-warm",
        ),
        ("log = \"info,==\"", "log"),
        ("listen = ", "listen"),
        ("admin_token = \"\"", "admin_token"),
    ] {
        std::fs::write(&file, text)?;
        for command in ["check", "serve"] {
            let output = run(command, &file)?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(78), "{command} of {text:?}: {said}");
            assert!(
                said.contains(named),
                "{command} of {text:?} does not name {named}: {said}"
            );
        }
    }
    Ok(())
}

/// What one file holds must not keep the other programs from being served, and must not stay unseen.
#[tokio::test]
async fn a_declared_program_that_cannot_be_loaded_is_found_by_check_and_shown_by_serve() -> Result<()> {
    let builder = TestHost::builder()?.guest("hello", "");
    std::fs::write(builder.folder().join("broken.wasm"), "no module")?;
    let host = builder
        .table("[[program]]\nname = \"broken\"\nwasm = \"broken.wasm\"")
        .start()
        .await?;
    assert_eq!(host.get("/cgi-bin/hello").send().await?.status(), 200);
    assert_eq!(host.get("/cgi-bin/broken").send().await?.status(), 503);
    let reason = "not a WebAssembly module";
    let program = host
        .api(Method::GET, "/api/v1/programs/broken")
        .send()
        .await?
        .text()
        .await?;
    assert!(program.contains(reason), "{program}");

    let output = run("check", &host.folder().join("warmbin.toml"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(78), "{said}");
    assert!(
        said.contains("program broken: wasm:") && said.contains(reason),
        "{said}"
    );
    Ok(())
}

#[test]
fn the_sample_configuration_is_good_and_its_values_have_origins() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let output = warmbin()?
        .args(["check", "--show", "--config"])
        .arg(repository().join("guests/warmbin.toml"))
        .env("WARMBIN_DATA", folder.path())
        .env("WARMBIN_LISTEN", "127.0.0.1:9999")
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let line = said
        .lines()
        .find(|line| line.trim_start().starts_with("listen "))
        .unwrap_or_default();
    assert!(
        line.contains("127.0.0.1:9999") && line.contains("WARMBIN_LISTEN"),
        "{said}"
    );
    Ok(())
}

#[test]
fn unknown_flags_exit_with_2() -> Result<()> {
    let output = warmbin()?.args(["serve", "--no-such-flag"]).output()?;
    assert_eq!(output.status.code(), Some(2));
    Ok(())
}
