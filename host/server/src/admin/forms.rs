//! What the pages' forms post. Each answers with a redirect to the page that shows the result, or with a page
//! that says what is wrong.

pub(super) mod activate;
pub(super) mod delete;
pub(super) mod upload;

use axum::response::Response;
use warmbin_dashboard::{Notice, Viewer, programs_page};

use super::problem::Problem;
use super::state::Admin;

/// The programs page saying why a form was refused.
async fn refusal(admin: &Admin, viewer: &Viewer, problem: &Problem) -> Response {
    let notice = Notice {
        failed: true,
        text: problem.detail().to_owned(),
    };
    programs_page(&admin.dashboard, viewer, notice, problem.status()).await
}

/// The page of a program. Only for names that exist.
fn program_page(name: &str) -> String {
    format!("/programs/{}", super::query::escape(name))
}
