//! `/requests`: every request, newest or slowest first.

use askama::Template;
use axum::extract::{Extension, State};
use axum::response::Response;
use http::StatusCode;
use warmbin_store::{FilterError, Order, Page, Record};

use super::filter_form::FilterForm;
use crate::Viewer;
use crate::extract::Pairs;
use crate::failure::Failure;
use crate::format::{Bytes, Micros, Moment};
use crate::layout::{Layout, Section, respond};
use crate::query::Query;
use crate::router::Pages;

/// Rows of a page.
const ROWS: u32 = 50;

#[derive(Template)]
#[template(path = "requests.html")]
struct Requests<'a> {
    layout: Layout,
    form: FilterForm<'a>,
    rows: Vec<Row>,
    next: Option<String>,
    first: Option<String>,
    slowest_first: bool,
    newest_link: String,
    slowest_link: String,
    /// Everything the filter matches, as a download.
    csv_link: String,
    ndjson_link: String,
    programs_url: &'a str,
}

/// A request as a row of a table.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) started: Moment,
    pub(crate) program: String,
    pub(crate) mode: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) status: u16,
    pub(crate) outcome: String,
    pub(crate) total: Micros,
    pub(crate) cpu: Option<Micros>,
    pub(crate) memory: Option<Bytes>,
    pub(crate) sent: Bytes,
}

impl Row {
    /// One that says nothing yet.
    pub(crate) fn blank() -> Self {
        Self {
            id: String::new(),
            started: Moment(0),
            program: String::new(),
            mode: String::new(),
            method: String::new(),
            path: String::new(),
            status: 0,
            outcome: String::new(),
            total: Micros(0),
            cpu: None,
            memory: None,
            sent: Bytes(0),
        }
    }

    /// The status's class, which colours it: `2` to `5`.
    pub(crate) fn class(&self) -> u16 {
        self.status / 100
    }
}

impl From<Record> for Row {
    fn from(record: Record) -> Self {
        Self {
            id: record.id,
            started: Moment(record.started_at),
            program: record.program,
            mode: record.mode,
            method: record.method,
            path: record.path,
            status: record.status,
            outcome: record.outcome,
            total: Micros(record.total_us),
            cpu: record.cpu_us.map(Micros),
            memory: record.peak_memory_bytes.map(Bytes),
            sent: Bytes(record.response_bytes),
        }
    }
}

/// `GET /requests`.
pub(crate) async fn get(
    State(pages): State<Pages>,
    Pairs(pairs): Pairs,
    viewer: Option<Extension<Viewer>>,
) -> Result<Response, Failure> {
    let dashboard = &pages.dashboard;
    let query = Query::read(pairs, "", (pages.now_us)())?;
    let order = match query.get("sort") {
        "" | "-started_at" => Order::StartedAt,
        "-total_us" => Order::Total,
        _ => {
            let why = "use -started_at or -total_us".to_owned();
            return Err(FilterError(vec![("sort".to_owned(), why)]).into());
        }
    };
    let cursor = Some(query.get("cursor").to_owned()).filter(|cursor| !cursor.is_empty());
    let later = cursor.is_some();
    let slice = dashboard
        .store
        .requests(
            &query.filter,
            &Page {
                limit: ROWS,
                cursor,
                order,
            },
        )
        .await?;
    let names = dashboard
        .programs()
        .await?
        .into_iter()
        .map(|program| program.name)
        .collect();
    let sort = if order == Order::Total { "-total_us" } else { "" };
    let download = |format| {
        format!(
            "/api/v1/requests?{}",
            query.with(&[("sort", sort), ("format", format)])
        )
    };
    let link = |changes: &[(&str, &str)]| format!("/requests?{}", query.with(changes));
    let page = Requests {
        layout: Layout::new(
            "Requests",
            Section::Requests,
            viewer.map(|Extension(viewer)| viewer),
        ),
        form: FilterForm::new("/requests", &query, &dashboard.facts.modes, names, false),
        rows: slice.items.into_iter().map(Row::from).collect(),
        next: slice
            .next
            .map(|cursor| link(&[("sort", sort), ("cursor", &cursor)])),
        first: later.then(|| link(&[("sort", sort)])),
        slowest_first: order == Order::Total,
        newest_link: link(&[]),
        slowest_link: link(&[("sort", "-total_us")]),
        csv_link: download("csv"),
        ndjson_link: download("ndjson"),
        programs_url: &dashboard.facts.programs_url,
    };
    Ok(respond(StatusCode::OK, &page))
}
