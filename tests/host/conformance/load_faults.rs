//! Faults that users of other hosts reported, about load: lost ends, and output that is kept in memory.

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use warmbin_tests::HostBuilder;

use super::Where::Everywhere;
use super::flow::{Version, client};
use super::load::{FEW_KIB, many};
use super::processes::{childless, growth_kib};
use super::scene::{PLAIN, Scene, pull};
use super::section;

section! {
    "Faults seen in other hosts: load";
    x06 Everywhere, "60 KB and an end right behind them, 300 times" => "every byte, every time": last_bytes;
    x07 Everywhere, "100 KB, 200 times, to readers that wait before they read" => "every answer ends": slow_ends;
    x79 Everywhere, on much, "a redirect, and the answer to HEAD, with endless output behind them" =>
        "answered at once; the output is not kept": not_kept;
    x106 Everywhere, on much, "300 MB" => "300 MB": very_much;
    x112 Everywhere, "20 readers that stop, with 20 MB to come for each" => "the programs wait; the host's memory does not grow": held_back;
}

fn much(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(builder.guest("puppet", "limits = { grace = \"500ms\", wall = \"60s\" }"))
}

async fn last_bytes(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; repeat 60000 y");
    many(scene, 300, 20, &script, &"y".repeat(60_000)).await?;
    childless(scene.host).await
}

async fn slow_ends(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; repeat 100000 y");
    for _ in 0..20 {
        let asked = (0..10).map(|_| async {
            let mut connection = scene.connect().await?;
            let request = scene.request("GET /cgi-bin/puppet HTTP/1.1", &pull(&script));
            connection.send(request.as_bytes()).await?;
            Ok::<_, anyhow::Error>(connection)
        });
        // By then the first have long waited.
        for mut connection in try_join_all(asked).await? {
            let answer = connection.answer(false).await?;
            ensure!(
                answer.complete && answer.body.len() == 100_000,
                "{}, {} bytes",
                answer.status,
                answer.body.len()
            );
        }
    }
    Ok(())
}

async fn not_kept(scene: &Scene<'_>) -> Result<()> {
    let grown = growth_kib(scene.host, async {
        let endless = "repeat 100000000000 y";
        let script = format!("out Status: 302 Found%0ALocation: http://example.org/%0A%0A; {endless}");
        let answer = client(Version::One)?
            .get(format!("{}/cgi-bin/puppet", scene.host.programs()))
            .header("Warmbin-Mode", scene.mode)
            .header("Puppet", script)
            .send()
            .await?;
        ensure!(answer.status() == 302, "{answer:?}");
        drop(answer);
        scene.record(1).await?;
        let fields = pull(&format!("{PLAIN}; {endless}"));
        let request = scene.request("HEAD /cgi-bin/puppet HTTP/1.1", &fields);
        let answer = scene.raw(request.as_bytes()).await?;
        ensure!(answer.status == 200, "{answer:?}");
        // Its record is there once it has ended.
        scene.record(2).await.map(drop)
    })
    .await?;
    ensure!(grown < FEW_KIB, "the host grew by {grown} KiB");
    childless(scene.host).await
}

async fn very_much(scene: &Scene<'_>) -> Result<()> {
    const BYTES: usize = 300_000_000;
    let mut answer = scene
        .host
        .get_in(scene.mode, "/cgi-bin/puppet")
        .header("Puppet", format!("{PLAIN}; repeat {BYTES} y"))
        .send()
        .await?;
    let mut bytes = 0;
    while let Some(piece) = answer.chunk().await? {
        bytes += piece.len();
    }
    ensure!(bytes == BYTES, "{bytes} bytes");
    let record = scene.record(1).await?;
    ensure!(record["response_bytes"] == BYTES, "{record}");
    Ok(())
}

async fn held_back(scene: &Scene<'_>) -> Result<()> {
    // What 20 programs need themselves comes first.
    many(scene, 40, 20, &format!("{PLAIN}; sleep 20; out page"), "page").await?;
    let script = format!("{PLAIN}; repeat 20000000 y");
    let grown = growth_kib(scene.host, async {
        let asked = (0..20).map(|_| async {
            let mut connection = scene.connect().await?;
            let request = scene.request("GET /cgi-bin/puppet HTTP/1.1", &pull(&script));
            connection.send(request.as_bytes()).await?;
            // A head and the first of the body; what is behind them fills what the system holds for a connection.
            connection.until(&[b'y'; 1000]).await?;
            Ok::<_, anyhow::Error>(connection)
        });
        let connections = try_join_all(asked).await?;
        // Others are served meanwhile.
        many(scene, 100, 10, &format!("{PLAIN}; out page"), "page").await?;
        drop(connections);
        Ok(())
    })
    .await?;
    ensure!(grown < 2 * FEW_KIB, "the host grew by {grown} KiB");
    childless(scene.host).await
}
