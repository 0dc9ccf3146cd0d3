//! Programs and versions as the API shows them.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use warmbin_store::timestamp::to_rfc3339;
use warmbin_store::{Artifact, Program, Version};

use super::super::live_host::live_program;
use crate::host::Host;

/// A program.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Program)]
pub(in super::super) struct ProgramBody {
    name: String,
    /// Where it is served on the programs listener; null if no version is active.
    route: Option<String>,
    /// The same as an address.
    url: Option<String>,
    /// The mode used when a request names none; null if it cannot be run.
    default_mode: Option<String>,
    /// The modes it can be run in on this host.
    modes: Vec<&'static str>,
    /// Why its active version cannot be run, or why what the configuration declares is not what is run.
    problem: Option<String>,
    /// Declared by the configuration file: it cannot be removed by a call.
    from_config: bool,
    /// The active version.
    active: Option<u32>,
    #[schema(format = DateTime)]
    created_at: String,
    /// Newest first.
    versions: Vec<VersionBody>,
}

/// One version.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Version)]
pub(in super::super) struct VersionBody {
    /// Its program.
    program: String,
    /// Its number.
    version: u32,
    /// Whether it is the one that is run.
    active: bool,
    /// `config`, `upload` or `cli`.
    source: &'static str,
    native: Option<ArtifactBody>,
    wasm: Option<ArtifactBody>,
    /// Its settings.
    #[schema(value_type = Object)]
    settings: Value,
    /// Who put it there.
    created_by: String,
    #[schema(format = DateTime)]
    created_at: String,
}

/// A file of a version.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Artifact)]
pub(in super::super) struct ArtifactBody {
    /// Where it is on the host.
    path: String,
    /// SHA-256 of its content, hexadecimal.
    sha256: String,
    bytes: u64,
    /// What it was found to be.
    kind: String,
}

impl ProgramBody {
    /// A program with what the running host knows of it.
    pub(in super::super) fn new(host: &Host, program: Program) -> Self {
        let live = live_program(host, &program.name);
        let modes = host
            .catalog
            .get(&program.name)
            .map(|entry| entry.modes())
            .unwrap_or_default();
        let versions = program
            .versions
            .into_iter()
            .map(|version| VersionBody::new(&program.name, program.active, version))
            .collect();
        let base = host.programs_url();
        Self {
            url: live.as_ref().map(|live| format!("{base}{}", live.route)),
            default_mode: live.as_ref().and_then(|live| live.default_mode.clone()),
            from_config: super::super::live_host::is_declared(host, &program.name),
            modes: modes.into_iter().map(warmbin_exec::Mode::as_str).collect(),
            problem: live.as_ref().and_then(|live| live.problem.clone()),
            route: live.map(|live| live.route),
            name: program.name,
            active: program.active,
            created_at: to_rfc3339(program.created_at),
            versions,
        }
    }
}

impl VersionBody {
    /// A version of `program`, whose active one is `active`.
    pub(in super::super) fn new(program: &str, active: Option<u32>, version: Version) -> Self {
        Self {
            program: program.to_owned(),
            active: active == Some(version.number),
            version: version.number,
            source: version.source.as_str(),
            native: version.native.map(ArtifactBody::from),
            wasm: version.wasm.map(ArtifactBody::from),
            settings: serde_json::from_str(&version.settings).unwrap_or(Value::Null),
            created_by: version.created_by,
            created_at: to_rfc3339(version.created_at),
        }
    }
}

impl From<Artifact> for ArtifactBody {
    fn from(artifact: Artifact) -> Self {
        Self {
            path: artifact.path,
            sha256: artifact.sha256,
            bytes: artifact.bytes,
            kind: artifact.kind,
        }
    }
}
