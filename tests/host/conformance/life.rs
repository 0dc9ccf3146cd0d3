//! Life-cycle, standard error, streaming.

use anyhow::{Result, ensure};

use super::Where::Everywhere;
use super::scene::{PLAIN, Scene};
use super::section;

section! {
    "Life-cycle and streaming";
    l01 Everywhere, "8 KiB on standard error before the page" => "200; the text is in the record": stderr_first;
}

async fn stderr_first(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .puppet(&format!("err-repeat 8192 e; {PLAIN}; out page"))
        .await?;
    ensure!(answer.status == 200 && answer.text() == "page", "{answer:?}");
    let id = scene.record(1).await?["id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let record = scene.host.document(&format!("/api/v1/requests/{id}")).await?;
    let said = record["stderr"].as_str().unwrap_or_default();
    ensure!(
        said.len() == 8192 && said.bytes().all(|byte| byte == b'e'),
        "{record}"
    );
    Ok(())
}
