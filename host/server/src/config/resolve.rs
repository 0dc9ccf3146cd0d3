//! Laying the sources over each other: defaults < file < environment < flags.

use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use super::layer::Layer;
use super::limits::{LimitSettings, LimitValues};
use super::{
    Config, ConfigError, ErrorDocuments, Inherited, ModeOverride, Origin, Secret, Setting, environment, file,
};

/// Where configuration comes from.
#[derive(Debug, Default)]
pub struct Sources {
    /// `--config`, or `WARMBIN_CONFIG`.
    pub file: Option<PathBuf>,
    /// The flags.
    pub flags: Layer,
}

impl Config {
    /// Reads every source and checks the whole. `get` looks up environment variables.
    pub fn load(sources: Sources, get: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let path = sources.file.or_else(|| {
            get("WARMBIN_CONFIG")
                .filter(|path| !path.is_empty())
                .map(PathBuf::from)
        });
        let from_file = path.as_deref().map(file::read).transpose()?.unwrap_or_default();
        let from_env = environment::read(get)?;
        let mut config = Self::resolve(from_file, from_env, sources.flags)?;
        config.file = path;
        super::check::check(&config)?;
        Ok(config)
    }

    /// Lays the layers over each other. Values are not checked against each other here.
    pub fn resolve(file: Layer, env: Layer, flags: Layer) -> Result<Self, ConfigError> {
        let mut pick = Picker {
            file,
            env,
            flags,
            shown: Vec::new(),
        };
        let listen = pick.value("listen", |l| l.listen.take(), loopback(8080));
        let admin_listen = pick.value("admin_listen", |l| l.admin_listen.take(), loopback(8081));
        let data = pick.with(
            "data",
            |l| l.data.take(),
            PathBuf::from("warmbin-data"),
            |v| v.display().to_string(),
        );
        let data = absolute("data", &data)?;
        let store = pick.with(
            "store",
            |l| l.store.take(),
            Config::store_in(&data),
            |url| without_password(url),
        );
        let admin_token = pick.with(
            "admin_token",
            |l| l.admin_token.take().map(Some),
            None,
            |token| if token.is_some() { "(set)" } else { "(generated)" }.to_owned(),
        );
        let admin_token_generate =
            pick.value("admin_token_generate", |l| l.admin_token_generate.take(), false);
        let mode_override = pick.value(
            "mode_override",
            |l| l.mode_override.take(),
            ModeOverride::default(),
        );
        let trusted_proxies = pick.with(
            "trusted_proxies",
            |l| l.trusted_proxies.take(),
            Vec::new(),
            |v| list(v),
        );
        let base = Inherited::default();
        let inherited = Inherited {
            pass_authorization: pick.value(
                "pass_authorization",
                |l| l.pass_authorization.take(),
                base.pass_authorization,
            ),
            encoded_slashes: pick.with(
                "encoded_slashes",
                |l| l.encoded_slashes.take(),
                base.encoded_slashes,
                |word| format!("{word:?}").to_lowercase(),
            ),
            local_redirect: pick.value("local_redirect", |l| l.local_redirect.take(), base.local_redirect),
            path_info: pick.value("path_info", |l| l.path_info.take(), base.path_info),
            sendfile_roots: sendfile_roots(&mut pick)?,
            limits: limits(&mut pick, base.limits)?,
        };
        let documents = documents(&mut pick)?;
        let error_documents = error_documents(&mut pick)?;
        let expose_timing = pick.value("expose_timing", |l| l.expose_timing.take(), true);
        let workers = pick.with(
            "workers",
            |l| l.workers.take().map(Some),
            None,
            |workers| workers.map_or_else(|| "(processors)".to_owned(), |n| n.to_string()),
        );
        let log = pick.value("log", |l| l.log.take(), "info".to_owned());
        let mut warnings = ineffective(&pick);
        warnings.extend(shadowed(&pick.file));
        if admin_token.as_ref().is_some_and(|token| token.len() < 16) {
            warnings.push("admin_token: it is short; 16 characters or more are hard to guess".to_owned());
        }
        Ok(Self {
            file: None,
            listen,
            admin_listen,
            data,
            store,
            admin_token: admin_token.map(Secret),
            admin_token_generate,
            mode_override,
            trusted_proxies,
            inherited,
            documents,
            error_documents,
            expose_timing,
            workers,
            log,
            programs: std::mem::take(&mut pick.file.program),
            directories: {
                let mut directories = std::mem::take(&mut pick.flags.directory);
                directories.append(&mut pick.file.directory);
                directories
            },
            shown: pick.shown,
            warnings,
        })
    }
}

fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

fn absolute(key: &str, path: &std::path::Path) -> Result<PathBuf, ConfigError> {
    std::path::absolute(path).map_err(|error| ConfigError::one(format!("{key}: {}: {error}", path.display())))
}

fn documents(pick: &mut Picker) -> Result<Option<PathBuf>, ConfigError> {
    let folder = pick.with(
        "documents",
        |layer| layer.documents.take().map(Some),
        None,
        |folder: &Option<PathBuf>| match folder {
            Some(folder) => folder.display().to_string(),
            None => "(none)".to_owned(),
        },
    );
    folder.map(|folder| absolute("documents", &folder)).transpose()
}

fn sendfile_roots(pick: &mut Picker) -> Result<Arc<[PathBuf]>, ConfigError> {
    let roots = pick.with(
        "sendfile_roots",
        |layer| layer.sendfile_roots.take(),
        Vec::new(),
        |roots| list(&roots.iter().map(|root| root.display()).collect::<Vec<_>>()),
    );
    roots
        .iter()
        .map(|root| absolute("sendfile_roots", root))
        .collect()
}

fn error_documents(pick: &mut Picker) -> Result<ErrorDocuments, ConfigError> {
    for layer in [&mut pick.file, &mut pick.env, &mut pick.flags] {
        if let Some(pairs) = layer.error_documents.clone() {
            ErrorDocuments::new(pairs).map_err(|problems| ConfigError { problems })?;
        }
    }
    Ok(pick.value(
        "error_documents",
        |layer| ErrorDocuments::new(layer.error_documents.take()?).ok(),
        ErrorDocuments::default(),
    ))
}

fn list<T: Display>(items: &[T]) -> String {
    let words: Vec<String> = items.iter().map(ToString::to_string).collect();
    format!("[{}]", words.join(", "))
}

/// A database URL without its password.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    match rest.rsplit_once('@') {
        Some((credentials, place)) => {
            let user = credentials.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}:…@{place}")
        }
        None => url.to_owned(),
    }
}

struct Picker {
    file: Layer,
    env: Layer,
    flags: Layer,
    shown: Vec<Setting>,
}

impl Picker {
    fn value<T: Display>(&mut self, key: &str, take: impl Fn(&mut Layer) -> Option<T>, default: T) -> T {
        self.with(key, take, default, T::to_string)
    }

    fn with<T>(
        &mut self,
        key: &str,
        take: impl Fn(&mut Layer) -> Option<T>,
        default: T,
        show: impl Fn(&T) -> String,
    ) -> T {
        let (value, origin) = if let Some(value) = take(&mut self.flags) {
            (value, Origin::Flag(format!("--{}", key.replace('_', "-"))))
        } else if let Some(value) = take(&mut self.env) {
            let name = key.replace('.', "_").to_uppercase();
            (value, Origin::Environment(format!("WARMBIN_{name}")))
        } else if let Some(value) = take(&mut self.file) {
            (value, Origin::File)
        } else {
            (default, Origin::Default)
        };
        self.shown.push(Setting {
            key: key.to_owned(),
            value: show(&value),
            origin,
        });
        value
    }
}

fn limits(pick: &mut Picker, base: LimitValues) -> Result<LimitValues, ConfigError> {
    let mut problems = Vec::new();
    for layer in [&pick.file, &pick.env, &pick.flags] {
        problems.append(&mut layer.limits.problems());
    }
    if !problems.is_empty() {
        return Err(ConfigError { problems });
    }
    let mut set = LimitSettings::default();
    macro_rules! each {
        ($($key:ident),+) => {$(
            set.$key = Some(pick.value(
                concat!("limits.", stringify!($key)),
                |layer| layer.limits.$key.take(),
                base.$key,
            ));
        )+};
    }
    each!(
        wall,
        idle,
        grace,
        cpu,
        memory,
        request_body,
        response_body,
        header_block,
        concurrency,
        queue,
        processes,
        stderr
    );
    Ok(base.with(&set))
}

