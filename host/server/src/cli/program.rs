//! `warmbin program`: the store's programs, without the running host. A host that uses the same store notices
//! within half a second.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, Subcommand};
use warmbin_exec::wasm::{WasmHost, WasmHostConfig};
use warmbin_store::{Artifact, Program, Source, SqliteStore, Store, Version};

use super::sources::ConfigArgs;
use crate::config::{Config, ProgramSettings};
use crate::host::{MAX_INSTANCES, compiled_modules, module_memory};
use crate::programs::ingest::{Arrived, ingest};
use crate::programs::remove::remove;

/// Add, list, show, activate and remove programs.
#[derive(Debug, Args)]
pub(super) struct Programs {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add a version and make it the active one.
    Add {
        /// The program's name.
        name: String,
        /// Its native executable or script.
        #[arg(long, value_name = "FILE")]
        native: Option<PathBuf>,
        /// Its WebAssembly module.
        #[arg(long, value_name = "FILE")]
        wasm: Option<PathBuf>,
        /// Where it is served; /cgi-bin/NAME if absent.
        #[arg(long, value_name = "/PATH")]
        route: Option<String>,
        /// Its settings, as JSON.
        #[arg(long, value_name = "FILE")]
        settings: Option<PathBuf>,
    },
    /// List programs.
    List,
    /// Show one program with its versions.
    Show {
        /// The program's name.
        name: String,
    },
    /// Make a version the active one.
    Activate {
        /// The program's name.
        name: String,
        /// The version's number.
        version: u32,
    },
    /// Remove a program with all its versions. Its records stay.
    Remove {
        /// The program's name.
        name: String,
    },
}

impl Programs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let config = self.config.load()?;
        super::log_to_stderr("warn")?;
        super::runtime(None)?.block_on(run(self.command, config))?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn run(command: Command, config: Config) -> anyhow::Result<()> {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&config.store).await?);
    match command {
        Command::Add {
            name,
            native,
            wasm,
            route,
            settings,
        } => {
            let settings = read_settings(&name, settings, route, &store).await?;
            let arrived = Arrived {
                name,
                native,
                wasm,
                settings,
                source: Source::Cli,
                created_by: "cli".to_owned(),
                activate: true,
            };
            add(arrived, &config, &store).await?;
        }
        Command::List => {
            for program in store.programs().await? {
                println!("{}", line(&program));
            }
        }
        Command::Show { name } => {
            let program = store
                .program(&name)
                .await?
                .with_context(|| format!("there is no program {name}"))?;
            println!("{}", line(&program));
            for version in &program.versions {
                show(version);
            }
        }
        Command::Activate { name, version } => {
            store.activate(&name, version).await?;
            println!("{name}: version {version} is active");
        }
        Command::Remove { name } => {
            let declared = config.programs.iter().any(|entry| entry.name == name);
            remove(&name, declared, &config.data, &store).await?;
            println!("{name}: removed");
        }
    }
    Ok(())
}

async fn add(arrived: Arrived, config: &Config, store: &Arc<dyn Store>) -> anyhow::Result<()> {
    let name = arrived.name.clone();
    let wasm = WasmHost::new(WasmHostConfig {
        cache_dir: compiled_modules(&config.data),
        max_memory_bytes: module_memory(config),
        max_instances: MAX_INSTANCES,
    })?;
    let version = ingest(arrived, &config.data, store, &wasm).await?;
    // Which host will serve it: without a configuration file, the folder may be another than the one that is meant.
    let data = config.data.display();
    println!("{name}: version {} is active in {data}", version.number);
    show(&version);
    Ok(())
}

/// The settings to store; `None` keeps those of the active version. A route alone changes only the route.
async fn read_settings(
    name: &str,
    path: Option<PathBuf>,
    route: Option<String>,
    store: &Arc<dyn Store>,
) -> anyhow::Result<Option<String>> {
    let text = match (&path, &route) {
        (None, None) => return Ok(None),
        (Some(path), _) => {
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?
        }
        (None, Some(_)) => {
            let program = store.program(name).await?;
            let active = program.as_ref().and_then(|program| {
                program
                    .versions
                    .iter()
                    .find(|version| Some(version.number) == program.active)
            });
            active.map_or_else(|| "{}".to_owned(), |version| version.settings.clone())
        }
    };
    let mut settings = ProgramSettings::from_json(&text)
        .map_err(anyhow::Error::msg)
        .context("settings")?;
    if route.is_some() {
        settings.route = route;
    }
    Ok(Some(settings.to_json()))
}

fn line(program: &Program) -> String {
    let active = program.active.map_or_else(
        || "none active".to_owned(),
        |number| format!("version {number} active"),
    );
    format!("{}: {} of {}", program.name, active, program.versions.len())
}

fn show(version: &Version) {
    println!(
        "  version {} from {} by {}",
        version.number,
        version.source.as_str(),
        version.created_by
    );
    for (family, artifact) in [("native", &version.native), ("wasm", &version.wasm)] {
        if let Some(Artifact {
            path,
            sha256,
            bytes,
            kind,
        }) = artifact
        {
            println!("    {family}: {kind}, {bytes} bytes, {sha256}\n      {path}");
        }
    }
    if version.settings != "{}" {
        println!("    settings: {}", version.settings);
    }
}
