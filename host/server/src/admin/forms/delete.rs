//! `POST /programs/{name}/delete`: removes a program once its name has been typed.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use serde::Deserialize;
use warmbin_dashboard::Viewer;

use super::super::change;
use super::super::extract::{Form, PathParts};
use super::super::problem::Problem;
use super::super::state::Admin;

/// What the form sends.
#[derive(Debug, Deserialize)]
pub(in super::super) struct Delete {
    #[serde(default)]
    confirm: String,
}

/// Removes and shows the programs that are left.
pub(in super::super) async fn post(
    State(admin): State<Arc<Admin>>,
    Extension(viewer): Extension<Viewer>,
    PathParts(name): PathParts<String>,
    Form(form): Form<Delete>,
) -> Response {
    let done = if form.confirm == name {
        change::remove_program(&admin, &viewer, &name).await
    } else {
        Err(Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!("{name} was not deleted: type its name to confirm"),
        ))
    };
    match done {
        Ok(()) => Redirect::to("/programs").into_response(),
        Err(problem) => super::refusal(&admin, &viewer, &problem).await,
    }
}
