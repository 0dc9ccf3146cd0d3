//! What the sample programs share: reading the request's parameters and writing a header block.
//!
//! Nothing here knows warmbin: these programs run under any CGI host.
#![forbid(unsafe_code)]

pub mod multipart;
pub mod query;

use std::io::{self, Write};

/// Writes a document response's header block and flushes it, so that the host can pass it on before the body exists.
pub fn head(out: &mut impl Write, content_type: &str) -> io::Result<()> {
    write!(out, "Content-Type: {content_type}\n\n")?;
    out.flush()
}

/// The length of the request body (`CONTENT_LENGTH`); zero if there is none.
#[must_use]
pub fn content_length() -> u64 {
    std::env::var("CONTENT_LENGTH")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}
