//! The `warmbin` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use warmbin_server::cli::Cli;

fn main() -> ExitCode {
    Cli::parse().run()
}
