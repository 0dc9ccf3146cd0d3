//! `/healthz`: the process answers. `/readyz`: it can serve programs and remember them. Both open, and silent
//! about causes.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::state::Admin;

/// How long the store may take to answer before it counts as gone.
const PATIENCE: Duration = Duration::from_secs(2);

/// How the host is.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Health {
    /// `ok`, `ready`, or why it is not ready: `draining`, `store_unreachable`.
    status: &'static str,
}

/// Whether the process answers
#[utoipa::path(get, path = "/healthz", tag = "health", operation_id = "healthz", security(()),
    responses((status = OK, description = "It does", body = Health)))]
pub(super) async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Whether it serves programs
#[utoipa::path(get, path = "/readyz", tag = "health", operation_id = "readyz", security(()),
    responses(
        (status = OK, description = "It does", body = Health),
        (status = SERVICE_UNAVAILABLE, description = "It is stopping, or its store does not answer", body = Health)
    ))]
pub(super) async fn readyz(State(admin): State<Arc<Admin>>) -> Response {
    if admin.host.shutdown.is_cancelled() {
        return not_ready("draining");
    }
    match tokio::time::timeout(PATIENCE, admin.host.store.ping()).await {
        Ok(Ok(())) => Json(Health { status: "ready" }).into_response(),
        Ok(Err(error)) => {
            tracing::warn!(target: "store", "the store does not answer: {error}");
            not_ready("store_unreachable")
        }
        Err(_) => {
            tracing::warn!(target: "store", "the store does not answer within {} s", PATIENCE.as_secs());
            not_ready("store_unreachable")
        }
    }
}

fn not_ready(status: &'static str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, Json(Health { status })).into_response()
}
