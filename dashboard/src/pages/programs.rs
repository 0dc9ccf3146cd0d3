//! `/programs`: what there is to run, and the form that adds to it.

use askama::Template;
use axum::extract::{Extension, State};
use axum::response::Response;
use http::StatusCode;
use warmbin_store::{Program, StoreError};

use super::overview::add_program;
use super::program::modes_of;
use crate::extract::Pairs;
use crate::failure::Failure;
use crate::layout::{Layout, Section, respond};
use crate::router::Pages;
use crate::{Dashboard, Notice, Viewer};

#[derive(Template)]
#[template(path = "programs.html")]
struct Programs {
    layout: Layout,
    notice: Option<Notice>,
    list: List,
}

/// The table, which is also what the upload script fetches to show what it added.
#[derive(Template)]
#[template(path = "parts/programs_list.html")]
struct List {
    rows: Vec<Row>,
    programs_url: String,
    add_program: String,
    may_operate: bool,
}

struct Row {
    name: String,
    route: Option<String>,
    active: Option<u32>,
    native: Option<String>,
    wasm: Option<String>,
    default_mode: Option<String>,
    modes: Vec<&'static str>,
    problem: Option<String>,
    from_config: bool,
}

impl Row {
    fn is_default(&self, mode: &str) -> bool {
        self.default_mode.as_deref() == Some(mode)
    }
}

/// `GET /programs`; with `fragment=list` only the table.
pub(crate) async fn get(
    State(pages): State<Pages>,
    Pairs(pairs): Pairs,
    viewer: Option<Extension<Viewer>>,
) -> Result<Response, Failure> {
    let viewer = viewer.map(|Extension(viewer)| viewer);
    if pairs
        .iter()
        .any(|(name, value)| name == "fragment" && value == "list")
    {
        let may_operate = viewer.is_some_and(|viewer| viewer.may_operate);
        return Ok(respond(
            StatusCode::OK,
            &list(&pages.dashboard, may_operate).await?,
        ));
    }
    render(&pages.dashboard, viewer, None, StatusCode::OK).await
}

/// The page with a notice on top.
pub(crate) async fn page(
    dashboard: &Dashboard,
    viewer: Viewer,
    notice: Option<Notice>,
    status: StatusCode,
) -> Result<Response, Failure> {
    render(dashboard, Some(viewer), notice, status).await
}

async fn render(
    dashboard: &Dashboard,
    viewer: Option<Viewer>,
    notice: Option<Notice>,
    status: StatusCode,
) -> Result<Response, Failure> {
    let layout = Layout::new("Programs", Section::Programs, viewer);
    let list = list(dashboard, layout.may_operate()).await?;
    Ok(respond(status, &Programs { layout, notice, list }))
}

async fn list(dashboard: &Dashboard, may_operate: bool) -> Result<List, StoreError> {
    let programs = dashboard.programs().await?;
    Ok(List {
        rows: programs
            .into_iter()
            .map(|program| row(dashboard, program))
            .collect(),
        programs_url: dashboard.facts.programs_url.clone(),
        add_program: add_program(dashboard),
        may_operate,
    })
}

fn row(dashboard: &Dashboard, program: Program) -> Row {
    let live = dashboard.live.program(&program.name);
    let active = program
        .versions
        .iter()
        .find(|version| Some(version.number) == program.active);
    Row {
        route: live.as_ref().map(|live| live.route.clone()),
        default_mode: live.as_ref().and_then(|live| live.default_mode.clone()),
        problem: live.as_ref().and_then(|live| live.problem.clone()),
        from_config: live.as_ref().is_some_and(|live| live.from_config),
        active: program.active,
        native: active
            .and_then(|version| version.native.as_ref())
            .map(|artifact| artifact.kind.clone()),
        wasm: active
            .and_then(|version| version.wasm.as_ref())
            .map(|artifact| artifact.kind.clone()),
        modes: active
            .map(|version| modes_of(version, &dashboard.facts.modes))
            .unwrap_or_default(),
        name: program.name,
    }
}
