//! One id and one event per request. Queries are not logged: a login link holds a token.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderName, HeaderValue};
use tokio::time::Instant;
use tracing::Instrument;
use uuid::Uuid;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Gives the request an id (a client's own, if it is a sane one), logs its end and returns the id.
pub(super) async fn request_id(request: Request, next: Next) -> Response {
    let id = request
        .headers()
        .get(&X_REQUEST_ID)
        .filter(|id| is_sane(id))
        .cloned()
        .or_else(|| HeaderValue::try_from(Uuid::now_v7().to_string()).ok());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let shown = id
        .as_ref()
        .and_then(|id| id.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    let span = tracing::info_span!(target: "http", "admin", request.id = shown);
    async move {
        let start = Instant::now();
        let mut response = next.run(request).await;
        let status = response.status().as_u16();
        let duration_us = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        tracing::debug!(target: "http", %method, path, status, duration_us, "admin {method} {path} {status}");
        if let Some(id) = id {
            response.headers_mut().insert(X_REQUEST_ID, id);
        }
        response
    }
    .instrument(span)
    .await
}

fn is_sane(id: &HeaderValue) -> bool {
    let bytes = id.as_bytes();
    (1..=64).contains(&bytes.len())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}