/// Keys that are set and do nothing in this version. Saying so is better than silence.
fn ineffective(pick: &Picker) -> Vec<String> {
    let mut keys = Vec::new();
    for layer in [&pick.file, &pick.env, &pick.flags] {
        let set = [
            ("processes", layer.processes.is_some_and(|v| v != 1)),
            ("retention", layer.retention.is_some()),
        ];
        keys.extend(
            set.into_iter()
                .filter(|(_, set)| *set)
                .map(|(key, _)| key.to_owned()),
        );
    }
    if pick
        .shown
        .iter()
        .any(|s| s.key == "limits.processes" && s.origin != Origin::Default)
    {
        keys.push("limits.processes".to_owned());
    }
    for entry in &pick.file.program {
        keys.extend(
            entry
                .settings
                .without_effect()
                .iter()
                .map(|key| format!("{key} of program {}", entry.name)),
        );
    }
    for entry in &pick.file.directory {
        keys.extend(
            entry
                .settings
                .without_effect()
                .iter()
                .map(|key| format!("{key} of directory {}", entry.url)),
        );
        if entry.settings.mode.is_some() {
            keys.push(format!("mode of directory {}", entry.url));
        }
    }
    keys.into_iter()
        .map(|key| format!("{key} has no effect in this version"))
        .collect()
}

/// Variables that a program will not find as they are set.
fn shadowed(file: &Layer) -> Vec<String> {
    let programs = file
        .program
        .iter()
        .map(|entry| (format!("program {}", entry.name), &entry.settings));
    let folders = file
        .directory
        .iter()
        .map(|entry| (format!("directory {}", entry.url), &entry.settings));
    programs
        .chain(folders)
        .flat_map(|(whose, settings)| {
            settings
                .shadowed()
                .map(|name| {
                    format!("env.{name} of {whose} has no effect: the host sets that variable itself")
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Layer, without_password};
    use crate::config::quantity::Span;
    use crate::config::{Config, Origin};

    fn layer(text: &str) -> Layer {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn flags_beat_the_environment_which_beats_the_file_which_beats_defaults() {
        let file = layer(
            "listen = '127.0.0.1:1'\ndata = '/file'\nmode_override = 'never'\nlimits = { wall = '1s' }",
        );
        let env = layer("listen = '127.0.0.1:2'\ndata = '/env'\nlimits = { cpu = '2s' }");
        let flags = layer("listen = '127.0.0.1:3'");
        let config = Config::resolve(file, env, flags).unwrap();
        let origin = |key: &str| {
            config
                .shown
                .iter()
                .find(|setting| setting.key == key)
                .unwrap()
                .origin
                .clone()
        };
        assert_eq!(
            (config.listen.port(), origin("listen")),
            (3, Origin::Flag("--listen".to_owned()))
        );
        assert_eq!(origin("data"), Origin::Environment("WARMBIN_DATA".to_owned()));
        assert_eq!(config.store, "sqlite:/env/warmbin.db");
        assert_eq!(origin("mode_override"), Origin::File);
        assert_eq!(
            (config.admin_listen.port(), origin("admin_listen")),
            (8081, Origin::Default)
        );
        let limits = config.inherited.limits;
        assert_eq!(
            (limits.wall, limits.cpu),
            ("1s".parse::<Span>().unwrap(), "2s".parse::<Span>().unwrap())
        );
        assert_eq!(
            origin("limits.cpu"),
            Origin::Environment("WARMBIN_LIMITS_CPU".to_owned())
        );
    }

    #[test]
    fn a_key_without_effect_is_a_warning() {
        let config = Config::resolve(
            layer("processes = 2\n[[program]]\nname = 'a'\npool = { pick = 'lru' }"),
            Layer::default(),
            Layer::default(),
        )
        .unwrap();
        assert_eq!(config.warnings.len(), 2, "{:?}", config.warnings);
    }

    #[test]
    fn a_password_in_the_store_url_is_not_shown() {
        assert_eq!(
            without_password("postgres://me:secret@db/x"),
            "postgres://me:…@db/x"
        );
        assert_eq!(without_password("sqlite:/a/b@c.db"), "sqlite:/a/b@c.db");
    }
}
