//! `/`: is it well, what is slow, which mode wins.

use askama::Template;
use axum::extract::{Extension, Query as Pairs, State};
use axum::response::Response;
use futures_util::future;
use http::StatusCode;
use warmbin_store::{Order, Page};

use super::filter_form::FilterForm;
use super::requests::Row;
use super::summary::Summary;
use crate::failure::Failure;
use crate::format::{Count, age, float, share};
use crate::layout::{Layout, Section, respond};
use crate::query::Query;
use crate::router::Pages;
use crate::{Dashboard, Viewer};

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
    first_route: Option<String>,
    /// Where live events come from; `None` if the range ends in the past.
    live_url: Option<String>,
    fragment_url: String,
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
    Pairs(pairs): Pairs<Vec<(String, String)>>,
    viewer: Option<Extension<Viewer>>,
) -> Result<Response, Failure> {
    let now_us = (pages.now_us)();
    let dashboard = &pages.dashboard;
    let query = Query::read(pairs, "-15m", now_us)?;
    if query.get("fragment") == "summary" {
        let summary = Summary::read(dashboard, &query, now_us).await?;
        return Ok(respond(StatusCode::OK, &summary));
    }
    let newest = Page {
        limit: TAIL,
        cursor: None,
        order: Order::StartedAt,
    };
    let (summary, tail, programs) = future::try_join3(
        Summary::read(dashboard, &query, now_us),
        dashboard.store.requests(&query.filter, &newest),
        dashboard.store.programs(),
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
        first_route: names
            .iter()
            .find_map(|name| dashboard.live.program(name))
            .map(|program| program.route),
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

fn health(dashboard: &Dashboard, summary: &Summary, programs: &[String], now_us: i64) -> Health {
    let mut complaints = Vec::new();
    let (errors, count) = summary.errors();
    if count >= 20 && float(errors) >= 0.05 * float(count) {
        complaints.push(format!("{} of requests fail", share(errors, count)));
    }
    for name in programs {
        if dashboard
            .live
            .program(name)
            .is_some_and(|program| program.problem.is_some())
        {
            complaints.push(format!("{name} cannot be run"));
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
