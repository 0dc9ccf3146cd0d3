//! The command line: one file per command.

mod check;
mod completions;
mod healthcheck;
mod init;
mod program;
mod run;
mod serve;
mod sources;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::ConfigError;
use crate::config::check::log_filter;

/// Exit code of a bad configuration (`EX_CONFIG`).
const BAD_CONFIGURATION: u8 = 78;

/// Runs CGI programs, natively or as WebAssembly, and shows which way wins.
#[derive(Debug, Parser)]
#[command(name = "warmbin", version, about, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve programs and the dashboard.
    Serve(serve::Serve),
    /// Check everything that serve would check, then exit.
    Check(check::Check),
    /// Run one request through one program and print the answer.
    Run(run::Run),
    /// Add, list, show, activate and remove programs.
    Program(program::Programs),
    /// Ask the running host whether it is well; exits with 0 if it is.
    Healthcheck(healthcheck::Healthcheck),
    /// Print shell completions.
    Completions(completions::Completions),
}

impl Cli {
    /// Runs the command and says how it went: 0 well, 1 failed, 78 bad configuration. (clap answers wrong
    /// usage with 2.)
    pub fn run(self) -> ExitCode {
        let outcome = match self.command {
            Command::Serve(command) => command.run(),
            Command::Check(command) => command.run(),
            Command::Run(command) => command.run(),
            Command::Program(command) => command.run(),
            Command::Healthcheck(command) => command.run(),
            Command::Completions(command) => command.run(),
        };
        outcome.unwrap_or_else(|error| {
            eprintln!("warmbin: {error:#}");
            if error.is::<ConfigError>() {
                ExitCode::from(BAD_CONFIGURATION)
            } else {
                ExitCode::FAILURE
            }
        })
    }
}

/// A runtime with the configured number of threads.
fn runtime(workers: Option<u32>) -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if let Some(workers) = workers {
        builder.worker_threads(usize::try_from(workers)?);
    }
    Ok(builder.enable_all().build()?)
}

/// Logs to standard error, so that standard output stays free for answers.
fn log_to_stderr(filter: &str) -> anyhow::Result<()> {
    let filter = log_filter(filter).map_err(ConfigError::one)?;
    let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    // A second initialisation only happens in tests, and changes nothing.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(terminal)
        .try_init();
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn verify_cli() {
        Cli::command().debug_assert();
    }
}
