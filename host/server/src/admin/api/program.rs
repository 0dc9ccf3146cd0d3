//! `GET /api/v1/programs/{name}`: one program.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::super::extract::PathParts;
use super::super::problem::{Document, Problem};
use super::super::state::Admin;
use super::program_body::ProgramBody;

/// Show a program
#[utoipa::path(get, path = "/api/v1/programs/{name}", tag = "programs", operation_id = "get_program",
    params(("name" = String, Path, description = "The program's name")),
    responses(
        (status = OK, description = "The program with its versions", body = ProgramBody),
        (status = NOT_FOUND, description = "There is no such program", body = Document, content_type = "application/problem+json")
    ))]
pub(in super::super) async fn get(
    State(admin): State<Arc<Admin>>,
    PathParts(name): PathParts<String>,
) -> Result<Json<ProgramBody>, Problem> {
    find(&admin, &name).await.map(Json)
}

/// The program of this name.
pub(super) async fn find(admin: &Admin, name: &str) -> Result<ProgramBody, Problem> {
    match admin.dashboard.program(name).await? {
        Some(program) => Ok(ProgramBody::new(&admin.host, program)),
        None => Err(Problem::not_found(format!("there is no program {name}"))),
    }
}
