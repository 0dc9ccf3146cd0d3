//! The pages: server-rendered, useful without JavaScript, live with it.
//!
//! Owns: templates, assets, charts, the wording of pages. Reads the store. Must not know: SQL, how programs are run, who may
//! log in. Actions (upload, activate, delete, log in) are the server's; it calls back here for the page that answers.
#![forbid(unsafe_code)]

mod ansi;
mod assets;
mod charts;
mod curl;
mod extract;
mod failure;
mod format;
mod layout;
mod pages;
mod query;
mod router;
mod series;

#[cfg(test)]
extern crate self as warmbin_dashboard;
#[cfg(test)]
#[path = "../examples/preview/sample.rs"]
mod sample;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use http::StatusCode;
use warmbin_store::{Program, Store, StoreError};

/// The pages' Content-Security-Policy. SECURITY: no inline script or style, no other origin, no framing.
pub const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                                  connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// What pages say about the host they run on.
#[derive(Debug, Clone)]
pub struct HostFacts {
    /// warmbin's version.
    pub version: &'static str,
    /// Where programs are served, without a trailing slash: `http://127.0.0.1:8080`.
    pub programs_url: String,
    /// The modes this host runs, in display order.
    pub modes: Vec<&'static str>,
    /// The WebAssembly engine and its allocator, in words.
    pub engine: String,
    /// When the host started, microseconds since the epoch.
    pub started_at: i64,
    /// Whether a request may pick a mode.
    pub mode_wish: ModeWish,
    /// Folders of drop-in programs.
    pub folders: Vec<Folder>,
    /// The flags with which `warmbin program` finds this host's store.
    pub store_flags: Vec<String>,
}

/// Whether a request may pick a mode with `Warmbin-Mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModeWish {
    /// A client on the host's own machine may.
    Free,
    /// Whoever presents the admin token may.
    WithToken,
    /// Nobody may.
    Never,
}

/// A folder of drop-in programs.
#[derive(Debug, Clone)]
pub struct Folder {
    /// The path its programs are served below, without a trailing slash.
    pub url: String,
    /// Where it is.
    pub path: String,
}

/// The live state of a program, which only the running host knows.
#[derive(Debug, Clone, Default)]
pub struct LiveProgram {
    /// Its route on the programs listener.
    pub route: String,
    /// The mode used when a request names none; `None` if it cannot be run.
    pub default_mode: Option<String>,
    /// Why it cannot be run, or, if it can, why what the configuration declares is not what is run.
    pub problem: Option<String>,
    /// Declared by the configuration file: it cannot be deleted from here.
    pub from_config: bool,
}

/// Answers questions about the running host.
pub trait LiveHost: Send + Sync + std::fmt::Debug {
    /// The live state of a program by name; `None` if the host does not know it.
    fn program(&self, name: &str) -> Option<LiveProgram>;
    /// The programs that the configuration declares and that could not be taken over. Some the store never saw.
    fn refused(&self) -> Vec<String>;
    /// Requests running now.
    fn in_flight(&self) -> u64;
    /// Records not yet written.
    fn backlog(&self) -> u64;
}

/// Everything pages read from.
#[derive(Debug, Clone)]
pub struct Dashboard {
    /// Timings and programs.
    pub store: Arc<dyn Store>,
    /// The running host.
    pub live: Arc<dyn LiveHost>,
    /// What does not change while it runs.
    pub facts: Arc<HostFacts>,
}

impl Dashboard {
    /// Every program, by name, those included that were declared and never got a version.
    pub async fn programs(&self) -> Result<Vec<Program>, StoreError> {
        let mut programs = self.store.programs().await?;
        for name in self.live.refused() {
            if let Err(at) = programs.binary_search_by(|program| program.name.as_str().cmp(&name)) {
                programs.insert(at, self.without_version(name));
            }
        }
        Ok(programs)
    }

    /// One of them.
    pub async fn program(&self, name: &str) -> Result<Option<Program>, StoreError> {
        let known = self.store.program(name).await?;
        let refused = || self.live.refused().into_iter().find(|refused| refused == name);
        Ok(known.or_else(|| refused().map(|name| self.without_version(name))))
    }

    fn without_version(&self, name: String) -> Program {
        Program {
            name,
            active: None,
            versions: Vec::new(),
            created_at: self.facts.started_at,
        }
    }
}

/// Who is looking: put into the request's extensions by the server once it has checked.
#[derive(Debug, Clone)]
pub struct Viewer {
    /// The token's name.
    pub name: String,
    /// May upload, activate and delete.
    pub may_operate: bool,
}

/// What an action has to say on the page that follows it.
#[derive(Debug, Clone)]
pub struct Notice {
    /// Whether it failed.
    pub failed: bool,
    /// The message.
    pub text: String,
}

/// Every page and asset: `GET` only. Paths: `/`, `/requests`, `/requests/{id}`, `/programs`, `/programs/{name}`, `/assets/…`.
/// The server wraps it with its own authentication (assets and `/login` stay open).
pub fn router(dashboard: Dashboard) -> Router {
    router::router(dashboard, format::now_us)
}

/// The address of the pages' style sheet.
pub fn style_sheet() -> &'static str {
    assets::url("style.css")
}

/// The login form. Posts `token` and `next` to `/login`.
pub fn login_page(error: Option<&str>, next: &str) -> Response {
    pages::login::page(error, next)
}

/// The programs page with a notice, for a form that failed. Status as given.
pub async fn programs_page(
    dashboard: &Dashboard,
    viewer: &Viewer,
    notice: Notice,
    status: StatusCode,
) -> Response {
    pages::programs::page(dashboard, viewer.clone(), Some(notice), status)
        .await
        .unwrap_or_else(|failure| failure.page(Some(viewer.clone())))
}

/// A page for an error that is nobody's page: not found, forbidden, broken.
pub fn error_page(status: StatusCode, title: &str, detail: &str, viewer: Option<Viewer>) -> Response {
    pages::error::page(status, title, detail, viewer)
}
