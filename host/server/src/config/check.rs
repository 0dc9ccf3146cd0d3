//! What must hold across keys before anything is bound.

use std::collections::{BTreeMap, BTreeSet};

use tracing_subscriber::EnvFilter;
use warmbin_exec::{Family, Mode};

use super::program::check_route;
use super::{Config, ConfigError, ProgramEntry};

/// Refuses a configuration that cannot be served, naming everything that is wrong with it.
pub fn check(config: &Config) -> Result<(), ConfigError> {
    let mut problems = Vec::new();
    listeners(config, &mut problems);
    programs(config, &mut problems);
    directories(config, &mut problems);
    if let Some(folder) = &config.documents
        && !folder.is_dir()
    {
        problems.push(format!("documents: {} is not a folder", folder.display()));
    }
    for root in &*config.inherited.sendfile_roots {
        if !root.is_dir() {
            problems.push(format!("sendfile_roots: {} is not a folder", root.display()));
        }
    }
    if config.workers == Some(0) {
        problems.push("workers: must be at least 1".to_owned());
    }
    if !config.store.starts_with("sqlite:") {
        problems.push("store: this version stores in SQLite only; write sqlite:PATH".to_owned());
    }
    if let Err(why) = log_filter(&config.log) {
        problems.push(why);
    }
    if let Some(token) = &config.admin_token {
        // SECURITY: an empty token would let everybody in.
        if token.0.is_empty() {
            problems.push("admin_token: it is empty; give one, or none at all to have one made".to_owned());
        }
        if token.0.contains(|c: char| !c.is_ascii_graphic()) {
            problems.push("admin_token: use printable characters without spaces".to_owned());
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(ConfigError { problems })
    }
}

/// What `log` means.
pub fn log_filter(words: &str) -> Result<EnvFilter, String> {
    // The engine opens a span at every call a guest makes. A filter that names it overrides this.
    EnvFilter::try_new(format!("wasmtime_wasi=warn,{words}"))
        .map_err(|error| format!("log: {words:?}: {error}"))
}

fn listeners(config: &Config, problems: &mut Vec<String>) {
    // SECURITY: a token that was generated and printed into some log is no protection for a network, unless
    // whoever runs the host says that the log is safe.
    if !config.admin_listen.ip().is_loopback() && config.admin_token.is_none() && !config.admin_token_generate
    {
        problems.push(format!(
            "admin_listen: {} is reachable from other machines; set an admin token (WARMBIN_ADMIN_TOKEN or \
             WARMBIN_ADMIN_TOKEN_FILE), accept a generated one (admin_token_generate = true), or listen on \
             127.0.0.1",
            config.admin_listen
        ));
    }
    // SECURITY: one origin for both would let a program's page act as an administrator.
    if config.listen == config.admin_listen && config.listen.port() != 0 {
        problems.push("admin_listen: must differ from listen".to_owned());
    }
}

/// Whether `name` can name a program.
pub fn is_program_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

fn programs(config: &Config, problems: &mut Vec<String>) {
    let mut routes: BTreeMap<String, &str> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for entry in &config.programs {
        let name = entry.name.as_str();
        if !is_program_name(name) {
            problems.push(format!(
                "program name {name:?}: a letter or digit, then letters, digits, '.', '_', '-'; at most 64"
            ));
            continue;
        }
        if !names.insert(name) {
            problems.push(format!("program {name}: declared twice"));
        }
        if entry.native.is_none() && entry.wasm.is_none() {
            problems.push(format!("program {name}: has neither native nor wasm"));
        }
        problems.extend(mode_without_artifact(entry).map(|why| format!("program {name}: {why}")));
        for (key, path) in [("native", &entry.native), ("wasm", &entry.wasm)] {
            if let Some(path) = path
                && !path.is_file()
            {
                problems.push(format!("program {name}: {key}: {} is not a file", path.display()));
            }
        }
        problems.extend(
            entry
                .settings
                .problems()
                .into_iter()
                .map(|why| format!("program {name}: {why}")),
        );
        let route = entry
            .settings
            .route
            .clone()
            .unwrap_or_else(|| format!("/cgi-bin/{name}"));
        if let Some(other) = routes.insert(route.clone(), name) {
            problems.push(format!(
                "program {name}: route {route} is also that of program {other}"
            ));
        }
    }
}

/// The default mode needs an artifact of its family. (A word that names no mode is the settings' problem.)
fn mode_without_artifact(entry: &ProgramEntry) -> Option<String> {
    let mode: Mode = entry.settings.mode.as_deref()?.parse().ok()?;
    let (key, artifact) = match mode.family() {
        Family::Native => ("native", &entry.native),
        Family::Wasm => ("wasm", &entry.wasm),
    };
    artifact
        .is_none()
        .then(|| format!("mode: {mode} needs a {key} artifact"))
}

fn directories(config: &Config, problems: &mut Vec<String>) {
    for entry in &config.directories {
        let url = &entry.url;
        if let Err(why) = check_route(url) {
            problems.push(format!("directory: url: {why}"));
        }
        if !entry.path.is_dir() {
            problems.push(format!(
                "directory {url}: path: {} is not a folder",
                entry.path.display()
            ));
        }
        for (extension, program) in &entry.interpreters {
            if !extension.starts_with('.') || extension.len() < 2 || extension.contains('/') {
                problems.push(format!(
                    "directory {url}: interpreters: {extension:?} is not an extension such as \".php\""
                ));
            }
            if !program.is_file() {
                problems.push(format!(
                    "directory {url}: interpreters: {} is not a file",
                    program.display()
                ));
            }
        }
        for name in &entry.index {
            if name.is_empty() || name.contains('/') || name == ".." || name == "." {
                problems.push(format!("directory {url}: index: {name:?} is not a file name"));
            }
        }
        if entry.settings.route.is_some() {
            problems.push(format!("directory {url}: route: a directory has a url instead"));
        }
        problems.extend(
            entry
                .settings
                .problems()
                .into_iter()
                .map(|why| format!("directory {url}: {why}")),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::config::Config;
    use crate::config::layer::Layer;

    fn problems(text: &str) -> Vec<String> {
        let layer = toml::from_str(text).unwrap();
        let config = Config::resolve(layer, Layer::default(), Layer::default()).unwrap();
        check(&config).err().map_or_else(Vec::new, |error| error.problems)
    }

    #[test]
    fn what_cannot_be_served_is_refused_by_the_key() {
        for (text, key) in [
            ("admin_listen = '0.0.0.0:8081'", "admin_listen"),
            (
                "listen = '127.0.0.1:1'\nadmin_listen = '127.0.0.1:1'",
                "admin_listen",
            ),
            ("admin_token = 'with a space'", "admin_token"),
            ("workers = 0", "workers"),
            ("log = 'info,=='", "log"),
            ("documents = '/no/such/folder'", "documents"),
            ("store = 'mysql://x'", "store"),
            ("[[program]]\nname = '../x'\nnative = '/bin/sh'", "name"),
            ("[[program]]\nname = 'x'", "neither native nor wasm"),
            ("[[program]]\nname = 'x'\nnative = '/no/such/file'", "native"),
            (
                "[[program]]\nname = 'x'\nnative = '/bin/sh'\nroute = 'y'",
                "route",
            ),
            (
                "[[program]]\nname = 'x'\nnative = '/bin/sh'\n[[program]]\nname = 'y'\nnative = '/bin/sh'\nroute = '/cgi-bin/x'",
                "also that of program x",
            ),
            ("[[directory]]\nurl = '/d'\npath = '/no/such/folder'", "path"),
            (
                "[[directory]]\nurl = '/d'\npath = '/'\ninterpreters = { 'php' = '/bin/sh' }",
                "extension",
            ),
            ("[[directory]]\nurl = '/d'\npath = '/'\nindex = ['../x']", "index"),
        ] {
            let found = problems(text);
            assert!(found.len() == 1 && found[0].contains(key), "{text}: {found:?}");
        }
        assert_eq!(
            problems("admin_listen = '0.0.0.0:8081'\nadmin_token = '0123456789abcdef'"),
            [""; 0]
        );
    }
}
