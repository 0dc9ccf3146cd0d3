//! `DELETE /api/v1/programs/{name}`: removes a program. Its requests stay.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use http::StatusCode;
use warmbin_dashboard::Viewer;

use super::super::change;
use super::super::extract::PathParts;
use super::super::problem::{Document, Problem};
use super::super::state::Admin;

/// Remove a program
///
/// Its requests stay in the record.
#[utoipa::path(delete, path = "/api/v1/programs/{name}", tag = "programs", operation_id = "remove_program",
    params(("name" = String, Path, description = "The program's name")),
    responses(
        (status = NO_CONTENT, description = "It is gone"),
        (status = NOT_FOUND, description = "There is no such program", body = Document, content_type = "application/problem+json"),
        (status = CONFLICT, description = "The configuration declares it", body = Document, content_type = "application/problem+json")
    ))]
pub(in super::super) async fn delete(
    State(admin): State<Arc<Admin>>,
    Extension(viewer): Extension<Viewer>,
    PathParts(name): PathParts<String>,
) -> Result<StatusCode, Problem> {
    change::remove_program(&admin, &viewer, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
