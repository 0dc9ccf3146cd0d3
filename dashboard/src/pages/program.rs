//! `/programs/{name}`: one program's versions, and how to call it in each mode.

use askama::Template;
use axum::extract::{Extension, State};
use axum::response::Response;
use http::StatusCode;
use warmbin_store::{Artifact, Version};

use crate::extract::PathPart;
use crate::failure::Failure;
use crate::format::{Bytes, Moment};
use crate::layout::{Layout, Section, respond};
use crate::router::Pages;
use crate::{LiveProgram, ModeWish, Viewer, curl};

#[derive(Template)]
#[template(path = "program.html")]
struct ProgramPage {
    layout: Layout,
    name: String,
    /// `name` as a pattern that only it matches.
    pattern: String,
    /// Whether the host knows it.
    served: bool,
    /// Where it can be called.
    url: Option<String>,
    live: LiveProgram,
    versions: Vec<VersionRow>,
    tries: Vec<Try>,
    /// Whether the commands need the shell's variable TOKEN.
    needs_token: bool,
}

struct VersionRow {
    number: u32,
    active: bool,
    source: &'static str,
    artifacts: Vec<ArtifactCell>,
    settings: String,
    by: String,
    at: Moment,
}

struct ArtifactCell {
    family: &'static str,
    kind: String,
    size: Bytes,
    sha256: String,
}

impl ArtifactCell {
    fn short(&self) -> &str {
        self.sha256.get(..12).unwrap_or(&self.sha256)
    }
}

struct Try {
    mode: &'static str,
    default: bool,
    curl: String,
}

/// Of `known` modes, those a version has an artifact for.
pub(crate) fn modes_of(version: &Version, known: &[&'static str]) -> Vec<&'static str> {
    let runs = |mode: &&str| {
        if mode.starts_with("wasm-") {
            version.wasm.is_some()
        } else {
            version.native.is_some()
        }
    };
    known.iter().copied().filter(|mode| runs(mode)).collect()
}

/// `GET /programs/{name}`.
pub(crate) async fn get(
    State(pages): State<Pages>,
    PathPart(name): PathPart,
    viewer: Option<Extension<Viewer>>,
) -> Result<Response, Failure> {
    let dashboard = &pages.dashboard;
    let program = dashboard
        .program(&name)
        .await?
        .ok_or_else(|| Failure::NotFound(format!("There is no program {name}.")))?;
    let known = dashboard.live.program(&name);
    let served = known.is_some();
    let live = known.unwrap_or_default();
    let url = live
        .default_mode
        .is_some()
        .then(|| format!("{}{}", dashboard.facts.programs_url, live.route));
    let wish = dashboard.facts.mode_wish;
    let active = program
        .versions
        .iter()
        .find(|version| Some(version.number) == program.active);
    let modes = active
        .map(|version| modes_of(version, &dashboard.facts.modes))
        .unwrap_or_default();
    let is_default = |mode: &str| live.default_mode.as_deref() == Some(mode);
    let tries: Vec<Try> = url
        .iter()
        .flat_map(|url| modes.iter().map(move |mode| (url, *mode)))
        // Where nobody may pick, there is one way to call it.
        .filter(|(_, mode)| wish != ModeWish::Never || is_default(mode))
        .map(|(url, mode)| Try {
            mode,
            default: is_default(mode),
            curl: curl::in_mode(url, mode, wish),
        })
        .collect();
    let page = ProgramPage {
        layout: Layout::new(
            format!("Program {}", program.name),
            Section::Programs,
            viewer.map(|Extension(viewer)| viewer),
        ),
        pattern: program.name.replace('.', r"\."),
        needs_token: wish == ModeWish::WithToken && !tries.is_empty(),
        tries,
        versions: program
            .versions
            .iter()
            .map(|version| row(version, program.active))
            .collect(),
        name: program.name,
        served,
        url,
        live,
    };
    Ok(respond(StatusCode::OK, &page))
}

fn row(version: &Version, active: Option<u32>) -> VersionRow {
    let cell = |family, artifact: &Artifact| ArtifactCell {
        family,
        kind: artifact.kind.clone(),
        size: Bytes(artifact.bytes),
        sha256: artifact.sha256.clone(),
    };
    VersionRow {
        number: version.number,
        active: Some(version.number) == active,
        source: version.source.as_str(),
        artifacts: [("native", &version.native), ("wasm", &version.wasm)]
            .into_iter()
            .filter_map(|(family, artifact)| artifact.as_ref().map(|artifact| cell(family, artifact)))
            .collect(),
        settings: version.settings.clone(),
        by: version.created_by.clone(),
        at: Moment(version.created_at),
    }
}
