//! `warmbin completions`.

use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;

/// Print shell completions.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    #[expect(clippy::unnecessary_wraps, reason = "the shape all commands share")]
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        clap_complete::generate(self.shell, &mut Cli::command(), "warmbin", &mut std::io::stdout());
        Ok(ExitCode::SUCCESS)
    }
}
