//! `POST /api/v1/programs/{name}/versions`: uploads a version.

use std::sync::Arc;

use axum::extract::multipart::MultipartRejection;
use axum::extract::{Multipart, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::StatusCode;
use http::header::LOCATION;
use utoipa::{IntoParams, ToSchema};
use warmbin_dashboard::Viewer;

use super::super::change;
use super::super::extract::{Pairs, PathParts};
use super::super::problem::{Document, Problem};
use super::super::query::{Parameters, boolean, escape};
use super::super::state::Admin;
use super::super::upload::Upload;
use super::program_body::VersionBody;

/// How to add it.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes parameters")]
pub(in super::super) struct AddParameters {
    /// Whether it becomes the active version at once; `true` if absent
    activate: Option<bool>,
}

/// The parts of an upload. Without a file, a version of the active one's artifacts with other settings is
/// made.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body")]
pub(in super::super) struct NewVersion {
    /// An executable or a script
    #[schema(value_type = Option<String>, format = Binary)]
    native: Option<Vec<u8>>,
    /// A WebAssembly module
    #[schema(value_type = Option<String>, format = Binary)]
    wasm: Option<Vec<u8>>,
    /// JSON; those of the active version if absent
    settings: Option<String>,
}

/// Upload a version
#[utoipa::path(post, path = "/api/v1/programs/{name}/versions", tag = "programs", operation_id = "add_version",
    params(("name" = String, Path, description = "The program's name; it is made if need be"), AddParameters),
    request_body(content = NewVersion, content_type = "multipart/form-data"),
    responses(
        (status = CREATED, description = "The version, compiled and stored", body = VersionBody,
            headers(("Location" = String, description = "Where it is"))),
        (status = PAYLOAD_TOO_LARGE, description = "A part is too large", body = Document, content_type = "application/problem+json"),
        (status = UNPROCESSABLE_ENTITY, description = "It is refused; `errors` names the part and the reason", body = Document, content_type = "application/problem+json")
    ))]
pub(in super::super) async fn post(
    State(admin): State<Arc<Admin>>,
    Extension(viewer): Extension<Viewer>,
    PathParts(name): PathParts<String>,
    Pairs(pairs): Pairs,
    multipart: Result<Multipart, MultipartRejection>,
) -> Result<Response, Problem> {
    let mut parameters = Parameters::new(pairs, &["activate"], false);
    let activate = parameters
        .read("activate", |text| boolean(text).map(Some))
        .flatten();
    parameters.check()?;
    let upload = Upload::receive(multipart, &admin.host.data, false).await?;
    let (arrived, files) = upload.into_arrived(name.clone(), &viewer.name, activate.unwrap_or(true));
    let version = change::add_version(&admin, &viewer, arrived).await?;
    drop(files);
    let active = admin
        .host
        .store
        .program(&name)
        .await?
        .and_then(|program| program.active);
    let location = format!("/api/v1/programs/{}/versions/{}", escape(&name), version.number);
    let body = VersionBody::new(&name, active, version);
    Ok((StatusCode::CREATED, [(LOCATION, location)], Json(body)).into_response())
}
