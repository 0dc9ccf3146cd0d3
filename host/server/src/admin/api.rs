//! `/api/v1`: one call per file.

pub(super) mod activate;
pub(super) mod add_version;
pub(super) mod docs;
pub(super) mod document;
mod export;
pub(super) mod histogram;
pub(super) mod live;
mod matching;
pub(super) mod pools;
pub(super) mod program;
mod program_body;
pub(super) mod programs;
mod record;
pub(super) mod remove_program;
pub(super) mod request;
pub(super) mod requests;
mod resume;
pub(super) mod summary;
pub(super) mod version;

#[cfg(test)]
pub(super) use record::tests::sample;

use utoipa::IntoParams;

/// The parameters that every call about requests shares. Only a description: they are read by the store's
/// filter.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes parameters")]
struct FilterParameters {
    /// Started at or after this: RFC 3339, or relative such as `-15m`
    from: Option<String>,
    /// Started before this
    to: Option<String>,
    /// The program's name
    program: Option<String>,
    /// The mode's word
    mode: Option<String>,
    /// A status such as `200`, or a class such as `5xx`
    status: Option<String>,
    /// The outcome's word
    outcome: Option<String>,
    /// `total_us` at least
    min_us: Option<u64>,
    /// `total_us` at most
    max_us: Option<u64>,
    /// The experiment's id
    experiment: Option<String>,
}
