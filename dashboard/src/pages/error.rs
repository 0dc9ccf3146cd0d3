//! A page for what went wrong.

use askama::Template;
use axum::response::Response;
use http::StatusCode;

use crate::Viewer;
use crate::layout::{Layout, Section, respond};

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    layout: Layout,
    status: u16,
    title: &'a str,
    detail: &'a str,
}

/// The page for `status`.
pub(crate) fn page(status: StatusCode, title: &str, detail: &str, viewer: Option<Viewer>) -> Response {
    let layout = Layout::new(title, Section::Other, viewer);
    respond(
        status,
        &ErrorPage {
            layout,
            status: status.as_u16(),
            title,
            detail,
        },
    )
}
