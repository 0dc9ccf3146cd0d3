//! Starting, ending, and starting again.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use warmbin_tests::{Connection, TestHost, guest, wait_until, warmbin};

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
        Ok(warmbin()?
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

/// Prints its page and leaves a child in its group that will not hear of TERM.
const STUBBORN: &str = "#!/bin/sh
(trap '' TERM; exec sleep 600 </dev/null >/dev/null 2>&1) &
printf 'Content-Type: text/plain\\n\\n%s' $!
";

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_has_left_leaves_no_process_behind() -> Result<()> {
    let mut host = TestHost::builder()?
        .script("stubborn", STUBBORN, "limits = { grace = \"2s\" }")?
        .start()
        .await?;
    let child: u32 = host
        .get("/cgi-bin/stubborn")
        .send()
        .await?
        .text()
        .await?
        .parse()?;
    let running = Path::new("/proc").join(child.to_string());
    assert!(running.exists(), "the grace has only begun");
    tokio::task::block_in_place(|| host.terminate())?;
    // Whoever takes over an orphan has yet to reap it.
    let stat = std::fs::read_to_string(running.join("stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_record_of_a_request_that_outlasts_the_host_says_so() -> Result<()> {
    let mut host = TestHost::builder()?
        .guest("sleep", "limits = { grace = \"100ms\" }")
        .start()
        .await?;
    let mut connection = Connection::open(host.programs()).await?;
    connection
        .send(b"GET /cgi-bin/sleep?s=600 HTTP/1.1\r\nHost: h\r\nWarmbin-Mode: fork\r\n\r\n")
        .await?;
    wait_until("the program runs", Duration::from_secs(10), async || {
        let metrics = host.api(reqwest::Method::GET, "/metrics").send().await?;
        Ok(metrics
            .text()
            .await?
            .contains("warmbin_in_flight 1\n")
            .then_some(()))
    })
    .await?;
    tokio::task::block_in_place(|| host.terminate())?;
    let database = host.folder().join("data/warmbin.db");
    let query = "select outcome || ': ' || error from requests";
    let output = Command::new("python3")
        .args([
            "-c",
            "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])",
        ])
        .arg(database)
        .arg(query)
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said, "client_gone: the host was stopped\n", "{output:?}");
    Ok(())
}

#[test]
fn trying_a_file_leaves_the_data_folder_of_the_host_alone() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let spill = folder.path().join("spill/spill-0.jsonl");
    std::fs::create_dir_all(folder.path().join("spill"))?;
    std::fs::write(&spill, "records that wait for their store\n")?;
    let output = warmbin()?
        .arg("run")
        .arg(guest("hello", "native"))
        .env("WARMBIN_DATA", folder.path())
        .output()?;
    assert!(output.status.success(), "{output:?}");
    assert!(spill.is_file());
    Ok(())
}

#[tokio::test]
async fn a_data_folder_has_one_serving_host_and_is_left_in_order() -> Result<()> {
    let mut host = TestHost::builder()?.guest("hello", "").start().await?;
    let data = host.folder().join("data");
    let second = warmbin()?
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--admin-listen",
            "127.0.0.1:0",
            "--data",
        ])
        .arg(&data)
        .output()?;
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(
        !second.status.success() && said.contains("another host"),
        "{said}"
    );
    assert_eq!(host.get("/cgi-bin/hello").send().await?.status(), 200);

    host.terminate()?;
    for gone in ["listeners.json", "warmbin.db-wal"] {
        assert!(!data.join(gone).exists(), "{gone}");
    }
    Ok(())
}
