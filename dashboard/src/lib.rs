//! The pages: server-rendered, useful without JavaScript, live with it.
//!
//! Owns: templates, assets, charts, the wording of pages. Reads the store. Must not know: SQL, how programs are run, who may
//! log in. Actions (upload, activate, delete, log in) are the server's; it calls back here for the page that answers.
#![forbid(unsafe_code)]

mod ansi;
mod assets;
mod charts;
mod curl;
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
use warmbin_store::Store;

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
}

/// The live state of a program, which only the running host knows.
#[derive(Debug, Clone, Default)]
pub struct LiveProgram {
    /// Its route on the programs listener.
    pub route: String,
    /// The mode used when a request names none.
    pub default_mode: String,
    /// Why its active version cannot be run, if it cannot.
    pub problem: Option<String>,
    /// Declared by the configuration file: it cannot be deleted from here.
    pub from_config: bool,
}

/// Answers questions about the running host.
pub trait LiveHost: Send + Sync + std::fmt::Debug {
    /// The live state of a program by name; `None` if the host does not know it.
    fn program(&self, name: &str) -> Option<LiveProgram>;
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
        .unwrap_or_else(axum::response::IntoResponse::into_response)
}

/// A page for an error that is nobody's page: not found, forbidden, broken.
pub fn error_page(status: StatusCode, title: &str, detail: &str) -> Response {
    pages::error::page(status, title, detail)
}
