//! Every path of the admin listener. Nothing else adds one; the pages' and assets' own are in the dashboard's
//! router.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use utoipa::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes;

use super::problem::Problem;
use super::state::Admin;
use super::upload::UPLOAD_LIMIT;
use super::{api, auth, forms, health, metrics, middleware};
use crate::host::Host;
use crate::programs::files::clear_temporary;

/// The admin listener's service. Needs a runtime: it starts to count finished requests.
pub fn router(host: Arc<Host>) -> Router {
    clear_temporary(&host.data);
    let admin = Admin::start(host);
    let (api, document) = documented().split_for_parts();
    let document = Arc::new(document);
    let described = Router::new()
        .route("/api/openapi.json", get(api::document::get))
        .route("/api/docs", get(api::docs::get))
        .with_state(document);
    let routes = warmbin_dashboard::router(admin.dashboard.clone())
        .merge(api.merge(forms()).with_state(Arc::clone(&admin)))
        .merge(described)
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed);
    middleware::around(routes, &admin)
}

/// The calls that the OpenAPI document describes.
fn documented() -> OpenApiRouter<Arc<Admin>> {
    OpenApiRouter::with_openapi(api::document::Api::openapi())
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(metrics::get))
        .routes(routes!(api::requests::get))
        .routes(routes!(api::request::get))
        .routes(routes!(api::summary::get))
        .routes(routes!(api::histogram::get))
        .routes(routes!(api::live::get))
        .routes(routes!(api::programs::get))
        .routes(routes!(api::program::get, api::remove_program::delete))
        .routes(routes!(api::add_version::post).layer(DefaultBodyLimit::max(UPLOAD_LIMIT)))
        .routes(routes!(api::version::get))
        .routes(routes!(api::activate::post))
        .routes(routes!(api::pools::get))
}

/// The document as it is served.
#[cfg(test)]
pub(super) fn document() -> utoipa::openapi::OpenApi {
    documented().into_openapi()
}

/// What the pages' forms post.
fn forms() -> Router<Arc<Admin>> {
    let upload = post(forms::upload::post).layer(DefaultBodyLimit::max(UPLOAD_LIMIT));
    Router::new()
        .route("/login", get(auth::login::get).post(auth::login::post))
        .route("/logout", post(auth::logout::post))
        .route("/programs", upload)
        .route("/programs/{name}/activate", post(forms::activate::post))
        .route("/programs/{name}/delete", post(forms::delete::post))
}

async fn not_found() -> Problem {
    Problem::not_found("there is nothing at this path")
}

async fn method_not_allowed() -> Problem {
    Problem::method_not_allowed()
}
