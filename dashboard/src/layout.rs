//! The frame around every page, and how a template becomes a response.

use askama::Template;
use axum::response::{Html, IntoResponse, Response};
use http::{StatusCode, header};

use crate::Viewer;

/// The part of the dashboard a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Overview,
    Requests,
    Programs,
    /// None of them.
    Other,
}

/// What the frame needs to know.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// Of the document.
    pub(crate) title: String,
    /// Which link of the navigation is the current one.
    pub(crate) section: Section,
    /// Who is looking, if somebody is logged in.
    pub(crate) viewer: Option<Viewer>,
}

impl Layout {
    /// A frame titled `title`.
    pub(crate) fn new(title: impl Into<String>, section: Section, viewer: Option<Viewer>) -> Self {
        Self {
            title: title.into(),
            section,
            viewer,
        }
    }

    /// The navigation: path, name, whether it is where we are.
    pub(crate) fn navigation(&self) -> [(&'static str, &'static str, bool); 3] {
        [
            ("/", "Overview", self.section == Section::Overview),
            ("/requests", "Requests", self.section == Section::Requests),
            ("/programs", "Programs", self.section == Section::Programs),
        ]
    }

    /// Whether the viewer may change anything. Nobody in particular may not.
    pub(crate) fn may_operate(&self) -> bool {
        self.viewer.as_ref().is_some_and(|viewer| viewer.may_operate)
    }
}

/// Renders a template as the answer. Pages show the present: nobody may keep them.
pub(crate) fn respond(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => (status, [(header::CACHE_CONTROL, "no-store")], Html(html)).into_response(),
        Err(cause) => {
            tracing::error!(target: "dashboard", %cause, "a template could not be rendered");
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                "The page could not be rendered.\n",
            )
                .into_response()
        }
    }
}
