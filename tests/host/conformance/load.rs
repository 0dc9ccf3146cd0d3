//! Many requests, much output, few descriptors: nothing grows, nobody hangs.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::stream::{self, FuturesUnordered};
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use warmbin_tests::{HostBuilder, wait_until};

use super::Where::Everywhere;
use super::flow::{Flow, VERSIONS, Version, client};
use super::processes::{PATIENCE, childless, descriptors, growth_kib, limit_descriptors, no_more_than};
use super::scene::{PLAIN, Scene};
use super::section;

section! {
    "Load";
    l19 Everywhere, "1000 quick programs" => "1000 answers; no zombie, no descriptor more than before": thousand;
    l26 Everywhere, "20 million lines to a slow reader, over HTTP/1.1 and 2" =>
        "the right bytes; the program waits, the host's memory does not grow": slow_reader;
    l30 Everywhere, on four_at_once, "100 at once for a program of 4 slots and a queue of 16" =>
        "never more than 4 run; 80 are told 503 and Retry-After": four_of_a_hundred;
    l33 Everywhere, "100 clients of a host that may open few files" =>
        "each gets an answer, 200 or 503; afterwards all is well": few_descriptors;
}

/// What the host's memory may grow by while more than that passes through it.
pub(super) const FEW_KIB: u64 = 24 << 10;

fn four_at_once(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(builder
        .guest("puppet", "limits = { concurrency = 4, queue = 16 }")
        .guest("hello", ""))
}

/// `count` requests for `script`, `at_once` at a time; each has to be answered with `text`.
pub(super) async fn many(
    scene: &Scene<'_>,
    count: usize,
    at_once: usize,
    script: &str,
    text: &str,
) -> Result<()> {
    stream::iter(0..count)
        .map(|_| async {
            let answer = scene
                .host
                .get_in(scene.mode, "/cgi-bin/puppet")
                .header("Puppet", script)
                .send()
                .await?;
            let status = answer.status();
            let body = answer.text().await?;
            ensure!(
                status == 200 && body == text,
                "{status}: {} bytes, not {}",
                body.len(),
                text.len()
            );
            Ok(())
        })
        .buffer_unordered(at_once)
        .try_collect()
        .await
}

async fn thousand(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; out quick");
    // Pools and connections are filled first.
    many(scene, 40, 20, &script, "quick").await?;
    childless(scene.host).await?;
    let before = descriptors(scene.host)?;
    many(scene, 1000, 20, &script, "quick").await?;
    childless(scene.host).await?;
    no_more_than(before, scene.host).await
}

async fn slow_reader(scene: &Scene<'_>) -> Result<()> {
    const LINES: usize = 20_000_000;
    let pattern = "y\n".repeat(1 << 20);
    for version in VERSIONS {
        let grown = growth_kib(scene.host, async {
            let mut answer = client(version)?
                .get(format!("{}/cgi-bin/puppet", scene.host.programs()))
                .header("Warmbin-Mode", scene.mode)
                .header("Puppet", format!("{PLAIN}; repeat {LINES} y%0A"))
                .send()
                .await?;
            let (mut bytes, mut rested) = (0, 0);
            while let Some(piece) = answer.chunk().await? {
                let right = pattern.as_bytes().get(bytes % 2..).unwrap_or_default();
                ensure!(right.starts_with(&piece), "not the right bytes behind {bytes}");
                bytes += piece.len();
                // What makes it slow.
                if bytes - rested > 2 << 20 {
                    rested = bytes;
                    tokio::time::sleep(Duration::from_millis(40)).await;
                }
            }
            ensure!(bytes == 2 * LINES, "{bytes} bytes");
            Ok(())
        })
        .await?;
        ensure!(grown < FEW_KIB, "{version:?}: the host grew by {grown} KiB");
    }
    Ok(())
}

async fn four_of_a_hundred(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; out begun; read 1; out done");
    let client = client(Version::One)?;
    let mut heads: FuturesUnordered<_> = (0..100)
        .map(|_| Flow::begin(scene, &client, &script, 1))
        .collect();
    let (mut running, mut turned_away) = (Vec::new(), 0);
    while running.len() < 4 || turned_away < 80 {
        let flow = heads.next().await.context("a hundred were asked for")??;
        if flow.head().status() == 503 {
            ensure!(
                flow.head().headers().contains_key("retry-after"),
                "{:?}",
                flow.head()
            );
            turned_away += 1;
        } else {
            ensure!(flow.head().status() == 200, "{:?}", flow.head());
            running.push(flow);
        }
        ensure!(running.len() <= 4 && turned_away <= 80);
    }
    for _ in 0..20 {
        // Had a fifth been started, its head would be here after that of a later request.
        let other = scene.host.get_in(scene.mode, "/cgi-bin/hello").send().await?;
        ensure!(other.status() == 200, "{other:?}");
        ensure!(
            heads.next().now_or_never().flatten().is_none(),
            "more than four run at once"
        );
        let mut flow = running.remove(0);
        flow.expect(b"begun").await?;
        flow.send(b"x")?;
        flow.expect(b"done").await?;
        flow.end().await?;
        if let Some(next) = heads.next().await {
            running.push(next?);
        }
    }
    ensure!(running.is_empty() && heads.is_empty());
    Ok(())
}

async fn few_descriptors(scene: &Scene<'_>) -> Result<()> {
    let script = format!("sleep 50; {PLAIN}; out page");
    many(scene, 40, 20, &script, "page").await?;
    childless(scene.host).await?;
    let before = descriptors(scene.host)?;
    limit_descriptors(scene.host, before as u64 + 24)?;
    let asked = (0..100).map(|_| async {
        // A connection of its own for each.
        let answer = client(Version::One)?
            .get(format!("{}/cgi-bin/puppet", scene.host.programs()))
            .header("Warmbin-Mode", scene.mode)
            .header("Puppet", &script)
            .header("Connection", "close")
            .send()
            .await?;
        let status = answer.status().as_u16();
        let body = answer.text().await?;
        ensure!(
            status == 503 || status == 200 && body == "page",
            "{status}: {body}"
        );
        Ok(status)
    });
    let statuses = tokio::time::timeout(PATIENCE, futures_util::future::try_join_all(asked))
        .await
        .context("somebody hangs")??;
    ensure!(statuses.contains(&200), "nobody was served: {statuses:?}");
    wait_until("requests are served again", PATIENCE, async || {
        Ok((scene.puppet(&script).await?.status == 200).then_some(()))
    })
    .await?;
    limit_descriptors(scene.host, 1024)?;
    childless(scene.host).await?;
    no_more_than(before, scene.host).await
}
