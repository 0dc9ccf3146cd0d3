//! What holds for one program once its own settings have been laid over the host's.

use std::path::PathBuf;
use std::sync::Arc;

use http::HeaderValue;
use warmbin_cgi::HeadLimits;
use warmbin_exec::Limits;

use super::limits::LimitValues;
use super::program::{EncodedSlashes, Nph, ProgramSettings};

/// The values a program inherits where its settings are silent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inherited {
    /// Limits.
    pub limits: LimitValues,
    /// Whether programs may see Authorization.
    pub pass_authorization: bool,
    /// What becomes of `%2F`.
    pub encoded_slashes: EncodedSlashes,
    /// Whether a lone `Location: /path` is answered in place.
    pub local_redirect: bool,
    /// Whether an extra path is accepted.
    pub path_info: bool,
    /// Folders that X-Sendfile may serve from.
    pub sendfile_roots: Arc<[PathBuf]>,
}

impl Default for Inherited {
    fn default() -> Self {
        Self {
            limits: LimitValues::default(),
            pass_authorization: false,
            encoded_slashes: EncodedSlashes::Reject,
            local_redirect: true,
            path_info: true,
            sendfile_roots: Arc::default(),
        }
    }
}

/// What holds for one program.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the configuration")]
pub struct Policy {
    /// What executors enforce.
    pub exec: Arc<Limits>,
    /// Limits of the request side.
    pub limits: LimitValues,
    /// Limits of the header block.
    pub head: HeadLimits,
    /// Whether it may see Authorization.
    pub pass_authorization: bool,
    /// What becomes of `%2F`.
    pub encoded_slashes: EncodedSlashes,
    /// Whether a lone `Location: /path` is answered in place.
    pub local_redirect: bool,
    /// Whether an extra path is accepted.
    pub path_info: bool,
    /// Whether a query without `=` becomes arguments.
    pub indexed_query: bool,
    /// Folders that X-Sendfile may serve from.
    pub sendfile_roots: Arc<[PathBuf]>,
    /// When its output counts as a whole HTTP response.
    pub nph: Nph,
    /// The type of its output, if that is a body without a header block.
    pub body_only: Option<HeaderValue>,
    /// Whether a failure at its end breaks its answer off.
    pub strict_exit: bool,
}

impl Policy {
    /// `settings` laid over `inherited`.
    pub fn new(inherited: &Inherited, settings: &ProgramSettings) -> Self {
        let limits = inherited.limits.with(&settings.limits);
        let block = usize::try_from(limits.header_block.0).unwrap_or(usize::MAX);
        let lines = HeadLimits::default();
        Self {
            exec: Arc::new(limits.for_exec()),
            limits,
            head: HeadLimits {
                block,
                line: lines.line.min(block),
                ..lines
            },
            pass_authorization: settings
                .pass_authorization
                .unwrap_or(inherited.pass_authorization),
            encoded_slashes: settings.encoded_slashes.unwrap_or(inherited.encoded_slashes),
            local_redirect: settings.local_redirect.unwrap_or(inherited.local_redirect),
            path_info: settings.path_info.unwrap_or(inherited.path_info),
            indexed_query: settings.indexed_query.unwrap_or(false),
            sendfile_roots: match &settings.sendfile_roots {
                Some(roots) => roots.as_slice().into(),
                None => Arc::clone(&inherited.sendfile_roots),
            },
            nph: settings.nph.unwrap_or_default(),
            body_only: settings.body_only.as_deref().and_then(|kind| kind.parse().ok()),
            strict_exit: settings.strict_exit.unwrap_or(false),
        }
    }
}
