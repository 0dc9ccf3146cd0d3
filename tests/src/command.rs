//! Commands that do the same whatever shell the tests are run from.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The binary under test, without a setting of the caller's: cargo puts it beside the folder that this test's own
/// executable is in.
pub fn warmbin() -> Result<Command> {
    let test = std::env::current_exe()?;
    let profile = test
        .ancestors()
        .nth(2)
        .context("the test's executable is in no target folder")?;
    let binary = profile.join("warmbin");
    ensure!(
        binary.is_file(),
        "{} is missing: cargo build -p warmbin",
        binary.display()
    );
    Ok(without("WARMBIN_", binary))
}

/// Git, as if called anew: in a hook its variables name the repository that is being worked on. Nor does it ask a proxy
/// for what is on this machine.
pub fn git() -> Command {
    let mut command = without("GIT_", "git".into());
    for name in ["no_proxy", "NO_PROXY"] {
        command.env(name, "127.0.0.1");
    }
    command
}

fn without(prefix: &str, program: PathBuf) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(prefix.as_bytes()) {
            command.env_remove(name);
        }
    }
    command
}
