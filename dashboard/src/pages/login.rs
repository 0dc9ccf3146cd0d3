//! The login form. The server checks what it sends.

use askama::Template;
use axum::response::Response;
use http::StatusCode;

use crate::layout::{Layout, Section, respond};

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    layout: Layout,
    error: Option<&'a str>,
    next: &'a str,
}

/// The form, after a failed attempt with its `error`; `next` is where to go afterwards.
pub(crate) fn page(error: Option<&str>, next: &str) -> Response {
    let status = if error.is_some() {
        StatusCode::UNAUTHORIZED
    } else {
        StatusCode::OK
    };
    respond(
        status,
        &LoginPage {
            layout: Layout::new("Log in", Section::Other, None),
            error,
            next,
        },
    )
}
