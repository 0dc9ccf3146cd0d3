//! One program, ready to be run: what a request needs of it, prepared once.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use warmbin_cgi::{HeadStyle, MetaVariables};
use warmbin_exec::{Executors, Family, Mode, Native, Runnable};

use super::slots::Slots;
use crate::config::{Policy, ProgramSettings};

/// `SERVER_SOFTWARE`.
pub const SOFTWARE: &str = concat!("warmbin/", env!("CARGO_PKG_VERSION"));

/// PATH, unless the operator sets one.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// One program, ready to be run.
#[derive(Debug)]
pub struct Entry {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is served.
    pub route: String,
    /// The active version; none for drop-in files.
    pub version: Option<u32>,
    /// When that version was made: tells a re-added program from its namesake.
    pub version_created_at: i64,
    /// What executors run.
    pub runnable: Arc<Runnable>,
    /// Its settings.
    pub settings: Arc<ProgramSettings>,
    /// The mode used when a request names none.
    pub default_mode: Mode,
    /// What holds for it.
    pub policy: Policy,
    /// The configured arguments.
    pub arguments: Vec<OsString>,
    /// The part of its environment that every request shares.
    pub variables: MetaVariables,
    /// Who may run and who waits.
    pub slots: Arc<Slots>,
    /// `SCRIPT_FILENAME`: the same in every mode, so that modes can be compared.
    pub script_filename: PathBuf,
    /// `DOCUMENT_ROOT`: the root that the extra path is mapped under.
    pub document_root: PathBuf,
}

/// What an entry is made of.
#[derive(Debug)]
pub struct Parts {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is served.
    pub route: String,
    /// The version and when it was made; none for drop-in files.
    pub version: Option<(u32, i64)>,
    /// What executors run.
    pub runnable: Runnable,
    /// Its settings.
    pub settings: ProgramSettings,
    /// What holds for it.
    pub policy: Policy,
    /// The slots to share, if there already are some.
    pub slots: Option<Arc<Slots>>,
    /// The module's file.
    pub wasm_path: Option<PathBuf>,
    /// The root that the extra path is mapped under; the program's folder if absent.
    pub document_root: Option<PathBuf>,
}

impl Entry {
    /// Prepares an entry.
    pub fn new(parts: Parts) -> Self {
        let Parts {
            name,
            route,
            version,
            runnable,
            settings,
            policy,
            slots,
            wasm_path,
            document_root,
        } = parts;
        let native = runnable.native.as_ref();
        let script_filename = native.map(|n| n.path.clone()).or(wasm_path).unwrap_or_default();
        let document_root =
            document_root.unwrap_or_else(|| script_filename.parent().unwrap_or(Path::new("/")).to_owned());
        let limits = policy.limits;
        let slots = slots
            .filter(|slots| slots.has_limits(limits.concurrency, limits.queue))
            .unwrap_or_else(|| Slots::new(limits.concurrency, limits.queue));
        Self {
            default_mode: default_mode(&settings, &runnable),
            arguments: settings.args.iter().map(OsString::from).collect(),
            variables: MetaVariables::new(SOFTWARE, &configured(&settings)),
            version: version.map(|(number, _)| number),
            version_created_at: version.map_or(0, |(_, created_at)| created_at),
            runnable: Arc::new(runnable),
            settings: Arc::new(settings),
            name,
            route,
            policy,
            slots,
            script_filename,
            document_root,
        }
    }

    /// Whether this host can run it in `mode`.
    pub fn runs(&self, mode: Mode) -> bool {
        Executors::AVAILABLE.contains(&mode) && self.runnable.supports(mode)
    }

    /// The modes this host can run it in, in display order.
    pub fn modes(&self) -> Vec<Mode> {
        Executors::AVAILABLE
            .into_iter()
            .filter(|mode| self.runs(*mode))
            .collect()
    }

    /// How its output begins.
    pub fn head_style(&self) -> HeadStyle {
        if self.policy.nph.holds_for(&self.name) {
            HeadStyle::WholeResponse
        } else {
            HeadStyle::Parsed
        }
    }

    /// The bytes of `SCRIPT_FILENAME`.
    pub fn script_filename(&self) -> Option<&[u8]> {
        let bytes = self.script_filename.as_os_str().as_bytes();
        (!bytes.is_empty()).then_some(bytes)
    }
}

/// The settings' mode if it can be run here, else the family's usual one.
fn default_mode(settings: &ProgramSettings, runnable: &Runnable) -> Mode {
    let usable = |mode: &Mode| Executors::AVAILABLE.contains(mode) && runnable.supports(*mode);
    settings
        .mode
        .as_deref()
        .and_then(|word| word.parse().ok())
        .filter(usable)
        .unwrap_or(if runnable.supports(Mode::WasmWarm) {
            Mode::WasmWarm
        } else {
            Mode::Fork
        })
}

/// Why the mode in the settings is not the one used, if it is not.
pub(super) fn mode_warning(entry: &Entry) -> Option<String> {
    let word = entry.settings.mode.as_deref()?;
    if word == entry.default_mode.as_str() {
        return None;
    }
    let why = match word.parse::<Mode>() {
        Ok(mode) if entry.runnable.supports(mode) => "this version does not run that mode",
        Ok(mode) if mode.family() == Family::Wasm => "it has no wasm artifact",
        _ => "it has no native artifact",
    };
    Some(format!(
        "program {}: mode {word} is not used, {} is: {why}",
        entry.name, entry.default_mode
    ))
}

/// The operator's variables.
fn configured(settings: &ProgramSettings) -> Vec<(String, String)> {
    let mut variables = Vec::with_capacity(settings.env.len() + 1);
    if !settings.env.contains_key("PATH") {
        variables.push(("PATH".to_owned(), DEFAULT_PATH.to_owned()));
    }
    variables.extend(
        settings
            .env
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    variables
}

/// A native artifact at `path`.
pub(super) fn native(path: &Path, interpreter: Option<PathBuf>, settings: &ProgramSettings) -> Native {
    Native {
        working_dir: settings
            .working_dir
            .clone()
            .unwrap_or_else(|| path.parent().unwrap_or(Path::new("/")).to_owned()),
        path: path.to_owned(),
        interpreter,
    }
}
