//! What every admin request shares.

use std::sync::Arc;

use warmbin_dashboard::{Dashboard, Folder, HostFacts, ModeWish};
use warmbin_exec::{Executors, Mode};

use super::auth::LoginLimiter;
use super::live_host::Live;
use super::metrics::Metrics;
use crate::config::{Config, DirectoryEntry, ModeOverride};
use crate::host::Host;

/// What every admin request shares.
#[derive(Debug)]
pub(super) struct Admin {
    /// The running host.
    pub(super) host: Arc<Host>,
    /// What pages read from.
    pub(super) dashboard: Dashboard,
    /// Who tried to log in too often.
    pub(super) logins: LoginLimiter,
    /// What `/metrics` shows.
    pub(super) metrics: Metrics,
}

impl Admin {
    /// Starts to count finished requests. Needs a runtime.
    pub(super) fn start(host: Arc<Host>) -> Arc<Self> {
        let engine = host.wasm.facts();
        let facts = HostFacts {
            version: env!("CARGO_PKG_VERSION"),
            programs_url: host.programs_url(),
            modes: Executors::AVAILABLE.into_iter().map(Mode::as_str).collect(),
            engine: format!("wasmtime {}, {}", engine.version, engine.allocator),
            started_at: host.started_at,
            mode_wish: match host.config.mode_override {
                ModeOverride::Loopback => ModeWish::Free,
                ModeOverride::Authenticated => ModeWish::WithToken,
                ModeOverride::Never => ModeWish::Never,
            },
            folders: host.config.directories.iter().map(folder).collect(),
            store_flags: store_flags(&host.config),
        };
        Arc::new(Self {
            dashboard: Dashboard {
                store: Arc::clone(&host.store),
                live: Arc::new(Live(Arc::clone(&host))),
                facts: Arc::new(facts),
            },
            logins: LoginLimiter::default(),
            metrics: Metrics::start(&host),
            host,
        })
    }
}

fn folder(entry: &DirectoryEntry) -> Folder {
    Folder {
        url: entry.url.trim_end_matches('/').to_owned(),
        path: entry.path.display().to_string(),
    }
}

/// The flags with which a command finds this host's store from any folder.
fn store_flags(config: &Config) -> Vec<String> {
    let mut flags = vec!["--data".to_owned(), config.data.display().to_string()];
    if config.store != Config::store_in(&config.data) {
        flags.extend(["--store".to_owned(), config.store.clone()]);
    }
    flags
}
