//! Every path of the dashboard. Nothing else adds one.

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::get;

use crate::{Dashboard, assets, failure, pages};

/// What every page works from.
#[derive(Debug, Clone)]
pub(crate) struct Pages {
    /// What to show.
    pub(crate) dashboard: Dashboard,
    /// Microseconds since the epoch; a parameter so that a test can hold the clock.
    pub(crate) now_us: fn() -> i64,
}

/// The pages and the assets, reading the time from `now_us`.
pub(crate) fn router(dashboard: Dashboard, now_us: fn() -> i64) -> Router {
    Router::new()
        .route("/", get(pages::overview::get))
        .route("/requests", get(pages::requests::get))
        .route("/requests/{id}", get(pages::request::get))
        .route("/programs", get(pages::programs::get))
        .route("/programs/{name}", get(pages::program::get))
        .with_state(Pages { dashboard, now_us })
        .layer(from_fn(failure::present))
        .route("/assets/{file}", get(assets::get))
}
