//! `warmbin check`.

use std::process::ExitCode;

use clap::Args;
use warmbin_exec::wasm::{WasmHost, WasmHostConfig};

use super::sources::ServeArgs;
use crate::catalog::declared;
use crate::config::{Config, ConfigError};
use crate::host::module_memory;

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
        programs(&config)?;
        println!("the configuration is good");
        Ok(ExitCode::SUCCESS)
    }
}

/// Refuses programs that the host could not take over.
fn programs(config: &Config) -> anyhow::Result<()> {
    if config.programs.is_empty() {
        return Ok(());
    }
    // Whoever checks may be somebody else than the host: its folder stays as it is.
    let cache = tempfile::tempdir()?;
    let problems = super::runtime(config.workers)?.block_on(async {
        let wasm = WasmHost::new(WasmHostConfig {
            cache_dir: cache.path().to_owned(),
            max_memory_bytes: module_memory(config),
            max_instances: 1,
        })?;
        anyhow::Ok(declared::check(config, &wasm).await)
    })?;
    if problems.is_empty() {
        Ok(())
    } else {
        Err(ConfigError { problems }.into())
    }
}
