//! `warmbin check`.

use std::process::ExitCode;

use clap::Args;

use super::sources::ServeArgs;

/// Check everything that serve would check, then exit.
#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    args: ServeArgs,
    /// Print each value and where it came from.
    #[arg(long)]
    show: bool,
}

impl Check {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let config = self.args.load()?;
        if self.show {
            for setting in &config.shown {
                println!("{} = {}    # {}", setting.key, setting.value, setting.origin);
            }
            for entry in &config.programs {
                println!("program {} {}", entry.name, entry.settings.to_json());
            }
            for entry in &config.directories {
                println!(
                    "directory {} {} {}",
                    entry.url,
                    entry.path.display(),
                    entry.settings.to_json()
                );
            }
        }
        for warning in &config.warnings {
            eprintln!("warning: {warning}");
        }
        println!("the configuration is good");
        Ok(ExitCode::SUCCESS)
    }
}
