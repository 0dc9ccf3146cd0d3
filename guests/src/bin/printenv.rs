//! Prints its environment, one `NAME=value` a line, sorted by bytes and passed through as bytes.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let mut variables: Vec<_> = std::env::vars_os().collect();
    variables.sort();
    let mut page = b"Content-Type: text/plain\n\n".to_vec();
    for (name, value) in &variables {
        page.extend_from_slice(name.as_encoded_bytes());
        page.push(b'=');
        page.extend_from_slice(value.as_encoded_bytes());
        page.push(b'\n');
    }
    io::stdout().write_all(&page)
}
