//! `GET /api/openapi.json`: what the API is, as it was put together from the routes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use utoipa::openapi::OpenApi as Document;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

/// What the document says beside its paths.
#[derive(Debug, OpenApi)]
#[openapi(
    info(title = "warmbin", description = "Programs, their versions, and every request they answered. \
        JSON in snake_case, times in RFC 3339 with `Z`, durations in integer microseconds (`*_us`). \
        Errors are `application/problem+json` (RFC 9457). Unknown parameters are refused by name."),
    modifiers(&Schemes),
    security(("token" = []), ("session" = [])),
    tags(
        (name = "requests", description = "What was run, and how long it took"),
        (name = "programs", description = "What can be run"),
        (name = "pools", description = "What is kept ready"),
        (name = "health", description = "How the host is")
    )
)]
pub(in super::super) struct Api;

struct Schemes;

impl Modify for Schemes {
    fn modify(&self, document: &mut Document) {
        let components = document.components.get_or_insert_default();
        let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        components.add_security_scheme("token", SecurityScheme::Http(token));
        let cookie = ApiKey::Cookie(ApiKeyValue::new(crate::host::SESSION_COOKIE));
        components.add_security_scheme("session", SecurityScheme::ApiKey(cookie));
    }
}

/// The document.
pub(in super::super) async fn get(State(document): State<Arc<Document>>) -> Json<Document> {
    Json(Document::clone(&document))
}
