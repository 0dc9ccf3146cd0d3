//! What pages ask about the running host.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use warmbin_dashboard::{LiveHost, LiveProgram};

use crate::host::Host;
use crate::programs::validate::effective_route;

/// The running host, as pages see it.
#[derive(Debug)]
pub(super) struct Live(pub(super) Arc<Host>);

impl LiveHost for Live {
    fn program(&self, name: &str) -> Option<LiveProgram> {
        live_program(&self.0, name)
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
    let from_config = is_declared(host, name);
    if let Some(entry) = host.catalog.get(name) {
        return Some(LiveProgram {
            route: entry.route.clone(),
            default_mode: entry.default_mode.as_str().to_owned(),
            problem: None,
            from_config,
        });
    }
    let problem = host.catalog.problem(name)?;
    let declared = host.config.programs.iter().find(|entry| entry.name == name);
    Some(LiveProgram {
        route: effective_route(
            name,
            &declared.map(|entry| entry.settings.clone()).unwrap_or_default(),
        ),
        default_mode: String::new(),
        problem: Some(problem),
        from_config,
    })
}
