//! What programs start and leave behind, and what becomes of a program that nobody listens to any more.

use anyhow::{Result, ensure};
use rustix::process::Signal;
use warmbin_tests::{Answer, HostBuilder};

use super::Where::{Everywhere, Native};
use super::flow::{Flow, Version, client};
use super::processes::{childless, gone, lives, signal};
use super::scene::{PLAIN, Scene, pull};
use super::section;

section! {
    "Children, and clients that leave";
    l13 Native(NO_PROCESS), on holds_output, "a child that holds the output open when the program leaves" =>
        "the answer is complete `grace` later, and the child is ended": held_output;
    l14 Native(NO_PROCESS), on in_background, "a child in the background, with no hold on the output" =>
        "the answer is complete at once; the child ends with its request": background;
    l15 Native(NO_PROCESS), on daemon, "a child in a session of its own" =>
        "the answer is complete at once; it lives on, nobody's zombie": of_its_own;
    l16 Everywhere, "output without end; the client leaves after 1 KiB" => "the program is ended": endless;
    l18 Everywhere, "the same on HTTP/2, one stream of two" => "the other stream goes on": one_stream_of_two;
}

const NO_PROCESS: &str = "A module cannot start other programs.";

const SHORT: &str = "limits = { grace = \"1s\" }";

fn holds_output(builder: HostBuilder) -> Result<HostBuilder> {
    let text = "#!/bin/sh\nsleep 600 &\nprintf 'Content-Type: text/plain\\n\\n%s' $!\n";
    builder.script("puppet", text, SHORT)
}

fn in_background(builder: HostBuilder) -> Result<HostBuilder> {
    let text =
        "#!/bin/sh\nsleep 600 </dev/null >/dev/null 2>&1 &\nprintf 'Content-Type: text/plain\\n\\n%s' $!\n";
    builder.script("puppet", text, SHORT)
}

fn daemon(builder: HostBuilder) -> Result<HostBuilder> {
    // The shell in the middle leaves, so that the last one is nobody's child.
    let text = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\n\
                setsid sh -c 'sleep 600 </dev/null >/dev/null 2>&1 & printf %s $!'\n";
    builder.script("puppet", text, SHORT)
}

/// The process that a page is the number of.
fn named(answer: &Answer) -> Result<u32> {
    ensure!(answer.status == 200 && answer.complete, "{answer:?}");
    Ok(answer.text().parse()?)
}

async fn held_output(scene: &Scene<'_>) -> Result<()> {
    let child = named(&scene.puppet("").await?)?;
    gone(&[child]).await?;
    let record = scene.record(1).await?;
    ensure!(record["outcome"] == "ok", "{record}");
    childless(scene.host).await
}

async fn background(scene: &Scene<'_>) -> Result<()> {
    let child = named(&scene.puppet("").await?)?;
    gone(&[child]).await?;
    childless(scene.host).await
}

async fn of_its_own(scene: &Scene<'_>) -> Result<()> {
    let child = named(&scene.puppet("").await?)?;
    scene.record(1).await?;
    childless(scene.host).await?;
    let lived = lives(child);
    // Nobody else will.
    let _ = signal(child, Signal::KILL);
    ensure!(lived, "it was ended");
    Ok(())
}

/// More than anybody reads.
const ENDLESS: &str = "repeat 100000000000 y%0A";

async fn endless(scene: &Scene<'_>) -> Result<()> {
    let mut connection = scene.connect().await?;
    let request = scene.request(
        "GET /cgi-bin/puppet HTTP/1.0",
        &pull(&format!("{PLAIN}; {ENDLESS}")),
    );
    connection.send(request.as_bytes()).await?;
    connection.until("y\n".repeat(512).as_bytes()).await?;
    drop(connection);
    let record = scene.record(1).await?;
    ensure!(record["outcome"] == "client_gone", "{record}");
    childless(scene.host).await
}

async fn one_stream_of_two(scene: &Scene<'_>) -> Result<()> {
    let client = client(Version::Two)?;
    let script = format!("{PLAIN}; read 1; out one; read 1; out two");
    let mut stays = Flow::begin(scene, &client, &script, 2).await?;
    let mut leaves = Flow::begin(scene, &client, &format!("{PLAIN}; {ENDLESS}"), 0).await?;
    leaves.expect("y\n".repeat(512).as_bytes()).await?;
    stays.send(b"x")?;
    stays.expect(b"one").await?;
    drop(leaves);
    let record = scene.record(1).await?;
    ensure!(record["outcome"] == "client_gone", "{record}");
    stays.send(b"x")?;
    stays.expect(b"two").await?;
    stays.end().await?;
    scene.record(2).await?;
    childless(scene.host).await
}
