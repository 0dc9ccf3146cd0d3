//! Extractors whose refusals are problem documents.

use axum::extract::rejection::{FormRejection, JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query};
use http::StatusCode;

use super::problem::Problem;

/// A JSON body.
#[derive(Debug, FromRequest)]
#[from_request(via(axum::Json), rejection(Problem))]
pub(super) struct Json<T>(pub(super) T);

/// A form body.
#[derive(Debug, FromRequest)]
#[from_request(via(axum::Form), rejection(Problem))]
pub(super) struct Form<T>(pub(super) T);

/// The variable parts of the path.
#[derive(Debug, FromRequestParts)]
#[from_request(via(Path), rejection(Problem))]
pub(super) struct PathParts<T>(pub(super) T);

/// The query as pairs, in order.
#[derive(Debug, FromRequestParts)]
#[from_request(via(Query), rejection(Problem))]
pub(super) struct Pairs<T = Vec<(String, String)>>(pub(super) T);

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

impl From<FormRejection> for Problem {
    fn from(rejection: FormRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

impl From<PathRejection> for Problem {
    fn from(_: PathRejection) -> Self {
        // A part that cannot be what it should be names nothing.
        Self::new(StatusCode::NOT_FOUND, "there is nothing at this path")
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::bad_request(rejection.body_text())
    }
}
