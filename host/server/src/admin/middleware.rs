//! The whole stack around every admin request, in order. Nothing else adds a layer.

mod headers;
mod present;
mod request_id;

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::csrf::{CsrfLayer, ProtectionError};

use super::auth::authenticate;
use super::problem::Problem;
use super::state::Admin;

/// Bytes of a request body, where a route does not say otherwise.
const BODY_LIMIT: usize = 64 << 10;

/// Puts the stack around `routes`. The first layer sees a request first and its answer last.
pub(super) fn around(routes: Router, admin: &Arc<Admin>) -> Router {
    routes.layer(
        ServiceBuilder::new()
            // One id and one event per request, whatever happens further in.
            .layer(from_fn(request_id::request_id))
            // Every answer carries them, refusals and panics too.
            .layer(from_fn(headers::headers))
            // Live events are not compressed: they would wait in the compressor.
            .layer(CompressionLayer::new())
            // Below it, refusals are problem documents; above it, people get pages.
            .layer(from_fn(present::present))
            .layer(CatchPanicLayer::custom(panicked))
            // SECURITY: a form on another site, or on a program's page (same host, other port), must not act
            // with this browser's cookie.
            .layer(CsrfLayer::new().with_rejection_response(cross_origin))
            .layer(from_fn_with_state(Arc::clone(admin), authenticate))
            .layer(DefaultBodyLimit::max(BODY_LIMIT)),
    )
}

#[expect(clippy::needless_pass_by_value, reason = "the layer's signature")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    Problem::internal(&format!("panic: {text}")).into_response()
}

fn cross_origin(_error: ProtectionError) -> Response {
    Problem::new(
        StatusCode::FORBIDDEN,
        "this request comes from another site's page; changes are taken from this site's pages and from API clients",
    )
    .into_response()
}
