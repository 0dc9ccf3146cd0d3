//! The one place that makes RFC 9457 problem documents.
//!
//! A [`Problem`] becomes a response with the document as its body and itself in the response's extensions, so
//! that the middleware can show a person the same thing as a page.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;
use warmbin_store::StoreError;

/// Why a request was not answered as asked. The text is for the client.
#[derive(Debug, Clone)]
pub struct Problem {
    status: StatusCode,
    detail: String,
    errors: Vec<FieldProblem>,
    /// Boxed, as few problems have one.
    header: Option<Box<(HeaderName, HeaderValue)>>,
}

/// What is wrong with one parameter or field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldProblem {
    /// The parameter or field.
    pub field: String,
    /// What is wrong with it and what to do.
    pub detail: String,
}

/// The document itself: `application/problem+json`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct Document {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What is wrong with this very request.
    detail: String,
    /// The parameters or fields that are wrong; absent where none is to blame.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldProblem>,
}

impl Problem {
    /// A problem of this status; `detail` is a sentence for the client.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            errors: Vec::new(),
            header: None,
        }
    }

    /// 400.
    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// 404.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// 401, with the challenge that RFC 9110 asks for.
    pub fn unauthenticated(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, detail).with_header(
            WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"warmbin\""),
        )
    }

    /// 405. The router adds what the path does take.
    pub fn method_not_allowed() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "this path does not take that method",
        )
    }

    /// 429, to be tried again after so many seconds.
    pub fn too_many_requests(detail: impl Into<String>, seconds: u64) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, detail).with_header(RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// 500. The cause goes to the log, never to the client.
    pub fn internal(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(target: "http", "an admin request failed: {cause}");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the host failed to answer; its log says why",
        )
    }

    /// Names a parameter or field that is wrong.
    #[must_use]
    pub fn with_error(mut self, field: impl Into<String>, detail: impl Into<String>) -> Self {
        self.errors.push(FieldProblem {
            field: field.into(),
            detail: detail.into(),
        });
        self
    }

    /// Names every parameter or field that is wrong.
    #[must_use]
    pub fn with_errors(self, errors: impl IntoIterator<Item = (String, String)>) -> Self {
        errors
            .into_iter()
            .fold(self, |problem, (field, detail)| problem.with_error(field, detail))
    }

    /// Gives the response the one header that its status asks for.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.header = Some(Box::new((name, value)));
        self
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The status in words.
    pub fn title(&self) -> &'static str {
        self.status.canonical_reason().unwrap_or("Error")
    }

    /// What is wrong with this very request.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Puts that header among `headers`.
    pub fn add_header(&self, headers: &mut HeaderMap) {
        if let Some((name, value)) = self.header.as_deref() {
            headers.insert(name.clone(), value.clone());
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound(_) => Self::not_found(error.to_string()),
            StoreError::BadCursor => {
                Self::bad_request("a parameter is wrong").with_error("cursor", error.to_string())
            }
            other => Self::internal(&other),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = Document {
            kind: "about:blank",
            title: self.title(),
            status: self.status.as_u16(),
            detail: self.detail.clone(),
            errors: self.errors.clone(),
        };
        let mut response = (self.status, Json(document)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        self.add_header(headers);
        response.extensions_mut().insert(self);
        response
    }
}
