//! `POST /logout`: ends the session.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use http::HeaderMap;

use super::super::client;
use super::super::problem::Problem;
use super::super::state::Admin;
use super::session;

/// Ends the session and shows the login form.
pub(in super::super) async fn post(
    State(admin): State<Arc<Admin>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let cookie = session::end(&admin, &headers, client::is_https(&headers)).await?;
    Ok(session::with_cookie(
        Redirect::to("/login").into_response(),
        cookie,
    ))
}
