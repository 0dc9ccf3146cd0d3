//! Sends the request body back while it arrives, without ever holding more than one buffer of it.
//!
//! `?before=N` writes N KiB of `.` before reading the first byte: a host that feeds the whole body before it reads
//! the output cannot finish such a request.

use std::io::{self, Read, Write};

use warmbin_guests::{content_length, head, query};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    head(&mut out, "application/octet-stream")?;
    for _ in 0..query::number("before", 0) {
        out.write_all(&[b'.'; 1024])?;
    }
    out.flush()?;
    // CONTENT_LENGTH bytes are the body (RFC 3875 §4.2); what may lie beyond is not for us.
    let mut body = io::stdin().lock().take(content_length());
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = body.read(&mut buffer)?;
        let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else {
            return Ok(());
        };
        out.write_all(piece)?;
        out.flush()?;
    }
}
