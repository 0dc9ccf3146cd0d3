//! Sleeps for `?s=` seconds or `?ms=` milliseconds, else an hour, and says so. With `?head=1` the header block goes out
//! first: a limit that passes then finds the answer already begun.

use std::io::{self, Write};
use std::time::Duration;

use warmbin_guests::{head, query};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let seconds = query::number("s", 3600);
    let pause = Duration::from_millis(query::number("ms", seconds.saturating_mul(1000)));
    let early = query::parameter("head").is_some();
    if early {
        head(&mut out, "text/plain")?;
    }
    std::thread::sleep(pause);
    if !early {
        head(&mut out, "text/plain")?;
    }
    writeln!(out, "slept {} ms", pause.as_millis())
}
