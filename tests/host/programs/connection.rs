//! Connections: reuse, HEAD, limits of the body, a client that leaves.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use warmbin_tests::{Connection, MODES, TestHost, chunked, wait_until};

#[tokio::test]
async fn a_connection_serves_one_request_after_another() -> Result<()> {
    let host = TestHost::builder()?
        .guest("hello", "")
        .guest("echo", "")
        .start()
        .await?;
    for mode in MODES {
        let mut connection = Connection::open(host.programs()).await?;
        let fields = format!("Host: h\r\nWarmbin-Mode: {mode}\r\n");

        connection
            .send(format!("HEAD /cgi-bin/hello HTTP/1.1\r\n{fields}\r\n").as_bytes())
            .await?;
        let head = connection.answer(true).await?;
        assert_eq!(
            (head.status, head.header("content-type")),
            (200, Some("text/plain")),
            "{mode}"
        );

        connection
            .send(format!("GET /cgi-bin/hello HTTP/1.1\r\n{fields}\r\n").as_bytes())
            .await?;
        let hello = connection.answer(false).await?;
        assert_eq!(
            (hello.status, hello.text().as_str()),
            (200, "Hello from a CGI program.\n"),
            "{mode}"
        );

        connection
            .send(format!("POST /cgi-bin/echo HTTP/1.1\r\n{fields}Content-Length: 4\r\n\r\nback").as_bytes())
            .await?;
        let echo = connection.answer(false).await?;
        assert_eq!(
            (echo.status, echo.text().as_str(), echo.complete),
            (200, "back", true),
            "{mode}"
        );

        connection
            .send(format!("GET /cgi-bin/hello HTTP/1.1\r\n{fields}\r\n").as_bytes())
            .await?;
        assert_eq!(connection.answer(false).await?.status, 200, "{mode}");
    }
    Ok(())
}

#[tokio::test]
async fn a_program_that_streams_on_after_a_head_request_is_ended() -> Result<()> {
    let host = TestHost::builder()?
        .guest("stream", "limits = { grace = \"300ms\" }")
        .start()
        .await?;
    for mode in MODES {
        let mut connection = Connection::open(host.programs()).await?;
        connection
            .send(
                format!("HEAD /cgi-bin/stream?n=1000 HTTP/1.1\r\nHost: h\r\nWarmbin-Mode: {mode}\r\n\r\n")
                    .as_bytes(),
            )
            .await?;
        assert_eq!(connection.answer(true).await?.status, 200, "{mode}");
        // A record is written when the program has been reaped.
        let records = host.records_when(&format!("mode={mode}"), 1).await?;
        assert_eq!(records[0]["outcome"], "ok", "{mode}: {}", records[0]);
    }
    Ok(())
}

#[tokio::test]
async fn a_body_above_the_limit_is_refused_however_it_is_framed() -> Result<()> {
    let host = TestHost::builder()?
        .guest("echo", "limits = { request_body = \"1KiB\" }")
        .start()
        .await?;
    let body = vec![b'x'; 2048];
    for mode in MODES {
        let sized = host
            .post_in(mode, "/cgi-bin/echo")
            .body(body.clone())
            .send()
            .await?;
        assert_eq!(sized.status(), 413, "{mode}");
        let chunked = host
            .post_in(mode, "/cgi-bin/echo")
            .body(chunked(&body, 500))
            .send()
            .await?;
        assert_eq!(chunked.status(), 413, "{mode}");
        let small = host.post_in(mode, "/cgi-bin/echo").body("fits").send().await?;
        assert_eq!(small.text().await?, "fits", "{mode}");
    }
    Ok(())
}

#[tokio::test]
async fn a_chunked_body_that_drips_is_given_up_when_the_request_is_due() -> Result<()> {
    let host = TestHost::builder()?
        .guest("echo", "limits = { wall = \"1s\" }")
        .start()
        .await?;
    let mut connection = Connection::open(host.programs()).await?;
    connection
        .send(b"POST /cgi-bin/echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await?;
    let dripping = async {
        // Always something moves, so that only the limit on the whole can end it.
        while connection.send(b"1\r\nx\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let record = async { host.records_when("program=echo", 1).await };
    let records = tokio::select! {
        records = record => records?,
        () = dripping => host.records_when("program=echo", 1).await?,
    };
    assert_eq!(
        (&records[0]["status"], &records[0]["outcome"]),
        (&408.into(), &"timeout".into()),
        "{}",
        records[0]
    );
    Ok(())
}

/// Starts a child that holds none of the pipes, tells both process ids, and stays.
const FAMILY: &str = "#!/bin/sh
sleep 600 </dev/null >/dev/null 2>&1 &
printf 'Content-Type: text/plain\\n\\n%s %s\\n' $$ $!
wait
";

#[tokio::test]
async fn a_client_that_leaves_takes_the_whole_process_group_with_it() -> Result<()> {
    let host = TestHost::builder()?
        .script("family", FAMILY, "limits = { grace = \"500ms\" }")?
        .start()
        .await?;
    let mut connection = Connection::open(host.programs()).await?;
    connection.send(b"GET /cgi-bin/family HTTP/1.0\r\n\r\n").await?;
    connection.until(b"\r\n\r\n").await?;
    let line = String::from_utf8(connection.until(b"\n").await?)?;
    let pids: Vec<u32> = line
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    assert_eq!(pids.len(), 2, "{line}");
    assert!(
        pids.iter().all(|pid| is_running(*pid)),
        "both run while the client listens"
    );

    drop(connection);
    wait_until(
        "program and child are gone",
        Duration::from_secs(10),
        async || Ok(pids.iter().all(|pid| !is_running(*pid)).then_some(())),
    )
    .await?;
    let records = host.records_when("program=family", 1).await?;
    assert_eq!(records[0]["outcome"], "client_gone", "{}", records[0]);
    Ok(())
}

/// Whether a process exists and is more than a zombie that somebody has yet to reap.
fn is_running(pid: u32) -> bool {
    std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"))
        .context("gone")
        .is_ok_and(|stat| {
            stat.rsplit_once(") ")
                .is_some_and(|(_, rest)| !rest.starts_with('Z'))
        })
}

#[tokio::test]
async fn a_module_stops_when_its_client_leaves() -> Result<()> {
    let host = TestHost::builder()?.guest("stream", "").start().await?;
    for mode in ["wasm-cold", "wasm-warm"] {
        let mut connection = Connection::open(host.programs()).await?;
        connection
            .send(format!("GET /cgi-bin/stream?n=1000 HTTP/1.0\r\nWarmbin-Mode: {mode}\r\n\r\n").as_bytes())
            .await?;
        connection.until(b"line 1 of").await?;
        drop(connection);
        let records = host.records_when(&format!("mode={mode}"), 1).await?;
        assert_eq!(records[0]["outcome"], "client_gone", "{mode}: {}", records[0]);
    }
    Ok(())
}
