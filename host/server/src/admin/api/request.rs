//! `GET /api/v1/requests/{id}`: one request with what is kept beside its figures.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use warmbin_store::{Record, RecordDetail};

use super::super::extract::PathParts;
use super::super::problem::{Document, Problem};
use super::super::state::Admin;
use super::record::RecordSchema;

/// A record with its details, in one object.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RecordWithDetails)]
pub(in super::super) struct Request {
    #[serde(flatten)]
    #[schema(value_type = RecordSchema)]
    record: Record,
    #[serde(flatten)]
    #[schema(value_type = Details)]
    detail: RecordDetail,
}

/// What is kept of a request beside its figures.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the store's type")]
struct Details {
    /// What it wrote to standard error, up to the limit
    stderr: String,
    /// Whether it wrote more
    stderr_truncated: bool,
    /// The response head as sent
    response_head: Vec<NameAndValue>,
    /// The environment it was given; values of secrets are masked
    environment: Vec<NameAndValue>,
}

/// A name and a value.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the store's type")]
struct NameAndValue {
    name: String,
    value: String,
}

/// Show a request
#[utoipa::path(get, path = "/api/v1/requests/{id}", tag = "requests", operation_id = "get_request",
    params(("id" = String, Path, description = "The record's id")),
    responses(
        (status = OK, description = "The record's fields and its details in one object", body = Request),
        (status = NOT_FOUND, description = "There is no such record", body = Document, content_type = "application/problem+json")
    ))]
pub(in super::super) async fn get(
    State(admin): State<Arc<Admin>>,
    PathParts(id): PathParts<String>,
) -> Result<Json<Request>, Problem> {
    let found = admin.host.store.request(&id).await?;
    let (record, detail) = found.ok_or_else(|| Problem::not_found("there is no such request"))?;
    Ok(Json(Request { record, detail }))
}
