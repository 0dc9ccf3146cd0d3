//! The admin listener: dashboard, API, metrics, health.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use crate::host::Host;

/// Everything on the admin listener.
pub fn router(host: Arc<Host>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .with_state(host)
}
