//! Why a page could not be made, and the page that says so instead.

use axum::extract::{Extension, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use warmbin_store::{FilterError, StoreError};

use crate::Viewer;
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
    /// The URL's query cannot be read at all.
    #[error("{0}")]
    Query(String),
    /// There is no such thing; says what and perhaps why.
    #[error("{0}")]
    NotFound(String),
}

/// What a page says of a failure.
#[derive(Debug, Clone)]
struct Told {
    status: StatusCode,
    title: &'static str,
    detail: String,
}

impl Failure {
    /// The page for `viewer`.
    pub(crate) fn page(self, viewer: Option<Viewer>) -> Response {
        self.told().page(viewer)
    }

    fn told(self) -> Told {
        let told = |status, title, detail| Told {
            status,
            title,
            detail,
        };
        match self {
            Self::Filter(FilterError(_)) | Self::Query(_) => told(
                StatusCode::BAD_REQUEST,
                "The filter cannot be understood",
                self.to_string(),
            ),
            Self::NotFound(what) | Self::Store(StoreError::NotFound(what)) => {
                told(StatusCode::NOT_FOUND, "Not found", what)
            }
            Self::Store(StoreError::BadCursor) => told(
                StatusCode::BAD_REQUEST,
                "The page cannot be found again",
                "The cursor is not one this host issued. Start from the first page.".to_owned(),
            ),
            Self::Store(cause) => {
                // SECURITY: the cause may name files; it belongs in the log, not on a page.
                tracing::error!(target: "dashboard", %cause, "a page could not read the store");
                told(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "The store does not answer",
                    "Programs are still being served. The cause is in the host's log. Try again in a moment."
                        .to_owned(),
                )
            }
        }
    }
}

impl Told {
    fn page(&self, viewer: Option<Viewer>) -> Response {
        error::page(self.status, self.title, &self.detail, viewer)
    }
}

/// A bare status: who is looking is known to [`present`], which makes the page.
impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let told = self.told();
        let mut response = told.status.into_response();
        response.extensions_mut().insert(told);
        response
    }
}

/// Puts the page in the place of a failure.
pub(crate) async fn present(viewer: Option<Extension<Viewer>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    match response.extensions().get::<Told>() {
        Some(told) => told.page(viewer.map(|Extension(viewer)| viewer)),
        None => response,
    }
}
