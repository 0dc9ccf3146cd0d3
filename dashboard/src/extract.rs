//! Extractors whose refusals are pages.

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequestParts, Path, Query};

use crate::failure::Failure;

/// The variable part of the path.
#[derive(Debug, FromRequestParts)]
#[from_request(via(Path), rejection(Failure))]
pub(crate) struct PathPart<T = String>(pub(crate) T);

/// The query as pairs, in order.
#[derive(Debug, FromRequestParts)]
#[from_request(via(Query), rejection(Failure))]
pub(crate) struct Pairs<T = Vec<(String, String)>>(pub(crate) T);

impl From<PathRejection> for Failure {
    fn from(_: PathRejection) -> Self {
        // A part that is no text names nothing.
        Self::NotFound("There is nothing at this path.".to_owned())
    }
}

impl From<QueryRejection> for Failure {
    fn from(rejection: QueryRejection) -> Self {
        Self::Query(rejection.body_text())
    }
}
