//! Faults that users of other hosts reported; their numbers are of this list.

use anyhow::{Result, ensure};

use super::Where::Everywhere;
use super::scene::{PLAIN, Scene};
use super::section;

section! {
    "Faults seen in other hosts";
    x01 Everywhere, "1 MiB on standard error, then a page" => "the page; nobody waits for anybody": much_stderr;
}

async fn much_stderr(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .puppet(&format!("err-repeat 1048576 e; {PLAIN}; out page"))
        .await?;
    ensure!(answer.status == 200 && answer.text() == "page", "{answer:?}");
    Ok(())
}
