//! mimeTeX: binary output for a query.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::example::{Example, field, head_agrees, page};

const PROGRAM: &str = "/usr/lib/cgi-bin/mimetex.cgi";

/// What the program itself prints for a query, behind its header block.
fn by_hand(query: &str) -> Result<Vec<u8>> {
    let output = Command::new(PROGRAM)
        .env_clear()
        .env("QUERY_STRING", query)
        .current_dir("/usr/lib/cgi-bin")
        .output()?;
    ensure!(output.status.success(), "{output:?}");
    let end = output
        .stdout
        .windows(2)
        .position(|pair| pair == b"\n\n")
        .context("a header block")?;
    Ok(output.stdout[end + 2..].to_vec())
}

#[tokio::test(flavor = "multi_thread")]
async fn images_are_byte_for_byte_what_the_program_prints() -> Result<()> {
    let host = Example::of("mimeTeX", PROGRAM, "mimetex")?.start().await?;
    for query in [
        "x^2",
        "\\frac{a+b}{2}",
        "\\sum_{i=1}^n\\sqrt{i}\\;+\\;\\int_0^1f(x)dx",
    ] {
        let escaped: String = query
            .bytes()
            .map(|byte| match byte {
                b'\\' | b'{' | b'}' | b'^' => format!("%{byte:02X}"),
                _ => char::from(byte).to_string(),
            })
            .collect();
        let target = format!("/cgi-bin/mimetex?{escaped}");
        let (fields, image) = page(&host, &target).await?;
        assert_eq!(field(&fields, "content-type")?, "image/gif");
        assert_eq!(field(&fields, "content-length")?, image.len().to_string());
        assert!(image.starts_with(b"GIF8"));
        assert!(image == by_hand(&escaped)?, "{query}");
        head_agrees(&host, &target).await?;
    }
    Ok(())
}
