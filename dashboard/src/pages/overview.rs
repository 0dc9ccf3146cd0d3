//! `/`: is it well, what is slow, which mode wins.

use askama::Template;
use axum::extract::{Extension, State};
use axum::response::Response;
use futures_util::future;
use http::StatusCode;
use warmbin_store::{Order, Page};

use super::filter_form::FilterForm;
use super::requests::Row;
use super::summary::Summary;
use crate::extract::Pairs;
use crate::failure::Failure;
use crate::format::{Count, age, float, share};
use crate::layout::{Layout, Section, respond};
use crate::query::Query;
use crate::router::Pages;
use crate::{Dashboard, Viewer, curl};

/// Rows of the live tail when the page is opened.
const TAIL: u32 = 20;
/// More records than this waiting to be written means the store does not keep up.
const BACKLOG: u64 = 10_000;

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview<'a> {
    layout: Layout,
    form: FilterForm<'a>,
    summary: Summary,
    tail: Vec<Row>,
    health: Health,
    programs_url: &'a str,
    next_step: NextStep,
    add_program: String,
    /// What script fills in and puts into the tail.
    blank: Row,
    /// Where live events come from; `None` if the range ends in the past.
    live_url: Option<String>,
    fragment_url: String,
}

/// What changes of the page while it is open: the badge, and the figures it judges.
#[derive(Template)]
#[template(path = "parts/figures.html")]
struct Figures {
    health: Health,
    summary: Summary,
}

/// What to do where there is nothing to see.
enum NextStep {
    /// Run this command.
    Request(String),
    /// Call a program of this folder; the command has a place for its name.
    DropIn { folder: String, command: String },
    /// There are programs, none of which can be run.
    Mend,
    /// Add a program.
    Add,
}

/// The status strip.
struct Health {
    complaints: Vec<String>,
    uptime: String,
    in_flight: Count,
    backlog: Count,
    engine: String,
    version: &'static str,
}

/// `GET /`; with `fragment=summary` only the part that changes.
pub(crate) async fn get(
    State(pages): State<Pages>,
    Pairs(pairs): Pairs,
    viewer: Option<Extension<Viewer>>,
) -> Result<Response, Failure> {
    let now_us = (pages.now_us)();
    let dashboard = &pages.dashboard;
    let query = Query::read(pairs, "-15m", now_us)?;
    if query.get("fragment") == "summary" {
        let (summary, programs) =
            future::try_join(Summary::read(dashboard, &query, now_us), dashboard.programs()).await?;
        let names: Vec<String> = programs.into_iter().map(|program| program.name).collect();
        let health = health(dashboard, &summary, &names, now_us);
        return Ok(respond(StatusCode::OK, &Figures { health, summary }));
    }
    let newest = Page {
        limit: TAIL,
        cursor: None,
        order: Order::StartedAt,
    };
    let (summary, tail, programs) = future::try_join3(
        Summary::read(dashboard, &query, now_us),
        dashboard.store.requests(&query.filter, &newest),
        dashboard.programs(),
    )
    .await?;
    let names: Vec<String> = programs.into_iter().map(|program| program.name).collect();
    let page = Overview {
        layout: Layout::new(
            "Overview",
            Section::Overview,
            viewer.map(|Extension(viewer)| viewer),
        ),
        health: health(dashboard, &summary, &names, now_us),
        next_step: next_step(dashboard, &query, &names),
        add_program: add_program(dashboard),
        blank: Row::blank(),
        form: FilterForm::new("/", &query, &dashboard.facts.modes, names, true),
        summary,
        tail: tail.items.into_iter().map(Row::from).collect(),
        programs_url: &dashboard.facts.programs_url,
        // The live stream is about now: of the range, it takes nothing.
        live_url: query
            .filter
            .to_us
            .is_none()
            .then(|| format!("/api/v1/live?{}", query.with(&[("from", "")]))),
        fragment_url: format!("/?{}", query.with(&[("fragment", "summary")])),
    };
    Ok(respond(StatusCode::OK, &page))
}

/// A request that the filter would show, as far as that can be chosen.
fn next_step(dashboard: &Dashboard, query: &Query, names: &[String]) -> NextStep {
    let facts = &dashboard.facts;
    let (program, mode) = (query.get("program"), query.get("mode"));
    let command = |path: &str| {
        let url = format!("{}{path}", facts.programs_url);
        if mode.is_empty() {
            format!("curl -i {}", curl::quoted(&url))
        } else {
            curl::in_mode(&url, mode, facts.mode_wish)
        }
    };
    let runs = names
        .iter()
        .filter(|name| program.is_empty() || *name == program)
        .filter_map(|name| dashboard.live.program(name))
        .find(|live| live.default_mode.is_some());
    match (runs, facts.folders.first()) {
        (Some(live), _) => NextStep::Request(command(&live.route)),
        (None, Some(folder)) => NextStep::DropIn {
            folder: folder.path.clone(),
            command: command(&format!("{}/NAME", folder.url)),
        },
        (None, None) if !names.is_empty() => NextStep::Mend,
        (None, None) => NextStep::Add,
    }
}

/// The command that adds a program to this host's store, whatever folder and configuration it is run with.
pub(crate) fn add_program(dashboard: &Dashboard) -> String {
    let flags = dashboard.facts.store_flags.iter().map(String::as_str);
    let words = ["warmbin", "program", "add", "hello", "--native", "hello.sh"];
    curl::command_line(words.into_iter().chain(flags))
}

fn health(dashboard: &Dashboard, summary: &Summary, programs: &[String], now_us: i64) -> Health {
    let mut complaints = Vec::new();
    let (errors, count) = summary.errors();
    if count >= 20 && float(errors) >= 0.05 * float(count) {
        complaints.push(format!("{} of requests fail", share(errors, count)));
    }
    for name in programs {
        match dashboard.live.program(name) {
            Some(live) if live.problem.is_none() => {}
            Some(live) if live.default_mode.is_some() => {
                complaints.push(format!("{name} is not what the configuration declares"));
            }
            Some(_) => complaints.push(format!("{name} cannot be run")),
            None => {}
        }
    }
    let backlog = dashboard.live.backlog();
    if backlog > BACKLOG {
        complaints.push("the store does not keep up".to_owned());
    }
    Health {
        complaints,
        uptime: age(now_us - dashboard.facts.started_at),
        in_flight: Count(dashboard.live.in_flight()),
        backlog: Count(backlog),
        engine: dashboard.facts.engine.clone(),
        version: dashboard.facts.version,
    }
}
