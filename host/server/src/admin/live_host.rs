//! What pages ask about the running host.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use warmbin_dashboard::{LiveHost, LiveProgram};

use crate::host::Host;

/// The running host, as pages see it.
#[derive(Debug)]
pub(super) struct Live(pub(super) Arc<Host>);

impl LiveHost for Live {
    fn program(&self, name: &str) -> Option<LiveProgram> {
        live_program(&self.0, name)
    }

    fn refused(&self) -> Vec<String> {
        self.0.catalog.refused().map(str::to_owned).collect()
    }

    fn in_flight(&self) -> u64 {
        self.0.in_flight.load(Ordering::Relaxed)
    }

    fn backlog(&self) -> u64 {
        self.0.recorder.stats().backlog
    }
}

/// Whether the configuration declares a program of this name.
pub(super) fn is_declared(host: &Host, name: &str) -> bool {
    host.config.programs.iter().any(|entry| entry.name == name)
}

/// The live state of a program; none if it is not served here.
pub(super) fn live_program(host: &Host, name: &str) -> Option<LiveProgram> {
    let snapshot = host.catalog.snapshot();
    let entry = snapshot.get(name);
    let route = match entry {
        Some(entry) => &entry.route,
        None => &snapshot.broken(name)?.route,
    };
    Some(LiveProgram {
        route: route.clone(),
        default_mode: entry.map(|entry| entry.default_mode.as_str().to_owned()),
        problem: host.catalog.problem(name),
        from_config: is_declared(host, name),
    })
}
