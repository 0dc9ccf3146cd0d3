//! Why a page could not be made, and the page that says so instead.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use warmbin_store::{FilterError, StoreError};

use crate::pages::error;

/// A page could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The store failed or did not know something.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The URL holds conditions that mean nothing.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// There is no such thing; says what and perhaps why.
    #[error("{0}")]
    NotFound(String),
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Self::Filter(wrong) => error::page(
                StatusCode::BAD_REQUEST,
                "The filter cannot be understood",
                &wrong.to_string(),
            ),
            Self::NotFound(what) | Self::Store(StoreError::NotFound(what)) => {
                error::page(StatusCode::NOT_FOUND, "Not found", &what)
            }
            Self::Store(StoreError::BadCursor) => error::page(
                StatusCode::BAD_REQUEST,
                "The page cannot be found again",
                "The cursor is not one this host issued. Start from the first page.",
            ),
            Self::Store(cause) => {
                // SECURITY: the cause may name files; it belongs in the log, not on a page.
                tracing::error!(target: "dashboard", %cause, "a page could not read the store");
                error::page(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "The store does not answer",
                    "Programs are still being served. The cause is in the host's log. Try again in a moment.",
                )
            }
        }
    }
}
