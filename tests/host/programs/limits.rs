//! Programs that use up what they are given end at their limit, and nobody else notices.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::stream::{self, FuturesUnordered, StreamExt};
use warmbin_tests::{MODES, TestHost, exchange};

/// A program, its query, its limits; then the status and the outcome it ends with.
const HOGS: [(&str, &str, &str, u16, &str); 4] = [
    ("sleep", "", "wall = \"1s\", idle = \"10s\"", 504, "timeout"),
    ("sleep", "", "wall = \"20s\", idle = \"1s\"", 504, "timeout"),
    (
        "spin",
        "",
        "wall = \"20s\", idle = \"20s\", cpu = \"1s\"",
        504,
        "cpu_limit",
    ),
    ("alloc", "", "memory = \"64MiB\"", 502, "memory_limit"),
];

#[tokio::test]
async fn hogs_end_at_their_limits_while_others_are_served() -> Result<()> {
    for (name, query, limits, status, outcome) in HOGS {
        let host = TestHost::builder()?
            .guest(name, &format!("limits = {{ grace = \"200ms\", {limits} }}"))
            .guest("hello", "")
            .start()
            .await?;
        for mode in MODES {
            let begun = Instant::now();
            // More hogs than there are threads to run them.
            let hogs = futures_util::future::try_join_all((0..4).map(|_| async {
                host.get_in(mode, &format!("/cgi-bin/{name}?{query}"))
                    .send()
                    .await
            }));
            let others = async {
                let mut slowest = Duration::ZERO;
                for _ in 0..20 {
                    let asked = Instant::now();
                    let answer = host.get_in(mode, "/cgi-bin/hello").send().await?;
                    assert_eq!(answer.status(), 200);
                    slowest = slowest.max(asked.elapsed());
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Ok(slowest)
            };
            let (hogs, slowest) = futures_util::future::try_join(hogs, others).await?;
            for answer in hogs {
                assert_eq!(answer.status(), status, "{name} {mode}");
            }
            // Far below every limit above but the ones it meets; far above what two loaded cores need.
            assert!(
                begun.elapsed() < Duration::from_secs(15),
                "{name} {mode} took {:?}",
                begun.elapsed()
            );
            assert!(
                slowest < Duration::from_secs(2),
                "{name} {mode} held others up for {slowest:?}"
            );
            let records = host
                .records_when(&format!("program={name}&mode={mode}"), 4)
                .await?;
            for record in records {
                assert_eq!(record["outcome"], outcome, "{name} {mode}: {record}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_limit_met_after_the_head_breaks_the_answer_off() -> Result<()> {
    let host = TestHost::builder()?
        .guest("sleep", "limits = { wall = \"1s\", grace = \"200ms\" }")
        .start()
        .await?;
    for mode in MODES {
        let request =
            format!("GET /cgi-bin/sleep?head=1 HTTP/1.1\r\nHost: h\r\nWarmbin-Mode: {mode}\r\n\r\n");
        let answer = exchange(host.programs(), request.as_bytes()).await?;
        assert_eq!((answer.status, answer.complete), (200, false), "{mode}");
        let records = host.records_when(&format!("mode={mode}"), 1).await?;
        assert_eq!(records[0]["outcome"], "timeout", "{mode}");
    }
    Ok(())
}

#[tokio::test]
async fn what_stays_below_a_limit_is_served() -> Result<()> {
    let host = TestHost::builder()?
        .guest("alloc", "limits = { memory = \"64MiB\" }")
        .guest("spin", "limits = { cpu = \"10s\" }")
        .start()
        .await?;
    for mode in MODES {
        let alloc = host.get_in(mode, "/cgi-bin/alloc?mib=24").send().await?;
        assert_eq!(
            (alloc.status().as_u16(), alloc.text().await?.as_str()),
            (200, "held 24 MiB\n"),
            "{mode}"
        );
        let spin = host.get_in(mode, "/cgi-bin/spin?ms=100").send().await?;
        assert_eq!(spin.status(), 200, "{mode}");
        let records = host.records_when(&format!("mode={mode}"), 2).await?;
        for record in records {
            // Beside busy neighbours a hundred milliseconds hold less processor time than that.
            let (least, figure) = match record["program"].as_str() {
                Some("alloc") => (24 << 20, "peak_memory_bytes"),
                _ => (5_000, "cpu_us"),
            };
            // The peak of a spawned process is known only where it is above the host's own.
            let unknown = mode == "fork" && figure == "peak_memory_bytes" && record[figure].is_null();
            assert!(
                unknown || record[figure].as_u64() >= Some(least),
                "{mode}: {figure} is measured: {record}"
            );
        }
    }
    Ok(())
}

#[tokio::test]
async fn beyond_slots_and_queue_requests_are_turned_away() -> Result<()> {
    let host = TestHost::builder()?
        .guest("puppet", "limits = { concurrency = 1, queue = 1 }")
        .start()
        .await?;
    // Whoever has the slot keeps it until its body comes.
    let (release, released) = tokio::sync::watch::channel(false);
    let mut answers: FuturesUnordered<_> = (0..6)
        .map(|_| {
            let mut released = released.clone();
            let body = stream::once(async move {
                let released = released.wait_for(|released| *released).await;
                released.map(|_| "x").map_err(std::io::Error::other)
            });
            host.post_in("fork", "/cgi-bin/puppet")
                .header("Puppet", "read 1; out Content-Type: text/plain%0A%0A")
                .header("Content-Length", "1")
                .body(reqwest::Body::wrap_stream(body))
                .send()
        })
        .collect();
    for _ in 0..4 {
        let answer = answers.next().await.context("six were asked for")??;
        assert_eq!(answer.status(), 503, "one runs, one waits");
        assert!(answer.headers().contains_key("retry-after"));
    }
    release.send(true)?;
    while let Some(answer) = answers.next().await {
        assert_eq!(answer?.status(), 200);
    }
    host.records_when("outcome=overloaded", 4).await?;
    Ok(())
}
