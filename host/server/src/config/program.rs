//! The settings of one program: a `[[program]]` of the file, or the `settings` JSON of an upload. Unknown
//! keys are errors.

use std::collections::BTreeMap;
use std::path::PathBuf;

use http::HeaderValue;
use serde::{Deserialize, Serialize};
use warmbin_cgi::meta_variables::is_protocol_variable;
use warmbin_exec::Mode;
use warmbin_exec::wasm::PoolSettings;

use super::limits::LimitSettings;

/// What an operator may set for one program. Also the shape of an upload's `settings` part (JSON).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProgramSettings {
    /// The path it is served under; `/cgi-bin/NAME` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    /// The mode used when a request names none; `wasm-warm` if there is a module, else `fork`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Arguments after `argv[0]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables added to its environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Its working directory; the program's folder if absent. Native only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<PathBuf>,
    /// Folders a module may see.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<Mount>,
    /// Whether a query without `=` becomes arguments (RFC 3875 §4.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed_query: Option<bool>,
    /// When its output counts as a whole HTTP response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nph: Option<Nph>,
    /// The type of its output, if that is a body without a header block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_only: Option<String>,
    /// Whether an answer ends as its program does: broken off if that fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict_exit: Option<bool>,
    /// How many ready instances, children or workers it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<Pool>,
    /// What a prefork interpreter loads ahead of time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preload: Option<Preload>,
    /// Whether it may see the Authorization header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_authorization: Option<bool>,
    /// What becomes of `%2F` in its path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoded_slashes: Option<EncodedSlashes>,
    /// Whether a response that is only `Location: /path` is answered in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_redirect: Option<bool>,
    /// Whether an extra path after the program's is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_info: Option<bool>,
    /// Folders that its X-Sendfile may serve from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sendfile_roots: Option<Vec<PathBuf>>,
    /// What it may use.
    #[serde(skip_serializing_if = "LimitSettings::is_empty")]
    pub limits: LimitSettings,
}

/// A folder a module may see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mount {
    /// The folder on this machine.
    pub host: PathBuf,
    /// Where the module sees it.
    pub guest: String,
    /// Whether it may write there.
    #[serde(default)]
    pub write: bool,
}

/// When a program's output counts as a whole HTTP response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nph {
    /// When its name begins with `nph-`.
    #[default]
    ByName,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Nph {
    /// Whether this holds for the program of this name; of a drop-in one, the file's name counts.
    pub fn holds_for(self, name: &str) -> bool {
        match self {
            Self::ByName => name
                .rsplit('/')
                .next()
                .is_some_and(|file| file.starts_with("nph-")),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// What becomes of `%2F` in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EncodedSlashes {
    /// The request is refused.
    #[default]
    Reject,
    /// It is decoded like any other character.
    Decode,
    /// It stays `%2F`.
    Keep,
}

impl From<EncodedSlashes> for warmbin_cgi::EncodedSlashes {
    fn from(word: EncodedSlashes) -> Self {
        match word {
            EncodedSlashes::Reject => Self::Reject,
            EncodedSlashes::Decode => Self::Decode,
            EncodedSlashes::Keep => Self::Keep,
        }
    }
}

/// How many ready instances, children or workers a program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pool {
    /// Kept ready even when nobody asks.
    pub min: u32,
    /// Never more than this many.
    pub max: u32,
    /// Which persistent worker is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pick: Option<Pick>,
}

impl Default for Pool {
    fn default() -> Self {
        let PoolSettings { min, max } = PoolSettings::default();
        Self { min, max, pick: None }
    }
}

impl From<Pool> for PoolSettings {
    fn from(pool: Pool) -> Self {
        Self {
            min: pool.min,
            max: pool.max,
        }
    }
}

/// Which persistent worker is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pick {
    /// The most recently used.
    Mru,
    /// The least recently used.
    Lru,
}

/// What a prefork interpreter loads ahead of time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Preload {
    /// Modules to load.
    pub modules: Vec<String>,
    /// Whether the script is compiled too.
    pub compile: bool,
}

