//! A document as the answer: methods, and what can go wrong.

use std::path::Path;

use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::answer::Answer;
use super::file;
use super::refuse::Refusal;

/// The methods that documents have.
const METHODS: &str = "GET, HEAD";

/// Answers with the document at `path`.
pub(super) async fn respond(path: &Path, parts: &Parts) -> Result<Response<Answer>, Refusal> {
    if parts.method != Method::GET && parts.method != Method::HEAD {
        let mut refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "A document can only be read.");
        refusal.allow = Some(METHODS);
        return Err(refusal);
    }
    let answer = file::answer(path, &parts.method, &parts.headers).await;
    answer.map_err(|error| {
        let mut refusal = match error.kind() {
            std::io::ErrorKind::NotFound => Refusal::not_found(),
            std::io::ErrorKind::PermissionDenied => Refusal::not_served(),
            _ => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "The document cannot be read."),
        };
        refusal.internal = Some(format!("{}: {error}", path.display()));
        refusal
    })
}
