//! The flags that are configuration.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::config::layer::Layer;
use crate::config::{Config, ConfigError, DirectoryEntry, Sources};

/// Where configuration is.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct ConfigArgs {
    /// The configuration file (also `WARMBIN_CONFIG`).
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The data folder.
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The store: sqlite:PATH.
    #[arg(long, global = true, value_name = "URL")]
    store: Option<String>,
}

/// What is served, and where.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Where to serve programs.
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Where to serve dashboard, API, metrics and health.
    #[arg(long, value_name = "ADDR")]
    admin_listen: Option<SocketAddr>,
    /// A folder of drop-in programs, served at /cgi-bin.
    #[arg(long, value_name = "DIR")]
    cgi_bin: Option<PathBuf>,
}

impl ConfigArgs {
    /// The configuration under these flags.
    pub(super) fn load(self) -> Result<Config, ConfigError> {
        ServeArgs {
            config: self,
            ..ServeArgs::default()
        }
        .load()
    }
}

impl ServeArgs {
    /// The configuration under these flags.
    pub(super) fn load(self) -> Result<Config, ConfigError> {
        let mut flags = Layer {
            listen: self.listen,
            admin_listen: self.admin_listen,
            data: self.config.data,
            store: self.config.store,
            ..Layer::default()
        };
        if let Some(path) = self.cgi_bin {
            let path = std::path::absolute(&path)
                .map_err(|error| ConfigError::one(format!("--cgi-bin: {}: {error}", path.display())))?;
            flags.directory.push(DirectoryEntry {
                url: "/cgi-bin".to_owned(),
                path,
                ..DirectoryEntry::default()
            });
        }
        let get = |name: &str| std::env::var(name).ok();
        Config::load(
            Sources {
                file: self.config.config,
                flags,
            },
            &get,
        )
    }
}
