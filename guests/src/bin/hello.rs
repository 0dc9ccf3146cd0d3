//! The smallest program: what a request costs when the program costs nothing.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    io::stdout().write_all(b"Content-Type: text/plain\n\nHello from a CGI program.\n")
}