impl ProgramSettings {
    /// Reads settings from JSON text. The error names the key.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let settings: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match settings.problems() {
            problems if problems.is_empty() => Ok(settings),
            problems => Err(problems.join("; ")),
        }
    }

    /// The settings as JSON text, the form in which versions keep them.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }

    /// What is wrong with these values; each entry begins with the key.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = self.limits.problems();
        if let Some(route) = &self.route
            && let Err(why) = check_route(route)
        {
            problems.push(format!("route: {why}"));
        }
        if let Some(mode) = &self.mode
            && let Err(why) = mode.parse::<Mode>()
        {
            problems.push(format!("mode: {why}"));
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                problems.push(format!("env: {name:?} cannot be a variable of an environment"));
            }
        }
        if self.args.iter().any(|argument| argument.contains('\0')) {
            problems.push("args: an argument holds a NUL byte".to_owned());
        }
        for root in self.sendfile_roots.iter().flatten() {
            if !root.is_absolute() {
                problems.push(format!("sendfile_roots: {} is not absolute", root.display()));
            }
        }
        if let Some(kind) = &self.body_only {
            if kind.is_empty() || HeaderValue::from_str(kind).is_err() {
                problems.push(format!("body_only: {kind:?} is no content type"));
            }
            if self.nph == Some(Nph::Always) {
                problems.push("body_only: contradicts nph = \"always\"".to_owned());
            }
        }
        if let Some(pool) = self.pool
            && (pool.min > pool.max || pool.max == 0)
        {
            problems.push("pool: max must be at least 1 and not less than min".to_owned());
        }
        problems
    }

    /// Variables that `env` sets and the protocol has for itself: their values are not used.
    pub fn shadowed(&self) -> impl Iterator<Item = &str> {
        self.env
            .keys()
            .map(String::as_str)
            .filter(|name| is_protocol_variable(name))
    }

    /// The keys that are set and have no effect in this version of warmbin.
    pub fn without_effect(&self) -> Vec<&'static str> {
        [
            ("mounts", !self.mounts.is_empty()),
            ("pool.pick", self.pool.is_some_and(|pool| pool.pick.is_some())),
            ("preload", self.preload.is_some()),
            ("limits.processes", self.limits.processes.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, set)| set.then_some(key))
        .collect()
    }
}

/// Whether `route` can be the path of a program: absolute, no empty or dot segments, no query, nothing
/// encoded.
pub fn check_route(route: &str) -> Result<(), String> {
    let Some(rest) = route.strip_prefix('/') else {
        return Err(format!("{route:?} does not begin with a slash"));
    };
    if route == "/" {
        return Ok(());
    }
    for segment in rest.split('/') {
        if segment.is_empty() || segment == "." || segment == ".." {
            return Err(format!("{route:?} has an empty segment or one that is . or .."));
        }
        if segment.contains(|c: char| c.is_control() || matches!(c, '?' | '#' | '%' | '\\' | ' ')) {
            return Err(format!(
                "{route:?} has a character that a path cannot hold unencoded"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Nph, ProgramSettings, check_route};

    #[test]
    fn settings_survive_their_json_form() {
        let text =
            r#"{"route":"/x","args":["-a"],"env":{"A":"b"},"pool":{"min":2,"max":4},"limits":{"wall":"5s"}}"#;
        let settings = ProgramSettings::from_json(text).unwrap();
        assert_eq!(settings.to_json(), text);
        assert_eq!(ProgramSettings::default().to_json(), "{}");
    }

    #[test]
    fn wrong_settings_are_refused_by_the_key() {
        for (text, key) in [
            (r#"{"colour":"red"}"#, "colour"),
            (r#"{"limits":{"wal":"1s"}}"#, "wal"),
            (r#"{"limits":{"wall":"0s"}}"#, "limits.wall"),
            (r#"{"mode":"quick"}"#, "mode"),
            (r#"{"route":"x"}"#, "route"),
            (r#"{"env":{"A=B":"c"}}"#, "env"),
            (r#"{"pool":{"min":3,"max":2}}"#, "pool"),
            (r#"{"sendfile_roots":["files"]}"#, "sendfile_roots"),
            (r#"{"body_only":"text/plain\n"}"#, "body_only"),
            (r#"{"body_only":"text/plain","nph":"always"}"#, "body_only"),
        ] {
            let error = ProgramSettings::from_json(text).unwrap_err();
            assert!(error.contains(key), "{text}: {error}");
        }
    }

    #[test]
    fn a_name_that_begins_with_nph_tells_a_whole_response() {
        for (nph, name, holds) in [
            (Nph::ByName, "nph-test", true),
            (Nph::ByName, "scripts/nph-test.pl", true),
            (Nph::ByName, "nph-scripts/test.pl", false),
            (Nph::ByName, "graph-nph-", false),
            (Nph::Always, "test", true),
            (Nph::Never, "nph-test", false),
        ] {
            assert_eq!(nph.holds_for(name), holds, "{nph:?} {name}");
        }
    }

    #[test]
    fn routes_are_plain_absolute_paths() {
        for route in ["/", "/a", "/cgi-bin/x.cgi", "/ünï"] {
            assert_eq!(check_route(route), Ok(()), "{route}");
        }
        for route in ["", "a", "/a/", "//a", "/a/../b", "/a?b", "/a%20b", "/a b"] {
            assert!(check_route(route).is_err(), "{route}");
        }
    }
}
