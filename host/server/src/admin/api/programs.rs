//! `GET /api/v1/programs`: every program.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::super::extract::Pairs;
use super::super::problem::Problem;
use super::super::query::Parameters;
use super::super::state::Admin;
use super::program_body::ProgramBody;

/// Every program, by name.
#[derive(Debug, Serialize, ToSchema)]
pub(in super::super) struct Programs {
    items: Vec<ProgramBody>,
    /// Always null: programs come in one piece.
    next: Option<String>,
}

/// List programs
#[utoipa::path(get, path = "/api/v1/programs", tag = "programs", operation_id = "list_programs",
    responses((status = OK, description = "Every program, by name", body = Programs)))]
pub(in super::super) async fn get(
    State(admin): State<Arc<Admin>>,
    Pairs(pairs): Pairs,
) -> Result<Json<Programs>, Problem> {
    Parameters::new(pairs, &[], false).check()?;
    let programs = admin.dashboard.programs().await?;
    let items = programs
        .into_iter()
        .map(|program| ProgramBody::new(&admin.host, program))
        .collect();
    Ok(Json(Programs { items, next: None }))
}
