//! Requests whose body is sent bit by bit, so that a test sees what comes before the next bit is there.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::stream;
use reqwest::{Client, Response};
use tokio::sync::mpsc;

use super::scene::Scene;

/// How long a piece may take to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// A version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

/// The versions that have streams of any length.
pub(super) const VERSIONS: [Version; 2] = [Version::One, Version::Two];

/// A client that speaks one version alone.
pub(super) fn client(version: Version) -> Result<Client> {
    let builder = Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none());
    let builder = match version {
        Version::One => builder.http1_only(),
        Version::Two => builder.http2_prior_knowledge(),
    };
    Ok(builder.build()?)
}

/// A request that runs, and its answer.
#[derive(Debug)]
pub(super) struct Flow {
    body: mpsc::UnboundedSender<Vec<u8>>,
    answer: Response,
    seen: Vec<u8>,
}

impl Flow {
    /// Has the puppet do `script`, with a request body of `length` bytes yet to be sent; returns with the head of its
    /// answer.
    pub(super) async fn begin(
        scene: &Scene<'_>,
        client: &Client,
        script: &str,
        length: usize,
    ) -> Result<Self> {
        let (body, pieces) = mpsc::unbounded_channel::<Vec<u8>>();
        let pieces = stream::unfold(pieces, async |mut pieces| {
            let piece = pieces.recv().await?;
            Some((Ok::<_, std::io::Error>(piece), pieces))
        });
        let sent = client
            .post(format!("{}/cgi-bin/puppet", scene.host.programs()))
            .header("Warmbin-Mode", scene.mode)
            .header("Puppet", script)
            .header("Content-Length", length)
            .body(reqwest::Body::wrap_stream(pieces))
            .send();
        let answer = tokio::time::timeout(PATIENCE, sent)
            .await
            .context("no head came")??;
        Ok(Self {
            body,
            answer,
            seen: Vec::new(),
        })
    }

    /// The answer's head.
    pub(super) fn head(&self) -> &Response {
        &self.answer
    }

    /// Sends more of the body.
    pub(super) fn send(&self, piece: &[u8]) -> Result<()> {
        self.body.send(piece.to_vec()).context("the request has ended")
    }

    /// Waits for `text` as the next of the answer.
    pub(super) async fn expect(&mut self, text: &[u8]) -> Result<()> {
        while self.seen.len() < text.len() {
            let piece = tokio::time::timeout(PATIENCE, self.answer.chunk())
                .await
                .with_context(|| format!("{:?} did not come", String::from_utf8_lossy(text)))??
                .context("the answer ended")?;
            self.seen.extend_from_slice(&piece);
        }
        ensure!(
            self.seen.starts_with(text),
            "{:?} came, not {:?}",
            String::from_utf8_lossy(&self.seen),
            String::from_utf8_lossy(text)
        );
        self.seen.drain(..text.len());
        Ok(())
    }

    /// Ends the request, and waits for the end of the answer.
    pub(super) async fn end(self) -> Result<()> {
        let Self { body, answer, seen } = self;
        drop(body);
        let more = tokio::time::timeout(PATIENCE, answer.bytes())
            .await
            .context("the answer does not end")??;
        ensure!(more.is_empty() && seen.is_empty(), "more came: {more:?}");
        Ok(())
    }
}

/// Every line of the answer to a program that prints `head`, then a line for each byte it reads, arrives before the next
/// byte is sent: whoever held a line back would wait for ever.
pub(super) async fn line_by_line(scene: &Scene<'_>, version: Version, head: &str, status: u16) -> Result<()> {
    let script = format!("out {head}%0A%0A; read 1; out one%0A; read 1; out two%0A; read 1; out three%0A");
    let mut flow = Flow::begin(scene, &client(version)?, &script, 3).await?;
    ensure!(flow.head().status() == status, "{version:?}: {:?}", flow.head());
    for line in [&b"one\n"[..], b"two\n", b"three\n"] {
        flow.send(b"x")?;
        flow.expect(line).await?;
    }
    flow.end().await
}
