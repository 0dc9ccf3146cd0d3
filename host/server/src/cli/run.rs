//! `warmbin run`: one request through the very path that served ones take, without a listener.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use bytes::Bytes;
use clap::Args;
use http::{HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt, Full};
use serde_json::json;
use warmbin_exec::Mode;
use warmbin_store::Record;

use super::sources::ConfigArgs;
use crate::config::{Config, ProgramEntry};
use crate::host::{Host, compiled_modules};
use crate::run::{self, ClientBody, Connection};

/// Run one request through one program and print the answer.
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    config: ConfigArgs,
    /// A registered program's name, or the file of a program or module.
    program: String,
    /// The mode.
    #[arg(long)]
    mode: Option<Mode>,
    /// The method; POST if there is a body.
    #[arg(long)]
    method: Option<http::Method>,
    /// The extra path.
    #[arg(long, default_value = "", value_name = "PATH")]
    path: String,
    /// The query string.
    #[arg(long)]
    query: Option<String>,
    /// A header, as 'Name: value'.
    #[arg(long = "header", value_name = "K: V")]
    headers: Vec<String>,
    /// The file that is the body.
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// Print the answer and what was measured as JSON.
    #[arg(long)]
    json: bool,
}

/// The name a file is run under.
const FILE_NAME: &str = "file";

impl Run {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut config = self.config.clone().load()?;
        // Whoever can run this command may pick a mode.
        config.mode_override = crate::config::ModeOverride::Loopback;
        super::log_to_stderr("warn")?;
        let file = PathBuf::from(&self.program);
        // A name without a slash is a program's first.
        let as_file = (self.program.contains('/') || !known(&config, &self.program)) && file.is_file();
        // Only compiled modules are shared with the configured host: what else its data folder holds is that host's.
        let shared = config.data.is_dir().then(|| compiled_modules(&config.data));
        let scratch = as_file.then(|| scratch(&mut config, &file)).transpose()?;
        let name = if as_file {
            FILE_NAME.to_owned()
        } else {
            self.program.clone()
        };
        let code = super::runtime(config.workers)?.block_on(async {
            let modules = shared.unwrap_or_else(|| compiled_modules(&config.data));
            let host = Host::open_with(config, modules).await?;
            self.execute(host, &name).await
        })?;
        drop(scratch);
        Ok(code)
    }

    async fn execute(&self, host: Arc<Host>, name: &str) -> anyhow::Result<ExitCode> {
        let Some(entry) = host.catalog.get(name) else {
            match host.catalog.problem(name) {
                Some(problem) => bail!("{}: {problem}", self.program),
                None => bail!("there is no program or file {}", self.program),
            }
        };
        run::mode::choose(&entry, self.mode).map_err(|refusal| anyhow::anyhow!(refusal.detail))?;
        let mut finished = host.recorder.subscribe();
        let here = "127.0.0.1:0".parse()?;
        let request = self.request(&entry.route)?;
        let response = run::answer(
            &host,
            &Connection {
                peer: here,
                local: here,
            },
            request,
        )
        .await;
        let (head, body) = response.into_parts();
        let (body, broken) = match body.collect().await {
            Ok(body) => (body.to_bytes(), None),
            Err(error) => (Bytes::new(), Some(error.to_string())),
        };
        host.runs.close();
        host.runs.wait().await;
        host.executors.idle().await;
        host.recorder.flush().await;
        // A local redirect makes a record for each program; the last one's answer is shown.
        let mut record = None;
        while let Ok(event) = finished.try_recv() {
            record = Some(event.record);
        }
        self.print(&head, &body, broken.as_deref(), &host, record).await?;
        let well = broken.is_none() && !head.status.is_server_error();
        Ok(if well {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn request(&self, route: &str) -> anyhow::Result<Request<Option<ClientBody>>> {
        let body = match &self.body {
            Some(path) => {
                Bytes::from(std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?)
            }
            None => Bytes::new(),
        };
        let default = if self.body.is_some() {
            http::Method::POST
        } else {
            http::Method::GET
        };
        let mut target = format!("{}{}", route.trim_end_matches('/'), self.path);
        if target.is_empty() {
            target.push('/');
        }
        if let Some(query) = &self.query {
            target = format!("{target}?{query}");
        }
        let mut request = Request::builder()
            .method(self.method.clone().unwrap_or(default))
            .uri(target)
            .body(ClientBody::new(Full::new(body), false))
            .context("the path or the query is malformed")?;
        let headers = request.headers_mut();
        headers.insert(http::header::HOST, HeaderValue::from_static("localhost"));
        for header in &self.headers {
            let (name, value) = header
                .split_once(':')
                .with_context(|| format!("{header:?} has no colon"))?;
            let name: HeaderName = name.trim().parse().with_context(|| format!("{header:?}"))?;
            headers.append(
                name,
                HeaderValue::from_str(value.trim()).with_context(|| format!("{header:?}"))?,
            );
        }
        if let Some(mode) = self.mode {
            headers.insert(run::mode::HEADER, HeaderValue::from_static(mode.as_str()));
        }
        Ok(request)
    }

    async fn print(
        &self,
        head: &http::response::Parts,
        body: &Bytes,
        broken: Option<&str>,
        host: &Arc<Host>,
        record: Option<Arc<Record>>,
    ) -> anyhow::Result<()> {
        let detail = match &record {
            Some(record) => host.store.request(&record.id).await?.map(|(_, detail)| detail),
            None => None,
        };
        let mut out = std::io::stdout().lock();
        if self.json {
            let headers: Vec<_> = head
                .headers
                .iter()
                .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
                .map(|(name, value)| json!({"name": name, "value": value}))
                .collect();
            let answer = json!({
                "status": head.status.as_u16(),
                "headers": headers,
                "body": String::from_utf8_lossy(body),
                "broken": broken,
                "stderr": detail.map(|detail| detail.stderr),
                "record": record,
            });
            writeln!(out, "{answer:#}")?;
            return Ok(());
        }
        writeln!(out, "{:?} {}", head.version, head.status)?;
        for (name, value) in &head.headers {
            writeln!(out, "{name}: {}", String::from_utf8_lossy(value.as_bytes()))?;
        }
        writeln!(out)?;
        out.write_all(body)?;
        out.flush()?;
        if let Some(detail) = detail {
            std::io::stderr().write_all(detail.stderr.as_bytes())?;
        }
        if let Some(why) = broken {
            eprintln!("warmbin: {why}");
        }
        Ok(())
    }
}

/// Whether the configuration declares `name`.
fn known(config: &Config, name: &str) -> bool {
    config.programs.iter().any(|entry| entry.name == name)
}

/// Makes `config` that of a host which has only `file` and a data folder of its own, which is gone when the returned
/// folder is dropped.
fn scratch(config: &mut Config, file: &std::path::Path) -> anyhow::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let path = std::path::absolute(file)?;
    let is_module = path.extension().is_some_and(|extension| extension == "wasm");
    let (native, wasm) = if is_module {
        (None, Some(path))
    } else {
        (Some(path), None)
    };
    config.programs = vec![ProgramEntry {
        name: FILE_NAME.to_owned(),
        native,
        wasm,
        ..ProgramEntry::default()
    }];
    config.directories = Vec::new();
    config.store = format!("sqlite:{}", folder.path().join("warmbin.db").display());
    folder.path().clone_into(&mut config.data);
    Ok(folder)
}
