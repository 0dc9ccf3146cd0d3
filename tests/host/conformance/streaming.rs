//! Output that is passed on as it comes.

use anyhow::{Context, Result, ensure};
use warmbin_tests::HostBuilder;

use super::Where::Everywhere;
use super::flow::{Flow, VERSIONS, client, line_by_line};
use super::scene::{PLAIN, Scene, pull};
use super::section;

section! {
    "Streaming";
    l23 Everywhere, "a line at a time, over HTTP/1.1 and 2" => "each arrives before the next is printed": lines;
    l24 Everywhere, on idle_limit, "text/event-stream: events apart, together longer than `idle`" =>
        "each arrives; each resets the limit": events;
    l25 Everywhere, "the head, a pause, the body" => "the head arrives before there is a body": head_first;
    l28 Everywhere, "100 requests on one connection" => "100 answers, each its own, no byte lost": one_connection;
    l29 Everywhere, on with_documents, "program, document, program, sent in one go" => "answered in that order": pipelined;
}

fn idle_limit(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(builder.guest("puppet", "limits = { idle = \"3s\" }"))
}

fn with_documents(builder: HostBuilder) -> Result<HostBuilder> {
    let site = builder.folder().join("site");
    std::fs::create_dir(&site)?;
    std::fs::write(site.join("page.txt"), "a document")?;
    Ok(builder.setting("documents = \"site\"").guest("puppet", ""))
}

async fn lines(scene: &Scene<'_>) -> Result<()> {
    for version in VERSIONS {
        line_by_line(scene, version, "Content-Type: text/plain", 200).await?;
    }
    Ok(())
}

async fn events(scene: &Scene<'_>) -> Result<()> {
    for version in VERSIONS {
        line_by_line(scene, version, "Content-Type: text/event-stream", 200).await?;
    }
    let script = "out Content-Type: text/event-stream%0A%0A; drip 700 data:1%0A%0A";
    let answer = scene.puppet(script).await?;
    ensure!(
        answer.complete && answer.text() == "data:1\n\n",
        "longer than `idle`, but never idle: {answer:?}"
    );
    Ok(())
}

async fn head_first(scene: &Scene<'_>) -> Result<()> {
    for version in VERSIONS {
        let script = format!("{PLAIN}; read 1; out body");
        let mut flow = Flow::begin(scene, &client(version)?, &script, 1).await?;
        ensure!(flow.head().status() == 200, "{:?}", flow.head());
        flow.send(b"x")?;
        flow.expect(b"body").await?;
        flow.end().await?;
    }
    Ok(())
}

async fn one_connection(scene: &Scene<'_>) -> Result<()> {
    let mut connection = scene.connect().await?;
    for number in 0..100 {
        let kind = match number % 3 {
            0 => format!("{PLAIN}; out {number:05}"),
            1 => format!("out Content-Type: text/plain%0AContent-Length: 5%0A%0A{number:05}; out too much"),
            _ => format!(
                "err noise; {PLAIN}; out {:03}; sleep 1; out {:02}",
                number / 100,
                number % 100
            ),
        };
        let request = scene.request("GET /cgi-bin/puppet HTTP/1.1", &pull(&kind));
        connection.send(request.as_bytes()).await?;
        let answer = connection
            .answer(false)
            .await
            .with_context(|| format!("the {number}th"))?;
        ensure!(
            answer.complete && answer.text() == format!("{number:05}"),
            "{number}: {answer:?}"
        );
    }
    Ok(())
}

async fn pipelined(scene: &Scene<'_>) -> Result<()> {
    let program = |word: &str| {
        scene.request(
            "GET /cgi-bin/puppet HTTP/1.1",
            &pull(&format!("sleep 50; {PLAIN}; out {word}")),
        )
    };
    let document = "GET /page.txt HTTP/1.1\r\nHost: example.com\r\n\r\n";
    let mut connection = scene.connect().await?;
    let together = format!("{}{document}{}", program("first"), program("last"));
    connection.send(together.as_bytes()).await?;
    for expected in ["first", "a document", "last"] {
        let answer = connection.answer(false).await?;
        ensure!(answer.status == 200 && answer.text() == expected, "{answer:?}");
    }
    Ok(())
}
