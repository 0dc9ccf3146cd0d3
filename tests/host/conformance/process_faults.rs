//! Faults that users of other hosts reported, about processes: hangs, zombies, signals to the wrong one, leaks.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use rustix::process::Signal;
use warmbin_tests::{HostBuilder, TestHost, wait_until};

use super::Where::{Everywhere, Native};
use super::flow::{Flow, Version, client};
use super::load::many;
use super::processes::{
    PATIENCE, childless, children, descriptors, gone, idle, limit_descriptors, lives, no_more_than, signal,
    told_to_end,
};
use super::scene::{PLAIN, Scene, pull, puppet};
use super::section;

section! {
    "Faults seen in other hosts: processes";
    x05 Native(NO_PROCESS), on holds_input, "a child that keeps standard input and error open, not the output" =>
        "the answer is complete at once": held_input;
    x09 Native(NO_PROCESS), "a program is killed by somebody else" =>
        "502, the next request is well, and the host does not spin": killed;
    x10 Native(NO_PROCESS), on stubborn_family, "the host is told to end while a family runs that ignores SIGTERM" =>
        "the host leaves, and none of the family is left": family_outlived;
    x15 Native(NO_PROCESS), on ends_either_way, "600 programs whose output ends before they do, with them, or after" =>
        "600 answers, none late": either_order;
    x22 Everywhere, "50 programs that read to the end of their input, at once" =>
        "every one sees the end: no pipe is held by a neighbour": ends_of_input;
    x24 Everywhere, on a_second, "100 programs that are stuck" => "504 each; descriptors and slots are free again": stuck;
    x25 Native(NO_PROCESS), on cannot_start, "programs that cannot be started, and clients that leave, beside one that runs" =>
        "nobody's signal hits the one that runs": wrong_process;
    x26 Native(NO_PROCESS), on cannot_start, "500 programs that cannot be started" =>
        "500 and its page each; no descriptor more than before": failed_starts;
    x27 Native(NO_PROCESS), on lists_files, "a child's child lists its files while others run and upload" =>
        "0, 1, 2, and the list": grandchild;
    x29 Native(NO_PROCESS), "pipes cannot be made" => "503; no descriptor more than before, and then all is well": no_pipes;
    x31 Native(NO_PROCESS), on works_on, "output closed, then a second of work, the client gone" => "the work is done": works_on_after;
    x32 Everywhere, "a client leaves before there is any output" => "the program is ended at once": leaves_early;
    x34 Everywhere, "programs that crash, 20 at once" => "502 each, no zombie, and the next request is well": crashes;
    x36 Everywhere, "200 clients that leave in the middle" => "no zombie, no descriptor more than before": many_leave;
    x37 Native(NO_PROCESS), "the host's parent had SIGCHLD ignored" => "exit codes are known, nothing hangs": ignored_children;
    x39 Native(NO_PROCESS), on stubborn_family, "a client leaves a family that ignores SIGTERM" => "it is killed": family_left;
    x40 Everywhere, "100 clients that leave at about the time the program ends" => "nothing is left, the host is well": leave_at_the_end;
    x41 Native(NO_PROCESS), on minds_the_pipe, "a client leaves a program that has a handler for SIGPIPE" =>
        "its handler runs before anything else ends it": broken_pipe;
    x42 Native(NO_PROCESS), on cannot_start, "a program without an interpreter, asked for again and again" =>
        "500; the host does not spin": does_not_spin;
    x44 Native(NO_PROCESS), on daemon, "a program leaves a daemon; the host is ended" =>
        "its address can be bound again while the daemon lives": address_is_free;
}

const NO_PROCESS: &str =
    "A module is no process: it starts none, gets no signals, and has no descriptors of the system's.";

fn holds_input(builder: HostBuilder) -> Result<HostBuilder> {
    let text =
        "#!/bin/sh\nexec 3<&0\nsleep 600 0<&3 >/dev/null &\nprintf 'Content-Type: text/plain\\n\\n%s' $!\n";
    builder.script("puppet", text, "limits = { grace = \"60s\" }")
}

/// Says who it is, then stays, with a child, whatever it is told.
fn stubborn_family(builder: HostBuilder) -> Result<HostBuilder> {
    let text = "#!/bin/sh\ntrap '' TERM PIPE HUP INT\nsleep 600 &\n\
                printf 'Content-Type: text/plain\\n\\n%s %s\\n' $$ $!\nwhile :; do sleep 600; done\n";
    builder.script("puppet", text, "limits = { grace = \"500ms\" }")
}

fn ends_either_way(builder: HostBuilder) -> Result<HostBuilder> {
    let text = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\npage'\ncase $QUERY_STRING in\n\
                before) exec >&-; sleep 0.01 ;;\nafter) sleep 0.01 & ;;\nesac\n";
    builder.script("puppet", text, "")
}

