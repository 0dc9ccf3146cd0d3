//! What a case works with: a host, the mode that is played in, and shorthands for requests.

use anyhow::{Context, Result, bail, ensure};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use warmbin_tests::{Answer, Connection, HostBuilder, TestHost, guest};

use super::flow::{Version, client};

/// A host and a mode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scene<'h> {
    pub(super) host: &'h TestHost,
    pub(super) mode: &'h str,
}

/// Variables and the values they must have; `None` for one that must not be set.
pub(super) type Expected<'e> = [(&'e str, Option<&'e str>)];

/// The usual host: one program that does what the request says.
pub(super) fn puppet(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(builder.guest("puppet", ""))
}

/// Adds the puppet once more, as `name` and with more lines for its table.
pub(super) fn puppet_as(builder: HostBuilder, name: &str, lines: &str) -> HostBuilder {
    let (native, wasm) = (guest("puppet", "native"), guest("puppet", "wasm"));
    builder.table(&format!(
        "[[program]]\nname = {name:?}\nnative = '{}'\nwasm = '{}'\n{lines}",
        native.display(),
        wasm.display()
    ))
}

impl<'h> Scene<'h> {
    pub(super) fn new(host: &'h TestHost, mode: &'h str) -> Self {
        Self { host, mode }
    }

    /// A connection for programs.
    pub(super) async fn connect(&self) -> Result<Connection> {
        Connection::open(self.host.programs()).await
    }

    /// The request `METHOD TARGET VERSION` with a Host, this mode, and `fields` (each with its line end).
    pub(super) fn request(&self, line: &str, fields: &str) -> String {
        format!(
            "{line}\r\nHost: example.com\r\nWarmbin-Mode: {}\r\n{fields}\r\n",
            self.mode
        )
    }

    /// Sends bytes as they are on a connection of their own, and reads one answer.
    pub(super) async fn raw(&self, request: &[u8]) -> Result<Answer> {
        let mut connection = self.connect().await?;
        connection.send(request).await?;
        connection.answer(request.starts_with(b"HEAD ")).await
    }

    /// The answer to a GET of `target` with `fields`.
    pub(super) async fn get(&self, target: &str, fields: &str) -> Result<Answer> {
        let line = format!("GET {target} HTTP/1.1");
        self.raw(self.request(&line, fields).as_bytes()).await
    }

    /// As [`Self::request`], for a Host of the caller's.
    pub(super) fn request_to(&self, host: &str, line: &str, fields: &str) -> String {
        format!(
            "{line}\r\nHost: {host}\r\nWarmbin-Mode: {}\r\n{fields}\r\n",
            self.mode
        )
    }

    /// Whether a module is run.
    pub(super) fn is_wasm(&self) -> bool {
        self.mode.starts_with("wasm")
    }

    /// The answer of the puppet that does `script`.
    pub(super) async fn puppet(&self, script: &str) -> Result<Answer> {
        self.get("/cgi-bin/puppet", &pull(script)).await
    }

    /// As [`Self::puppet`], whose answer has to be whole, with this status and body.
    pub(super) async fn whole(&self, script: &str, status: u16, body: &str) -> Result<Answer> {
        let answer = self.puppet(script).await?;
        ensure!(
            answer.status == status && answer.text() == body && answer.complete,
            "{script}: {answer:?}"
        );
        Ok(answer)
    }

    /// The puppet that does `script` gives no usable answer.
    pub(super) async fn unusable(&self, script: &str) -> Result<()> {
        let answer = self.puppet(script).await?;
        ensure!(answer.status == 502, "{script}: {answer:?}");
        Ok(())
    }

    /// The puppet's environment for a GET of `target` (below `/cgi-bin/puppet`) with `fields`.
    pub(super) async fn environment(&self, below: &str, fields: &str) -> Result<Variables> {
        let answer = self
            .get(
                &format!("/cgi-bin/puppet{below}"),
                &format!("{}{fields}", pull(ENV)),
            )
            .await?;
        Variables::of(&answer)
    }

    /// A request over HTTP/2 with prior knowledge, on a connection of its own, that has a puppet at `target` do `script`.
    pub(super) fn over_http2(&self, method: Method, target: &str, script: &str) -> Result<RequestBuilder> {
        let url = format!("{}{target}", self.host.programs());
        let request = client(Version::Two)?.request(method, url);
        Ok(request.header("Warmbin-Mode", self.mode).header("Puppet", script))
    }

    /// [`Self::environment`] over HTTP/2.
    pub(super) async fn environment_over_http2(
        &self,
        below: &str,
        fields: &[(&str, &str)],
    ) -> Result<Variables> {
        let mut request = self.over_http2(Method::GET, &format!("/cgi-bin/puppet{below}"), ENV)?;
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let answer = request.send().await?;
        if answer.status() != 200 || answer.version() != reqwest::Version::HTTP_2 {
            bail!("{:?} {}", answer.version(), answer.status());
        }
        Ok(Variables::lines(&answer.bytes().await?))
    }

    /// The newest record of this mode, once there are `count` of them.
    pub(super) async fn record(&self, count: usize) -> Result<Value> {
        let records = self
            .host
            .records_when(&format!("mode={}", self.mode), count)
            .await?;
        records.into_iter().next().context("there is a record")
    }
}

/// A plain text document that is the environment.
pub(super) const ENV: &str = "out Content-Type: text/plain%0A%0A; env";

/// A plain text document, up to its body.
pub(super) const PLAIN: &str = "out Content-Type: text/plain%0A%0A";

/// The header line that makes the puppet do `script`.
pub(super) fn pull(script: &str) -> String {
    format!("Puppet: {script}\r\n")
}

/// An environment that a program printed.
#[derive(Debug)]
pub(super) struct Variables(Vec<Vec<u8>>);

impl Variables {
    /// The lines of a good answer.
    pub(super) fn of(answer: &Answer) -> Result<Self> {
        if answer.status != 200 {
            bail!("{}: {}", answer.status, answer.text());
        }
        Ok(Self::lines(&answer.body))
    }

    fn lines(text: &[u8]) -> Self {
        Self(text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
    }

    /// The value of `name`, if it is set.
    pub(super) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0
            .iter()
            .find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    }

    /// Holds variables against what they must be.
    pub(super) fn hold(&self, expected: &Expected<'_>) -> Result<()> {
        for (name, value) in expected {
            if self.bytes(name) != value.map(str::as_bytes) {
                bail!(
                    "{name} is {:?}, not {value:?}",
                    self.bytes(name).map(String::from_utf8_lossy)
                );
            }
        }
        Ok(())
    }

    /// The names that begin with `prefix`.
    pub(super) fn names(&self, prefix: &str) -> Vec<String> {
        let name = |line: &Vec<u8>| {
            let text = String::from_utf8_lossy(line).into_owned();
            text.split_once('=').map(|(name, _)| name.to_owned())
        };
        self.0
            .iter()
            .filter_map(name)
            .filter(|name| name.starts_with(prefix))
            .collect()
    }

    /// The value of `name` as text, if it is set.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.bytes(name).and_then(|value| std::str::from_utf8(value).ok())
    }
}
