//! A running host: the real binary as a child process, and a client for both of its listeners.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures_util::stream;
use reqwest::{Client, Method, RequestBuilder};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::config::HostBuilder;
use crate::wait::wait_until;

/// The admin token every test host is given.
pub const TOKEN: &str = "a-token-for-tests-0123456789abcdef";

/// The modes that every sample program is run in.
pub const MODES: [&str; 3] = ["fork", "wasm-cold", "wasm-warm"];

/// How long a host may take to begin and to end. Generous: it compiles modules, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A request body that is sent in chunks of `size` bytes, without a Content-Length.
pub fn chunked(body: &[u8], size: usize) -> reqwest::Body {
    let pieces: Vec<std::io::Result<Vec<u8>>> = body.chunks(size).map(|piece| Ok(piece.to_vec())).collect();
    reqwest::Body::wrap_stream(stream::iter(pieces))
}

/// A host of one test. Dropping it ends the process and removes its folder.
#[derive(Debug)]
pub struct TestHost {
    child: Child,
    programs: String,
    admin: String,
    client: Client,
    folder: TempDir,
}

impl TestHost {
    /// A host to be described and started.
    pub fn builder() -> Result<HostBuilder> {
        HostBuilder::new()
    }

    pub(crate) async fn launch(mut command: Command, folder: TempDir) -> Result<Self> {
        let log = std::fs::File::create(folder.path().join("stderr.log"))?;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let stdout = child.stdout.take().context("standard output is piped")?;
        let (sender, mut lines) = mpsc::unbounded_channel();
        // Reads on until the host leaves, so that it can always print.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()?;
        let mut host = Self {
            child,
            programs: String::new(),
            admin: String::new(),
            client,
            folder,
        };
        let listening = async {
            while host.programs.is_empty() || host.admin.is_empty() {
                let Some(line) = lines.recv().await else {
                    bail!("the host left:\n{}", host.log())
                };
                let Some((url, what)) = line
                    .strip_prefix("listening on ")
                    .and_then(|rest| rest.split_once(' '))
                else {
                    continue;
                };
                match what {
                    "(programs)" => url.clone_into(&mut host.programs),
                    "(dashboard and API)" => url.clone_into(&mut host.admin),
                    other => bail!("a listener that nobody asked for: {other}"),
                }
            }
            Ok(())
        };
        match tokio::time::timeout(PATIENCE, listening).await {
            Ok(listening) => listening?,
            Err(_) => bail!("the host does not listen:\n{}", host.log()),
        }
        Ok(host)
    }

    /// Where programs are served, without a trailing slash.
    pub fn programs(&self) -> &str {
        &self.programs
    }

    /// Where dashboard and API are served, without a trailing slash.
    pub fn admin(&self) -> &str {
        &self.admin
    }

    /// The host's folder; its data is in `data` below.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What the host wrote to standard error.
    pub fn log(&self) -> String {
        let bytes = std::fs::read(self.folder.path().join("stderr.log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// A client that keeps its connections.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// A request for a program.
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.programs))
    }

    /// A request with a body for a program.
    pub fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(format!("{}{path}", self.programs))
    }

    /// A GET that picks a mode.
    pub fn get_in(&self, mode: &str, path: &str) -> RequestBuilder {
        self.get(path).header("Warmbin-Mode", mode)
    }

    /// A POST that picks a mode.
    pub fn post_in(&self, mode: &str, path: &str) -> RequestBuilder {
        self.post(path).header("Warmbin-Mode", mode)
    }

    /// A request to the API, with the token.
    pub fn api(&self, method: Method, path: &str) -> RequestBuilder {
        let url = if path.starts_with("http") {
            path.to_owned()
        } else {
            format!("{}{path}", self.admin)
        };
        self.client.request(method, url).bearer_auth(TOKEN)
    }

    /// A document of the API; any status but 200 is an error.
    pub async fn document(&self, path: &str) -> Result<Value> {
        let answer = self.api(Method::GET, path).send().await?;
        let status = answer.status();
        let text = answer.text().await?;
        ensure!(status == 200, "GET {path}: {status}: {text}");
        serde_json::from_str(&text).with_context(|| format!("GET {path}: {text}"))
    }

    /// Every record that `filter` (a query string) selects, page by page.
    pub async fn records(&self, filter: &str) -> Result<Vec<Value>> {
        let mut records = Vec::new();
        let mut page = format!("/api/v1/requests?limit=500&{filter}");
        loop {
            let document = self.document(&page).await?;
            records.extend(
                document
                    .get("items")
                    .and_then(Value::as_array)
                    .context("items is a list")?
                    .iter()
                    .cloned(),
            );
            match document.get("next").and_then(Value::as_str) {
                Some(next) => next.clone_into(&mut page),
                None => return Ok(records),
            }
        }
    }

    /// The records that `filter` selects, once there are as many as `count`.
    pub async fn records_when(&self, filter: &str, count: usize) -> Result<Vec<Value>> {
        let what = format!("{count} records of {filter}");
        wait_until(&what, Duration::from_secs(20), async || {
            let records = self.records(filter).await?;
            Ok((records.len() >= count).then_some(records))
        })
        .await
    }

    /// Asks the host to end and waits for it.
    pub fn terminate(&mut self) -> Result<ExitStatus> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        bail!("the host ignores SIGTERM:\n{}", self.log())
    }
}

impl Drop for TestHost {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log();
            let tail: Vec<&str> = log.lines().rev().take(40).collect();
            eprintln!("the host's last words:");
            tail.iter().rev().for_each(|line| eprintln!("  {line}"));
        }
        if !matches!(self.child.try_wait(), Ok(Some(_))) && self.terminate().is_err() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