fn a_second(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(builder.guest(
        "puppet",
        "limits = { wall = \"1s\", grace = \"200ms\", concurrency = 100 }",
    ))
}

fn cannot_start(builder: HostBuilder) -> Result<HostBuilder> {
    // Not declared: such a program is looked at when the host starts.
    let folder = builder.folder().join("folder");
    std::fs::create_dir(&folder)?;
    let script = folder.join("broken");
    std::fs::write(&script, "#!/nonexistent/interpreter\n")?;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))?;
    Ok(puppet(builder)?.table("[[directory]]\nurl = \"/folder\"\npath = \"folder\""))
}

fn lists_files(builder: HostBuilder) -> Result<HostBuilder> {
    let text =
        "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\n(cat >/dev/null; ls /proc/self/fd) 2>&1\n";
    builder.script("puppet", text, "")
}

fn works_on(builder: HostBuilder) -> Result<HostBuilder> {
    let text = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\npage'\nexec >&- 2>&-\nsleep 1\necho done >\"$0.marker\"\n";
    builder.script("puppet", text, "limits = { grace = \"200ms\", idle = \"500ms\" }")
}

fn minds_the_pipe(builder: HostBuilder) -> Result<HostBuilder> {
    let text = "#!/bin/sh\ntrap 'echo pipe >\"$0.marker\"; exit' PIPE\n\
                printf 'Content-Type: text/plain\\n\\n'\nwhile :; do echo line; done\n";
    builder.script("puppet", text, "")
}

fn daemon(builder: HostBuilder) -> Result<HostBuilder> {
    let text = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\n\
                setsid sh -c 'sleep 600 </dev/null >/dev/null 2>&1 & printf %s $!'\n";
    builder.script("puppet", text, "")
}

async fn held_input(scene: &Scene<'_>) -> Result<()> {
    let fields = "Content-Length: 100000\r\n";
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", fields);
    let answer = scene
        .raw(&[request.as_bytes(), &vec![b'x'; 100_000]].concat())
        .await?;
    ensure!(answer.status == 200 && answer.complete, "{answer:?}");
    gone(&[answer.text().parse()?]).await
}

async fn killed(scene: &Scene<'_>) -> Result<()> {
    let asked = async { scene.puppet("sleep 600000").await };
    let killer = async {
        wait_until("the program runs", PATIENCE, async || {
            Ok(children(scene.host)?.first().copied())
        })
        .await
        .and_then(|(child, _)| signal(child, Signal::KILL))
    };
    let (answer, ()) = futures_util::future::try_join(asked, killer).await?;
    ensure!(answer.status == 502 && answer.complete, "{answer:?}");
    let record = scene.record(1).await?;
    ensure!(record["outcome"] == "signalled", "{record}");
    childless(scene.host).await?;
    many(scene, 1, 1, &format!("{PLAIN}; out page"), "page").await?;
    idle(scene.host).await
}

/// The processes that the family says it is.
async fn family(scene: &Scene<'_>) -> Result<(warmbin_tests::Connection, Vec<u32>)> {
    let mut connection = scene.connect().await?;
    let request = scene.request("GET /cgi-bin/puppet HTTP/1.0", "");
    connection.send(request.as_bytes()).await?;
    connection.until(b"\r\n\r\n").await?;
    let line = String::from_utf8(connection.until(b"\n").await?)?;
    let members: Vec<u32> = line
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    ensure!(
        members.len() == 2 && members.iter().all(|pid| lives(*pid)),
        "{line}"
    );
    Ok((connection, members))
}

async fn family_outlived(scene: &Scene<'_>) -> Result<()> {
    let (_connection, members) = family(scene).await?;
    signal(scene.host.pid(), Signal::TERM)?;
    wait_until("the host has left", Duration::from_mins(1), async || {
        Ok((!lives(scene.host.pid())).then_some(()))
    })
    .await?;
    ensure!(!members.iter().any(|pid| lives(*pid)), "somebody was left");
    Ok(())
}

async fn family_left(scene: &Scene<'_>) -> Result<()> {
    let (connection, members) = family(scene).await?;
    drop(connection);
    gone(&members).await?;
    let record = scene.record(1).await?;
    ensure!(record["outcome"] == "client_gone", "{record}");
    childless(scene.host).await
}

async fn either_order(scene: &Scene<'_>) -> Result<()> {
    for batch in 0..30 {
        let asked = (0..20).map(|number| async move {
            let how = ["before", "with", "after"][(batch + number) % 3];
            let answer = scene.get(&format!("/cgi-bin/puppet?{how}"), "").await?;
            ensure!(
                answer.complete && answer.text() == "page",
                "{how}, {batch}: {answer:?}"
            );
            Ok(())
        });
        try_join_all(asked).await?;
    }
    childless(scene.host).await
}

