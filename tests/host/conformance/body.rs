//! What a program is given to read (RFC 3875 §4.2).

use anyhow::{Result, ensure};

use super::Where::Everywhere;
use super::scene::{PLAIN, Scene, pull};
use super::section;

section! {
    "Request bodies";
    b02 Everywhere, "a program that reads to the end, whatever CONTENT_LENGTH says" => "the body, then the end": end_of_input;
}

async fn end_of_input(scene: &Scene<'_>) -> Result<()> {
    let fields = format!("{}Content-Length: 14\r\n", pull(&format!("{PLAIN}; copy")));
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
    let answer = scene.raw(format!("{request}fourteen bytes").as_bytes()).await?;
    ensure!(answer.text() == "fourteen bytes" && answer.complete, "{answer:?}");
    Ok(())
}
