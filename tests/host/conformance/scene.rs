//! What a case works with: a host, the mode that is played in, and shorthands for requests.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use warmbin_tests::{Answer, Connection, HostBuilder, TestHost};

/// A host and a mode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scene<'h> {
    pub(super) host: &'h TestHost,
    pub(super) mode: &'h str,
}

/// The usual host: one program that does what the request says.
#[expect(clippy::unnecessary_wraps, reason = "the shape all set-ups share")]
pub(super) fn puppet(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(builder.guest("puppet", ""))
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

    /// The answer of the puppet that does `script`.
    pub(super) async fn puppet(&self, script: &str) -> Result<Answer> {
        self.get("/cgi-bin/puppet", &pull(script)).await
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
        Ok(Self(
            answer
                .body
                .split(|byte| *byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect(),
        ))
    }

    /// The value of `name`, if it is set.
    pub(super) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0
            .iter()
            .find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    }

    /// The value of `name` as text, if it is set.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.bytes(name).and_then(|value| std::str::from_utf8(value).ok())
    }
}
