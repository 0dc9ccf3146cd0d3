//! The gate: finds out who is asking and refuses what they may not do.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use http::{HeaderMap, Method, StatusCode};
use warmbin_dashboard::Viewer;

use super::super::client;
use super::super::problem::Problem;
use super::super::query::escape;
use super::super::state::Admin;
use super::access::{Access, access};
use super::session;
use crate::admin_token::bearer;

/// What the admin token's holder is called in records of who did what.
pub(super) const ADMIN: &str = "admin";

/// Lets a request pass, with its [`Viewer`] in the extensions, or answers it.
pub(in super::super) async fn authenticate(
    State(admin): State<Arc<Admin>>,
    mut request: Request,
    next: Next,
) -> Response {
    let access = access(request.uri().path());
    let open = match access {
        Access::Open => true,
        Access::LocalOrKnown => client::is_local(request.extensions(), request.headers()),
        Access::Api | Access::Page => false,
    };
    if open {
        return next.run(request).await;
    }
    match identify(&admin, request.headers()).await {
        Err(problem) => problem.into_response(),
        Ok(None) if access == Access::Page => login_first(&request),
        Ok(None) => Problem::unauthenticated("this needs a token (Authorization: Bearer …) or a session")
            .into_response(),
        // SECURITY: roles that may only look are held to it here, whatever the route.
        Ok(Some(viewer)) if !viewer.may_operate && !is_reading(request.method()) => Problem::new(
            StatusCode::FORBIDDEN,
            format!("{} may look, not change", viewer.name),
        )
        .into_response(),
        Ok(Some(viewer)) => {
            request.extensions_mut().insert(viewer.clone());
            let mut response = next.run(request).await;
            // For the page that may take the place of a refusal.
            response.extensions_mut().insert(viewer);
            response
        }
    }
}

/// Who is asking; nobody if neither a token nor a live session came along. A wrong token is refused even
/// beside a good session.
pub(super) async fn identify(admin: &Admin, headers: &HeaderMap) -> Result<Option<Viewer>, Problem> {
    if let Some(token) = bearer(headers) {
        return if admin.host.admin_token.is(token) {
            Ok(Some(Viewer {
                name: ADMIN.to_owned(),
                may_operate: true,
            }))
        } else {
            Err(Problem::unauthenticated("the bearer token is not valid"))
        };
    }
    let session = session::of(admin, headers).await?;
    Ok(session.map(|session| Viewer {
        may_operate: matches!(session.role.as_str(), "admin" | "operator"),
        name: session.name,
    }))
}

fn is_reading(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Sends a browser to the login form, and back afterwards if it was only reading.
fn login_first(request: &Request) -> Response {
    let wanted = request
        .uri()
        .path_and_query()
        .map_or("/", |wanted| wanted.as_str());
    if is_reading(request.method()) && wanted != "/" {
        Redirect::to(&format!("/login?next={}", escape(wanted))).into_response()
    } else {
        Redirect::to("/login").into_response()
    }
}
