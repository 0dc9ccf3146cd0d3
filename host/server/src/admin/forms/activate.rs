//! `POST /programs/{name}/activate`: makes a version the active one.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use warmbin_dashboard::Viewer;

use super::super::change;
use super::super::extract::{Form, PathParts};
use super::super::state::Admin;

/// What the form sends.
#[derive(Debug, Deserialize)]
pub(in super::super) struct Activate {
    version: u32,
}

/// Activates and shows the program.
pub(in super::super) async fn post(
    State(admin): State<Arc<Admin>>,
    Extension(viewer): Extension<Viewer>,
    PathParts(name): PathParts<String>,
    Form(form): Form<Activate>,
) -> Response {
    match change::activate(&admin, &viewer, &name, form.version).await {
        Ok(()) => Redirect::to(&super::program_page(&name)).into_response(),
        Err(problem) => super::refusal(&admin, &viewer, &problem).await,
    }
}
