//! `GET /api/v1/programs/{name}/versions/{version}`: one version.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::super::extract::PathParts;
use super::super::problem::{Document, Problem};
use super::super::state::Admin;
use super::program_body::VersionBody;

/// Show a version
#[utoipa::path(get, path = "/api/v1/programs/{name}/versions/{version}", tag = "programs", operation_id = "get_version",
    params(("name" = String, Path, description = "The program's name"), ("version" = u32, Path, description = "The version's number")),
    responses(
        (status = OK, description = "The version", body = VersionBody),
        (status = NOT_FOUND, description = "There is no such version", body = Document, content_type = "application/problem+json")
    ))]
pub(in super::super) async fn get(
    State(admin): State<Arc<Admin>>,
    PathParts((name, number)): PathParts<(String, u32)>,
) -> Result<Json<VersionBody>, Problem> {
    let program = admin.host.store.program(&name).await?;
    program
        .and_then(|program| {
            let version = program
                .versions
                .into_iter()
                .find(|version| version.number == number)?;
            Some(Json(VersionBody::new(&name, program.active, version)))
        })
        .ok_or_else(|| Problem::not_found(format!("there is no version {number} of a program {name}")))
}