async fn ends_of_input(scene: &Scene<'_>) -> Result<()> {
    let asked = (0..50).map(|number| async move {
        let body = format!("{number:05}").repeat(200);
        let fields = format!("{}Content-Length: 1000\r\n", pull(&format!("{PLAIN}; copy")));
        let request = scene.request("POST /cgi-bin/puppet HTTP/1.0", &fields);
        let answer = scene.raw(format!("{request}{body}").as_bytes()).await?;
        ensure!(answer.text() == body, "{number}: {answer:?}");
        Ok(())
    });
    try_join_all(asked).await?;
    childless(scene.host).await
}

async fn stuck(scene: &Scene<'_>) -> Result<()> {
    many(scene, 20, 10, &format!("{PLAIN}; out page"), "page").await?;
    childless(scene.host).await?;
    let before = descriptors(scene.host)?;
    let asked = (0..100).map(|_| async {
        let answer = scene.puppet("sleep 999000").await?;
        ensure!(answer.status == 504, "{answer:?}");
        Ok(())
    });
    try_join_all(asked).await?;
    childless(scene.host).await?;
    no_more_than(before, scene.host).await?;
    many(scene, 100, 100, &format!("{PLAIN}; out page"), "page").await
}

async fn wrong_process(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; out begun; read 1; out done");
    let mut runs = Flow::begin(scene, &client(Version::One)?, &script, 1).await?;
    runs.expect(b"begun").await?;
    for number in 0..50 {
        let mut connection = scene.connect().await?;
        let request = scene.request("GET /folder/broken HTTP/1.1", "");
        connection.send(request.as_bytes()).await?;
        if number % 2 == 0 {
            ensure!(connection.answer(false).await?.status == 500);
        }
    }
    // All have been dealt with once their records are there.
    scene.host.records_when("status=500", 25).await?;
    runs.send(b"x")?;
    runs.expect(b"done").await?;
    runs.end().await
}

async fn failed_starts(scene: &Scene<'_>) -> Result<()> {
    let before = descriptors(scene.host)?;
    for _ in 0..25 {
        let asked = (0..20).map(|_| async {
            let answer = scene.get("/folder/broken", "").await?;
            ensure!(answer.status == 500 && answer.complete, "{answer:?}");
            Ok(())
        });
        try_join_all(asked).await?;
    }
    ensure!(children(scene.host)?.is_empty());
    no_more_than(before, scene.host).await
}

async fn does_not_spin(scene: &Scene<'_>) -> Result<()> {
    for _ in 0..50 {
        let request = scene.request("POST /folder/broken HTTP/1.1", "Content-Length: 5\r\n");
        let answer = scene.raw(format!("{request}hello").as_bytes()).await?;
        ensure!(answer.status == 500, "{answer:?}");
    }
    idle(scene.host).await
}

async fn grandchild(scene: &Scene<'_>) -> Result<()> {
    let asked = (0..20).map(|_| async {
        let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", "Content-Length: 5\r\n");
        let answer = scene.raw(format!("{request}hello").as_bytes()).await?;
        ensure!(answer.text() == "0\n1\n2\n3\n", "{}", answer.text());
        Ok(())
    });
    try_join_all(asked).await.map(drop)
}

async fn no_pipes(scene: &Scene<'_>) -> Result<()> {
    let page = format!("{PLAIN}; out page");
    let mut connection = scene.connect().await?;
    let request = scene.request("GET /cgi-bin/puppet HTTP/1.1", &pull(&page));
    connection.send(request.as_bytes()).await?;
    ensure!(connection.answer(false).await?.text() == "page");
    childless(scene.host).await?;
    let before = descriptors(scene.host)?;
    // Enough for one end of a pipe, or two, or three.
    for spare in 1..4 {
        limit_descriptors(scene.host, before as u64 + spare)?;
        for _ in 0..50 {
            connection.send(request.as_bytes()).await?;
            let answer = connection.answer(false).await?;
            ensure!(answer.status == 503 && answer.complete, "{spare}: {answer:?}");
        }
    }
    limit_descriptors(scene.host, 1024)?;
    connection.send(request.as_bytes()).await?;
    ensure!(connection.answer(false).await?.text() == "page");
    childless(scene.host).await?;
    no_more_than(before, scene.host).await
}

/// Waits for what the program writes beside itself.
async fn marker(scene: &Scene<'_>) -> Result<String> {
    let file = scene.host.folder().join("puppet.marker");
    wait_until("the program writes its marker", PATIENCE, async || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        Ok(text.ends_with('\n').then_some(text))
    })
    .await
}

