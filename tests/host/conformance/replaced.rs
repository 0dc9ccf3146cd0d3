//! Programs that are replaced while the host runs.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use warmbin_tests::{HostBuilder, guest};

use super::Where::{Everywhere, Native};
use super::scene::{Scene, pull};
use super::section;

/// A module is read whole before it is run.
const NOT_HELD: &str = "A module is read before it is run: no file is held while it runs.";

section! {
    "Programs replaced while the host runs";
    f17 Everywhere, on folder, "another file takes the place of a program's, between requests and under load" =>
        "the next request runs the new one; none fails": renamed;
    f80 Native(NOT_HELD), on folder, "a program that is still open for writing" =>
        "the request waits until it is written; the host answers others meanwhile": being_written;
    f81 Everywhere, on folder, "a program is removed, and put back" => "404, then 200": removed;
    f82 Native(NOT_HELD), on folder, "a script that is half written, its writer still at it, over and over" =>
        "the answer is the whole new one's": rewritten;
    f83 Everywhere, on folder, "a file loses its executable bit (a module becomes rubbish), and gets it back" =>
        "403 (500), then 200": changed_bits;
}

const ONE: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\none'\n";
const TWO: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\ntwo'\n";

fn folder(builder: HostBuilder) -> Result<HostBuilder> {
    let cgi = builder.folder().join("cgi");
    std::fs::create_dir(&cgi)?;
    install(&cgi.join("script"), ONE.as_bytes())?;
    Ok(builder.table("[[directory]]\nurl = \"/cgi\"\npath = \"cgi\""))
}

/// Writes an executable beside its place and moves it there.
fn install(file: &Path, bytes: &[u8]) -> Result<()> {
    let draft = file.with_extension("draft");
    std::fs::write(&draft, bytes)?;
    std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o755))?;
    Ok(std::fs::rename(&draft, file)?)
}

/// The address of a program whose file is a copy of the sample program `name`.
fn place(scene: &Scene<'_>, name: &str) -> Result<String> {
    let (family, file) = if scene.is_wasm() {
        ("wasm", "program.wasm")
    } else {
        ("native", "program")
    };
    let bytes = std::fs::read(guest(name, family))?;
    install(&scene.host.folder().join("cgi").join(file), &bytes)?;
    Ok(format!("/cgi/{file}"))
}

async fn renamed(scene: &Scene<'_>) -> Result<()> {
    let says = pull("out Content-Type: text/plain%0A%0Apuppet");
    for _ in 0..3 {
        let target = place(scene, "puppet")?;
        let answer = scene.get(&target, &says).await?;
        ensure!(answer.status == 200 && answer.text() == "puppet", "{answer:?}");
        let before = scene.get(&target, &says);
        let replaced = async { place(scene, "hello") };
        let (before, replaced) = tokio::join!(before, replaced);
        ensure!(before?.status == 200);
        let answer = scene.get(&replaced?, &says).await?;
        ensure!(answer.status == 200 && answer.text() != "puppet", "{answer:?}");
    }
    Ok(())
}

async fn being_written(scene: &Scene<'_>) -> Result<()> {
    let cgi = scene.host.folder().join("cgi");
    for (name, bytes) in [
        ("elf", std::fs::read(guest("hello", "native"))?),
        ("shell", TWO.as_bytes().to_vec()),
    ] {
        let file = cgi.join(name);
        std::fs::write(&file, &bytes)?;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755))?;
        let writer = OpenOptions::new().write(true).open(&file)?;
        let target = format!("/cgi/{name}");
        let waiting = scene.get(&target, "");
        let meanwhile = async {
            // Longer than moments: a copy over a network takes its time.
            let answers = async {
                loop {
                    ensure!(scene.get("/cgi/script", "").await?.text() == "one");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            if let Ok(failed) = tokio::time::timeout(Duration::from_millis(1500), answers).await {
                return failed;
            }
            drop(writer);
            Ok(())
        };
        let (answer, meanwhile) = tokio::join!(waiting, meanwhile);
        meanwhile?;
        let answer = answer?;
        ensure!(answer.status == 200, "{name}: {answer:?}");
    }
    Ok(())
}

async fn removed(scene: &Scene<'_>) -> Result<()> {
    let target = place(scene, "hello")?;
    ensure!(scene.get(&target, "").await?.status == 200);
    std::fs::remove_file(scene.host.folder().join(target.trim_start_matches('/')))?;
    ensure!(scene.get(&target, "").await?.status == 404);
    place(scene, "hello")?;
    ensure!(scene.get(&target, "").await?.status == 200);
    Ok(())
}

async fn rewritten(scene: &Scene<'_>) -> Result<()> {
    let file = scene.host.folder().join("cgi/script");
    for round in 0..10 {
        let (text, now) = if round % 2 == 0 {
            (TWO, "two")
        } else {
            (ONE, "one")
        };
        // In place, as some editors do.
        let mut writer = OpenOptions::new().write(true).truncate(true).open(&file)?;
        let (first, second) = text.as_bytes().split_at(text.len() / 2);
        writer.write_all(first)?;
        let asked = scene.get("/cgi/script", "");
        let written = async {
            // Most requests are there by then; one that comes later sees the same.
            tokio::time::sleep(Duration::from_millis(100)).await;
            writer.write_all(second)?;
            drop(writer);
            anyhow::Ok(())
        };
        let (answer, written) = tokio::join!(asked, written);
        written?;
        let answer = answer?;
        ensure!(
            answer.status == 200 && answer.text() == now,
            "{round}: {answer:?}"
        );
    }
    Ok(())
}

async fn changed_bits(scene: &Scene<'_>) -> Result<()> {
    let target = place(scene, "hello")?;
    let file = scene.host.folder().join(target.trim_start_matches('/'));
    ensure!(scene.get(&target, "").await?.status == 200);
    let (spoil, status) = if scene.is_wasm() {
        (true, 500)
    } else {
        (false, 403)
    };
    if spoil {
        install(&file, b"rubbish")?;
    } else {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644))?;
    }
    let answer = scene.get(&target, "").await?;
    ensure!(answer.status == status, "{answer:?}");
    place(scene, "hello")?;
    ensure!(scene.get(&target, "").await?.status == 200);
    Ok(())
}
