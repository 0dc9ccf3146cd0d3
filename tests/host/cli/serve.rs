//! Starting, ending, and starting again.

use std::process::Command;

use anyhow::{Context, Result};
use warmbin_tests::{Connection, TestHost, binary};

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_runs_is_finished_before_the_host_leaves() -> Result<()> {
    let mut host = TestHost::builder()?.guest("stream", "").start().await?;
    let mut connection = Connection::open(host.programs()).await?;
    connection
        .send(b"GET /cgi-bin/stream?n=3&ms=300 HTTP/1.1\r\nHost: h\r\n\r\n")
        .await?;
    let reader = tokio::spawn(async move { connection.answer(false).await });
    let answer = async {
        // The request is known to run once the host counts it.
        warmbin_tests::wait_until(
            "the program runs",
            std::time::Duration::from_secs(10),
            async || {
                let metrics = host
                    .api(reqwest::Method::GET, "/metrics")
                    .send()
                    .await?
                    .text()
                    .await?;
                Ok(metrics
                    .lines()
                    .any(|line| line.starts_with("warmbin_in_flight") && line.ends_with(" 1"))
                    .then_some(()))
            },
        )
        .await
    };
    answer.await?;
    let status = tokio::task::block_in_place(|| host.terminate())?;
    assert_eq!(status.code(), Some(0), "{}", host.log());
    let answer = reader.await??;
    assert_eq!((answer.status, answer.complete), (200, true));
    assert!(answer.text().ends_with("line 3 of 3\n"), "{}", answer.text());
    Ok(())
}

#[tokio::test]
async fn the_health_check_finds_the_host_and_misses_it_when_it_is_gone() -> Result<()> {
    let mut host = TestHost::builder()?.guest("hello", "").start().await?;
    let config = host.folder().join("warmbin.toml");
    let admin = host
        .admin()
        .strip_prefix("http://")
        .context("an http URL")?
        .to_owned();
    let check = || -> Result<_> {
        Ok(Command::new(binary()?)
            .args(["healthcheck", "--config"])
            .arg(&config)
            .env("WARMBIN_ADMIN_LISTEN", &admin)
            .status()?
            .code())
    };
    assert_eq!(check()?, Some(0));
    host.terminate()?;
    assert_eq!(check()?, Some(1));
    Ok(())
}
