//! `POST /programs`: the upload form.

use std::sync::Arc;

use axum::Extension;
use axum::extract::multipart::MultipartRejection;
use axum::extract::{Multipart, State};
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use warmbin_dashboard::Viewer;

use super::super::change;
use super::super::problem::Problem;
use super::super::state::Admin;
use super::super::upload::Upload;

/// Adds a version and shows its program.
pub(in super::super) async fn post(
    State(admin): State<Arc<Admin>>,
    Extension(viewer): Extension<Viewer>,
    multipart: Result<Multipart, MultipartRejection>,
) -> Response {
    match add(&admin, &viewer, multipart).await {
        Ok(name) => Redirect::to(&super::program_page(&name)).into_response(),
        Err(problem) => super::refusal(&admin, &viewer, &problem).await,
    }
}

async fn add(
    admin: &Admin,
    viewer: &Viewer,
    multipart: Result<Multipart, MultipartRejection>,
) -> Result<String, Problem> {
    let mut upload = Upload::receive(multipart, &admin.host.data, true).await?;
    let name = upload
        .name
        .take()
        .map(|name| name.trim().to_owned())
        .ok_or_else(|| {
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "name: a program needs a name")
                .with_error("name", "a program needs a name")
        })?;
    // A checkbox that is not ticked is not sent.
    let activate = upload.activate.is_some();
    let (arrived, files) = upload.into_arrived(name.clone(), &viewer.name, activate);
    change::add_version(admin, viewer, arrived).await?;
    drop(files);
    Ok(name)
}
