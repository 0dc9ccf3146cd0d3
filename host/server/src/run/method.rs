//! Methods that are not for programs.

use http::header::ALLOW;
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use super::answer::Answer;
use super::refuse::Refusal;

/// What programs are usually asked for. Any other method reaches them too.
const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// Answers what the host itself is asked; `None` if the request is for a program or a document.
///
/// SECURITY: TRACE would show a page's script what its browser adds to requests, credentials among it; CONNECT asks
/// for a tunnel, which this is not.
pub(super) fn own(parts: &Parts) -> Option<Result<Response<Answer>, Refusal>> {
    match parts.method {
        Method::TRACE | Method::CONNECT => Some(Err(Refusal::new(
            StatusCode::NOT_IMPLEMENTED,
            "This host does not know that method.",
        ))),
        Method::OPTIONS if parts.uri.path() == "*" => {
            let mut response = Response::new(Answer::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static(METHODS));
            Some(Ok(response))
        }
        _ => None,
    }
}
