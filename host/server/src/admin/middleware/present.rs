//! Shows a refusal in the form its reader understands: a page to a person with a browser, the problem
//! document to everything else.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::header::{ACCEPT, ALLOW};
use http::{HeaderMap, Method};
use warmbin_dashboard::{Viewer, error_page};

use super::super::problem::Problem;

/// Turns a problem into a page where a page was asked for.
pub(super) async fn present(request: Request, next: Next) -> Response {
    let page = wants_page(request.uri().path(), request.headers());
    let is_head = request.method() == Method::HEAD;
    let response = next.run(request).await;
    match response.extensions().get::<Problem>() {
        Some(problem) if page && !is_head => {
            let viewer = response.extensions().get::<Viewer>().cloned();
            let mut page = error_page(problem.status(), problem.title(), problem.detail(), viewer);
            problem.add_header(page.headers_mut());
            if let Some(allow) = response.headers().get(ALLOW) {
                page.headers_mut().insert(ALLOW, allow.clone());
            }
            page
        }
        _ => response,
    }
}

fn wants_page(path: &str, headers: &HeaderMap) -> bool {
    let accepts_html = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("text/html"));
    accepts_html && !path.starts_with("/api/")
}
