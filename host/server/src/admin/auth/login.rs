//! `GET /login`: the form, or a login by the link that is printed at start. `POST /login`: the form's answer.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::WWW_AUTHENTICATE;
use http::{Extensions, HeaderMap, HeaderValue, StatusCode};
use serde::Deserialize;
use warmbin_dashboard::login_page;

use super::super::client;
use super::super::extract::{Form, Pairs};
use super::super::problem::Problem;
use super::super::state::Admin;
use super::authenticate::{ADMIN, identify};
use super::next::same_site;
use super::session;

/// What the form sends and the link carries.
#[derive(Debug, Deserialize, Default)]
#[serde(default)]
pub(in super::super) struct Login {
    token: Option<String>,
    next: String,
}

/// The form; with a token in the query, a login. Those who are logged in go on at once.
pub(in super::super) async fn get(
    State(admin): State<Arc<Admin>>,
    Pairs(login): Pairs<Login>,
    extensions: Extensions,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if login.token.is_some() {
        return log_in(&admin, &login, &extensions, &headers).await;
    }
    match identify(&admin, &headers).await {
        Ok(Some(_)) => Ok(Redirect::to(same_site(&login.next)).into_response()),
        _ => Ok(login_page(None, same_site(&login.next))),
    }
}

/// A login by the form.
pub(in super::super) async fn post(
    State(admin): State<Arc<Admin>>,
    extensions: Extensions,
    headers: HeaderMap,
    Form(login): Form<Login>,
) -> Result<Response, Problem> {
    log_in(&admin, &login, &extensions, &headers).await
}

async fn log_in(
    admin: &Admin,
    login: &Login,
    extensions: &Extensions,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let client = client::rate_key(client::peer(extensions));
    admin.logins.take(client, Instant::now()).map_err(|seconds| {
        Problem::too_many_requests(
            format!("too many failed attempts; try again in {seconds} s"),
            seconds,
        )
    })?;
    let next = same_site(&login.next);
    if !admin
        .host
        .admin_token
        .is(login.token.as_deref().unwrap_or_default().trim())
    {
        tracing::warn!(target: "http", client = %client, "failed login");
        let mut page = login_page(Some("This token is not valid."), next);
        *page.status_mut() = StatusCode::UNAUTHORIZED;
        page.headers_mut().insert(
            WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"warmbin\""),
        );
        return Ok(page);
    }
    admin.logins.give_back(client);
    let cookie = session::start(admin, ADMIN, "admin", client::is_https(headers)).await?;
    Ok(session::with_cookie(Redirect::to(next).into_response(), cookie))
}
