//! What a program prints, and what becomes of it (RFC 3875 §6).

use anyhow::{Result, ensure};

use super::Where::Everywhere;
use super::scene::Scene;
use super::section;

section! {
    "Responses";
    r03 Everywhere, "`Status: 404 Not here` and a body" => "404 and the body": status_and_body;
}

async fn status_and_body(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .puppet("out Status: 404 Not here%0AContent-Type: text/plain%0A%0Agone")
        .await?;
    ensure!(answer.status == 404 && answer.text() == "gone", "{answer:?}");
    Ok(())
}
