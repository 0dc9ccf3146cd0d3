//! The admin listener: dashboard, API, metrics, health.
//!
//! Owns: who may do what, the API's shapes, problem documents, metrics. Must not know: how programs are run,
//! SQL, templates.

pub mod problem;

mod api;
mod auth;
mod change;
mod client;
mod extract;
mod forms;
mod health;
mod live_host;
mod metrics;
mod middleware;
mod query;
mod router;
mod state;
mod upload;

#[cfg(test)]
mod tests;

pub use router::router;
