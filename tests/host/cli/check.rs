//! Configurations that are wrong are refused before anything is served.

use std::process::{Command, Output};

use anyhow::Result;
use warmbin_tests::{binary, repository};

fn warmbin(command: &str, config: &std::path::Path) -> Result<Output> {
    Ok(Command::new(binary()?)
        .arg(command)
        .arg("--config")
        .arg(config)
        .env_remove("WARMBIN_CONFIG")
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
        ("[[program]]\nname = \"x\"", "x"),
        (
            "[[program]]\nname = \"x\"\nnative = \"/bin/true\"\nmode = \"wasm-warm\"",
            "wasm-warm",
        ),
        ("listen = ", "listen"),
        ("admin_token = \"\"", "admin_token"),
    ] {
        std::fs::write(&file, text)?;
        for command in ["check", "serve"] {
            let output = warmbin(command, &file)?;
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

#[test]
fn the_sample_configuration_is_good_and_its_values_have_origins() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let output = Command::new(binary()?)
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
    let output = Command::new(binary()?)
        .args(["serve", "--no-such-flag"])
        .output()?;
    assert_eq!(output.status.code(), Some(2));
    Ok(())
}