async fn works_on_after(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.puppet("").await?;
    ensure!(answer.complete && answer.text() == "page", "{answer:?}");
    ensure!(marker(scene).await? == "done\n");
    let record = scene.record(1).await?;
    ensure!(record["outcome"] == "ok", "{record}");
    Ok(())
}

async fn broken_pipe(scene: &Scene<'_>) -> Result<()> {
    for version in super::flow::VERSIONS {
        let mut answer = client(version)?
            .get(format!("{}/cgi-bin/puppet", scene.host.programs()))
            .header("Warmbin-Mode", scene.mode)
            .send()
            .await?;
        answer.chunk().await?;
        drop(answer);
        ensure!(marker(scene).await? == "pipe\n");
        std::fs::remove_file(scene.host.folder().join("puppet.marker"))?;
    }
    childless(scene.host).await
}

/// Waits until the host says that so many requests run.
async fn in_flight(scene: &Scene<'_>, requests: usize) -> Result<()> {
    let what = format!("{requests} requests run");
    let line = format!("warmbin_in_flight {requests}\n");
    wait_until(&what, PATIENCE, async || {
        let metrics = scene.host.api(reqwest::Method::GET, "/metrics").send().await?;
        Ok(metrics.text().await?.contains(&line).then_some(()))
    })
    .await
}

async fn leaves_early(scene: &Scene<'_>) -> Result<()> {
    let mut connection = scene.connect().await?;
    let request = scene.request("GET /cgi-bin/puppet HTTP/1.1", &pull("err begun; sleep 600000"));
    connection.send(request.as_bytes()).await?;
    in_flight(scene, 1).await?;
    drop(connection);
    let record = scene.record(1).await?;
    ensure!(record["outcome"] == "client_gone", "{record}");
    childless(scene.host).await
}

async fn crashes(scene: &Scene<'_>) -> Result<()> {
    for _ in 0..3 {
        let asked = (0..20).map(|_| async {
            let answer = scene.puppet("abort").await?;
            ensure!(answer.status == 502, "{answer:?}");
            Ok(())
        });
        try_join_all(asked).await?;
    }
    childless(scene.host).await?;
    many(scene, 20, 20, &format!("{PLAIN}; out page"), "page").await
}

async fn many_leave(scene: &Scene<'_>) -> Result<()> {
    many(scene, 20, 20, &format!("{PLAIN}; out page"), "page").await?;
    childless(scene.host).await?;
    let before = descriptors(scene.host)?;
    let script = format!("{PLAIN}; out begun; sleep 600000");
    for _ in 0..10 {
        let asked = (0..20).map(|_| async {
            let mut connection = scene.connect().await?;
            let request = scene.request("GET /cgi-bin/puppet HTTP/1.1", &pull(&script));
            connection.send(request.as_bytes()).await?;
            connection.until(b"begun").await
        });
        try_join_all(asked).await?;
    }
    childless(scene.host).await?;
    no_more_than(before, scene.host).await
}

async fn leave_at_the_end(scene: &Scene<'_>) -> Result<()> {
    let page = format!("{PLAIN}; out page");
    many(scene, 20, 20, &page, "page").await?;
    let before = descriptors(scene.host)?;
    for number in 0..100_u64 {
        let mut connection = scene.connect().await?;
        let request = scene.request("GET /cgi-bin/puppet HTTP/1.1", &pull(&page));
        connection.send(request.as_bytes()).await?;
        // Spread over what a request takes.
        tokio::time::sleep(Duration::from_micros(number * 150)).await;
    }
    in_flight(scene, 0).await?;
    childless(scene.host).await?;
    no_more_than(before, scene.host).await?;
    many(scene, 20, 20, &page, "page").await
}

async fn ignored_children(scene: &Scene<'_>) -> Result<()> {
    let builder = puppet(TestHost::builder()?)?;
    let host = builder.under("trap '' CHLD; exec \"$@\"").start().await?;
    let scene = Scene::new(&host, scene.mode);
    for (code, outcome) in [(0, "ok"), (3, "exit_nonzero")] {
        let answer = scene.puppet(&format!("{PLAIN}; out page; exit {code}")).await?;
        ensure!(answer.complete && answer.text() == "page", "{answer:?}");
        let record = scene.record(code.min(1) + 1).await?;
        ensure!(record["outcome"] == outcome, "{record}");
    }
    childless(&host).await
}

async fn address_is_free(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.puppet("").await?;
    let child: u32 = answer.text().parse().with_context(|| answer.text())?;
    told_to_end(scene.host).await?;
    let bound = std::net::TcpListener::bind(scene.host.programs().trim_start_matches("http://"));
    let lived = lives(child);
    // Nobody else will.
    let _ = signal(child, Signal::KILL);
    ensure!(lived, "the daemon did not live on");
    bound.context("the daemon holds the address")?;
    Ok(())
}
