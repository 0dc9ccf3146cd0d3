//! `/requests/{id}`: everything that is known of one request.

use askama::Template;
use axum::extract::{Extension, State};
use axum::response::Response;
use http::StatusCode;
use warmbin_store::{Record, RecordDetail};

use crate::charts::waterfall::Waterfall;
use crate::curl::{self, Repeat};
use crate::extract::PathPart;
use crate::failure::Failure;
use crate::format::{Bytes, Count, Micros, Moment};
use crate::layout::{Layout, Section, respond};
use crate::query::encoded;
use crate::router::Pages;
use crate::{ModeWish, Viewer, ansi};

#[derive(Template)]
#[template(path = "request.html")]
struct RequestPage {
    layout: Layout,
    record: Record,
    detail: RecordDetail,
    stderr: String,
    waterfall: Waterfall,
    facts: Vec<(&'static str, String, String)>,
    again: Repeat,
    needs_token: bool,
    previous: Option<String>,
    next: Option<String>,
}

/// `GET /requests/{id}`.
pub(crate) async fn get(
    State(pages): State<Pages>,
    PathPart(id): PathPart,
    viewer: Option<Extension<Viewer>>,
) -> Result<Response, Failure> {
    let dashboard = &pages.dashboard;
    let (record, detail) = dashboard.store.request(&id).await?.ok_or_else(|| {
        Failure::NotFound(format!(
            "There is no request {id}: it may be older than what is kept, or not written yet."
        ))
    })?;
    let (previous, next) = dashboard.store.neighbours(&record).await?;
    let link = |id: String| format!("/requests/{}", encoded(&id));
    let page = RequestPage {
        layout: Layout::new(
            format!("{} {}", record.method, record.path),
            Section::Requests,
            viewer.map(|Extension(viewer)| viewer),
        ),
        stderr: ansi::strip(&detail.stderr),
        waterfall: Waterfall::new(&record),
        facts: facts(&record),
        again: curl::repeat(
            &record,
            &detail,
            &dashboard.facts.programs_url,
            dashboard.facts.mode_wish,
        ),
        needs_token: dashboard.facts.mode_wish == ModeWish::WithToken,
        previous: previous.map(link),
        next: next.map(link),
        record,
        detail,
    };
    Ok(respond(StatusCode::OK, &page))
}

/// Name, value and, where the value is rounded, exact value of what a record holds beside its phases.
fn facts(record: &Record) -> Vec<(&'static str, String, String)> {
    let absent = || "–".to_owned();
    let bytes = |count: u64| (Bytes(count).to_string(), Bytes(count).exact());
    let (received, received_exact) = bytes(record.request_bytes);
    let (sent, sent_exact) = bytes(record.response_bytes);
    let (memory, memory_exact) = record
        .peak_memory_bytes
        .map_or_else(|| (absent(), String::new()), bytes);
    let plain = |text: String| (text, String::new());
    let cpu = record.cpu_us.map(Micros);
    let all = [
        ("id", plain(record.id.clone())),
        ("started", plain(Moment(record.started_at).machine())),
        ("host", plain(record.host.clone())),
        ("program", plain(record.program.clone())),
        (
            "version",
            plain(record.version.map_or_else(absent, |number| number.to_string())),
        ),
        ("query", plain(record.query.clone())),
        ("client", plain(record.remote_addr.clone())),
        (
            "cpu",
            cpu.map_or_else(|| plain(absent()), |cpu| (cpu.to_string(), cpu.exact())),
        ),
        ("peak memory", (memory, memory_exact)),
        ("request body", (received, received_exact)),
        ("response body", (sent, sent_exact)),
        (
            "exit code",
            plain(record.exit_code.map_or_else(absent, |code| code.to_string())),
        ),
        (
            "signal",
            plain(record.signal.map_or_else(absent, |signal| signal.to_string())),
        ),
        (
            "running at once",
            plain(Count(u64::from(record.concurrency)).to_string()),
        ),
        (
            "experiment",
            plain(record.experiment.clone().unwrap_or_else(absent)),
        ),
    ];
    all.into_iter()
        // Small figures are exact as they are.
        .map(|(name, (value, exact))| {
            let rounded = value.contains('.');
            (name, value, if rounded { exact } else { String::new() })
        })
        .collect()
}
