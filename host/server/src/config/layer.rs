//! One source of configuration: every top-level key, each either set or absent. The file, the environment and
//! the flags are each one layer; [`super::Config::resolve`] puts them on top of each other.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ipnet::IpNet;
use serde::Deserialize;

use super::entry::{DirectoryEntry, ProgramEntry};
use super::limits::LimitSettings;
use super::network::ModeOverride;
use super::program::EncodedSlashes;
use super::quantity::Span;

/// What one source sets.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Layer {
    /// Where programs are served.
    pub listen: Option<SocketAddr>,
    /// Where dashboard, API, metrics and health are served.
    pub admin_listen: Option<SocketAddr>,
    /// The data folder.
    pub data: Option<PathBuf>,
    /// The store's URL.
    pub store: Option<String>,
    /// The admin token.
    pub admin_token: Option<String>,
    /// Whether a generated token will do for a listener that other machines reach.
    pub admin_token_generate: Option<bool>,
    /// Who may pick a mode.
    pub mode_override: Option<ModeOverride>,
    /// Networks whose forwarding headers count.
    pub trusted_proxies: Option<Vec<IpNet>>,
    /// Whether programs may see Authorization.
    pub pass_authorization: Option<bool>,
    /// What becomes of `%2F`.
    pub encoded_slashes: Option<EncodedSlashes>,
    /// Whether a lone `Location: /path` is answered in place.
    pub local_redirect: Option<bool>,
    /// Whether an extra path is accepted.
    pub path_info: Option<bool>,
    /// Folders that X-Sendfile may serve from.
    pub sendfile_roots: Option<Vec<PathBuf>>,
    /// Programs that answer for a status.
    pub error_documents: Option<BTreeMap<String, String>>,
    /// Whether responses say how they were run and how long it took.
    pub expose_timing: Option<bool>,
    /// Threads.
    pub workers: Option<u32>,
    /// Processes under one supervisor.
    pub processes: Option<u32>,
    /// A folder of files served below `/`.
    pub documents: Option<PathBuf>,
    /// How long raw records are kept.
    pub retention: Option<Span>,
    /// What is logged: a `tracing` filter.
    pub log: Option<String>,
    /// `[limits]`.
    pub limits: LimitSettings,
    /// `[[program]]`.
    pub program: Vec<ProgramEntry>,
    /// `[[directory]]`.
    pub directory: Vec<DirectoryEntry>,
}

impl Layer {
    /// Makes every relative path relative to `folder`: paths in a file are relative to the file.
    pub fn rebase(&mut self, folder: &Path) {
        let join = |path: &mut PathBuf| *path = folder.join(&*path);
        for path in [&mut self.data, &mut self.documents] {
            path.iter_mut().for_each(join);
        }
        self.sendfile_roots.iter_mut().flatten().for_each(join);
        if let Some(url) = &mut self.store
            && let Some(path) = url.strip_prefix("sqlite:")
            // `sqlite::memory:` and `sqlite://…` are no relative paths.
            && !path.starts_with([':', '/'])
        {
            *url = format!("sqlite:{}", folder.join(path).display());
        }
        for entry in &mut self.program {
            entry.native.iter_mut().chain(&mut entry.wasm).for_each(join);
        }
        for entry in &mut self.directory {
            join(&mut entry.path);
            entry.interpreters.values_mut().for_each(join);
        }
        let settings = self.program.iter_mut().map(|entry| &mut entry.settings);
        for settings in settings.chain(self.directory.iter_mut().map(|entry| &mut entry.settings)) {
            settings.working_dir.iter_mut().for_each(join);
            settings.sendfile_roots.iter_mut().flatten().for_each(join);
            settings.mounts.iter_mut().for_each(|mount| join(&mut mount.host));
        }
    }
}
