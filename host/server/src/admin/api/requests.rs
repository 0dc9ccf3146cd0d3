//! `GET /api/v1/requests`: a page of requests, or all of them as a download.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use warmbin_store::{Filter, Order, Page, Record};

use super::super::extract::Pairs;
use super::super::problem::{Document, Problem};
use super::super::query::Parameters;
use super::super::state::Admin;
use super::export::{self, Export, Format};
use super::record::RecordSchema;
use crate::host::now_us;
use warmbin_store::timestamp::to_rfc3339;

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 1000;

/// Beside the filter.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes parameters")]
pub(in super::super) struct ListParameters {
    /// Items of a page, 1 to 1000; 50 if absent. A download has no limit unless one is given
    limit: Option<u32>,
    /// Where the page before ended; part of `next`
    cursor: Option<String>,
    /// `-started_at` (newest first) or `-total_us` (slowest first)
    sort: Option<String>,
    /// `csv` or `ndjson`: a download, whatever `Accept` says
    format: Option<String>,
}

/// A page of requests.
#[derive(Debug, Serialize, ToSchema)]
pub(in super::super) struct Requests {
    #[schema(value_type = Vec<RecordSchema>)]
    items: Vec<Record>,
    /// The next page, if there is one. Relative times are fixed in it.
    next: Option<String>,
}

/// List requests
///
/// With `format=csv` or `format=ndjson`, or one of their media types in `Accept`, everything that the filter
/// matches is streamed.
#[utoipa::path(get, path = "/api/v1/requests", tag = "requests", operation_id = "list_requests",
    params(super::FilterParameters, ListParameters),
    responses(
        (status = OK, description = "A page, or a download", content(
            (Requests = "application/json"), (String = "text/csv"), (String = "application/x-ndjson"))),
        (status = BAD_REQUEST, description = "Unknown or wrong parameters, each named", body = Document, content_type = "application/problem+json")
    ))]
pub(in super::super) async fn get(
    State(admin): State<Arc<Admin>>,
    Pairs(pairs): Pairs,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut parameters = Parameters::new(pairs, &["limit", "cursor", "sort", "format"], true);
    let mut filter = parameters.filter();
    let limit = parameters.read("limit", limit);
    let order = parameters.read("sort", order).unwrap_or_default();
    let cursor = parameters.get("cursor").map(str::to_owned);
    let format = parameters.read("format", Format::from_word).flatten();
    parameters.check()?;
    if let Some(format) = format.or_else(|| export::format(&headers)) {
        let page = Page {
            limit: MAX_LIMIT,
            cursor,
            order,
        };
        // What is still being added would make a download of the newest endless only in theory; it ends at
        // its own start.
        filter.to_us.get_or_insert_with(|| now_us().saturating_add(1));
        let store = Arc::clone(&admin.host.store);
        return Export {
            format,
            filter,
            page,
            left: limit,
        }
        .into_response(store)
        .await;
    }
    let page = Page {
        limit: limit.unwrap_or(DEFAULT_LIMIT),
        cursor,
        order,
    };
    let slice = admin.host.store.requests(&filter, &page).await?;
    let next = slice.next.map(|cursor| next(&parameters, &filter, cursor));
    Ok(Json(Requests {
        items: slice.items,
        next,
    })
    .into_response())
}

/// The address of the next page: the same call, with relative times fixed and the cursor moved on.
fn next(parameters: &Parameters, filter: &Filter, cursor: String) -> String {
    let mut replaced = Vec::new();
    for (name, time) in [("from", filter.from_us), ("to", filter.to_us)] {
        if let Some(time) = time {
            replaced.push((name, to_rfc3339(time)));
        }
    }
    replaced.push(("cursor", cursor));
    format!("/api/v1/requests?{}", parameters.with(&replaced))
}

fn limit(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|limit| (1..=MAX_LIMIT).contains(limit))
        .ok_or_else(|| format!("{text:?} is not a number from 1 to {MAX_LIMIT}"))
}

fn order(text: &str) -> Result<Order, String> {
    match text {
        "-started_at" => Ok(Order::StartedAt),
        "-total_us" => Ok(Order::Total),
        other => Err(format!("{other:?} is neither -started_at nor -total_us")),
    }
}
