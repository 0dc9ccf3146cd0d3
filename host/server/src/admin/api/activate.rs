//! `POST /api/v1/programs/{name}/activate`: makes a version the active one. Running requests finish on the
//! old one.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;
use warmbin_dashboard::Viewer;

use super::super::change;
use super::super::extract::{Json, PathParts};
use super::super::problem::{Document, Problem};
use super::super::state::Admin;
use super::program::find;
use super::program_body::ProgramBody;

/// Which version.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Activate {
    /// Its number.
    version: u32,
}

/// Activate a version
///
/// Atomic: a request runs on the old version or on the new one; running requests finish on the old one.
#[utoipa::path(post, path = "/api/v1/programs/{name}/activate", tag = "programs", operation_id = "activate_version",
    params(("name" = String, Path, description = "The program's name")),
    request_body = Activate,
    responses(
        (status = OK, description = "The program as it is now", body = ProgramBody),
        (status = NOT_FOUND, description = "There is no such version", body = Document, content_type = "application/problem+json")
    ))]
pub(in super::super) async fn post(
    State(admin): State<Arc<Admin>>,
    Extension(viewer): Extension<Viewer>,
    PathParts(name): PathParts<String>,
    Json(Activate { version }): Json<Activate>,
) -> Result<axum::Json<ProgramBody>, Problem> {
    change::activate(&admin, &viewer, &name, version).await?;
    find(&admin, &name).await.map(axum::Json)
}
