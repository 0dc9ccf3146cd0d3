//! A line at a time: `?n=` lines (ten), one every `?ms=` milliseconds (a second). Shows whether a host passes output
//! on when it is written.

use std::io::{self, Write};
use std::time::Duration;

use warmbin_guests::{head, query};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let lines = query::number("n", 10);
    let pause = Duration::from_millis(query::number("ms", 1000));
    head(&mut out, "text/plain")?;
    for line in 1..=lines {
        if line > 1 {
            std::thread::sleep(pause);
        }
        writeln!(out, "line {line} of {lines}")?;
        out.flush()?;
    }
    Ok(())
}
