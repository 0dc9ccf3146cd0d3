//! What every admin request shares.

use std::sync::Arc;

use warmbin_dashboard::{Dashboard, HostFacts};
use warmbin_exec::{Executors, Mode};

use super::auth::LoginLimiter;
use super::live_host::Live;
use super::metrics::Metrics;
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
