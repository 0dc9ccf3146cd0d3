//! Configuration by environment variables: every top-level key as `WARMBIN_KEY`, every limit as
//! `WARMBIN_LIMITS_KEY`, lists separated by commas. Secrets may come from a file instead:
//! `WARMBIN_ADMIN_TOKEN_FILE`, `WARMBIN_STORE_FILE`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use super::ConfigError;
use super::layer::Layer;
use super::limits::LimitSettings;
use super::program::EncodedSlashes;

/// Reads the layer from variables that `get` looks up.
pub fn read(get: &dyn Fn(&str) -> Option<String>) -> Result<Layer, ConfigError> {
    let mut reader = Reader {
        get,
        problems: Vec::new(),
    };
    let layer = Layer {
        listen: reader.parsed("LISTEN"),
        admin_listen: reader.parsed("ADMIN_LISTEN"),
        data: reader.parsed("DATA"),
        store: reader.secret("STORE"),
        admin_token: reader.secret("ADMIN_TOKEN"),
        admin_token_generate: reader.parsed("ADMIN_TOKEN_GENERATE"),
        mode_override: reader.parsed("MODE_OVERRIDE"),
        trusted_proxies: reader.list("TRUSTED_PROXIES"),
        pass_authorization: reader.parsed("PASS_AUTHORIZATION"),
        encoded_slashes: reader.parsed("ENCODED_SLASHES"),
        local_redirect: reader.parsed("LOCAL_REDIRECT"),
        path_info: reader.parsed("PATH_INFO"),
        sendfile_roots: reader.list("SENDFILE_ROOTS"),
        error_documents: reader.pairs("ERROR_DOCUMENTS"),
        expose_timing: reader.parsed("EXPOSE_TIMING"),
        workers: reader.parsed("WORKERS"),
        processes: reader.parsed("PROCESSES"),
        documents: reader.parsed::<PathBuf>("DOCUMENTS"),
        retention: reader.parsed("RETENTION"),
        log: reader.parsed("LOG"),
        limits: LimitSettings {
            wall: reader.parsed("LIMITS_WALL"),
            idle: reader.parsed("LIMITS_IDLE"),
            grace: reader.parsed("LIMITS_GRACE"),
            cpu: reader.parsed("LIMITS_CPU"),
            memory: reader.parsed("LIMITS_MEMORY"),
            request_body: reader.parsed("LIMITS_REQUEST_BODY"),
            response_body: reader.parsed("LIMITS_RESPONSE_BODY"),
            header_block: reader.parsed("LIMITS_HEADER_BLOCK"),
            concurrency: reader.parsed("LIMITS_CONCURRENCY"),
            queue: reader.parsed("LIMITS_QUEUE"),
            processes: reader.parsed("LIMITS_PROCESSES"),
            stderr: reader.parsed("LIMITS_STDERR"),
        },
        program: Vec::new(),
        directory: Vec::new(),
    };
    if reader.problems.is_empty() {
        Ok(layer)
    } else {
        Err(ConfigError {
            problems: reader.problems,
        })
    }
}

struct Reader<'a> {
    get: &'a dyn Fn(&str) -> Option<String>,
    problems: Vec<String>,
}

impl Reader<'_> {
    /// An empty variable counts as absent: that is how container files unset one.
    fn text(&self, name: &str) -> Option<String> {
        (self.get)(&format!("WARMBIN_{name}")).filter(|text| !text.is_empty())
    }

    fn parse<T: FromStr<Err: std::fmt::Display>>(&mut self, name: &str, text: &str) -> Option<T> {
        text.parse()
            .map_err(|error| self.problems.push(format!("WARMBIN_{name}: {error}")))
            .ok()
    }

    fn parsed<T: FromStr<Err: std::fmt::Display>>(&mut self, name: &str) -> Option<T> {
        let text = self.text(name)?;
        self.parse(name, &text)
    }

    fn list<T: FromStr<Err: std::fmt::Display>>(&mut self, name: &str) -> Option<Vec<T>> {
        let text = self.text(name)?;
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(|item| self.parse(name, item)).collect()
    }

    fn pairs(&mut self, name: &str) -> Option<BTreeMap<String, String>> {
        let text = self.text(name)?;
        text.split(',')
            .map(|pair| {
                let pair = pair.trim().split_once('=');
                if pair.is_none() {
                    self.problems.push(format!(
                        "WARMBIN_{name}: write pairs such as 404=/cgi-bin/not-found"
                    ));
                }
                pair.map(|(status, path)| (status.to_owned(), path.to_owned()))
            })
            .collect()
    }

    fn secret(&mut self, name: &str) -> Option<String> {
        let direct = self.text(name);
        let Some(path) = self.text(&format!("{name}_FILE")) else {
            return direct;
        };
        if direct.is_some() {
            self.problems
                .push(format!("set WARMBIN_{name} or WARMBIN_{name}_FILE, not both"));
            return None;
        }
        match std::fs::read_to_string(&path) {
            Ok(text) => Some(text.trim_end_matches(['\r', '\n']).to_owned()),
            Err(error) => {
                self.problems
                    .push(format!("WARMBIN_{name}_FILE: cannot read {path}: {error}"));
                None
            }
        }
    }
}

impl FromStr for EncodedSlashes {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "reject" => Ok(Self::Reject),
            "decode" => Ok(Self::Decode),
            "keep" => Ok(Self::Keep),
            _ => Err(format!("{word:?} is none of reject, decode, keep")),
        }
    }
}
