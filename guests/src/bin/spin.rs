//! Burns processor time: `?ms=` milliseconds of it, else for ever.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use warmbin_guests::query;

fn main() -> io::Result<()> {
    let limit = query::parameter("ms")
        .and_then(|text| text.parse().ok())
        .map(Duration::from_millis);
    let start = Instant::now();
    let mut rounds = 0_u64;
    // The clock is asked once in many rounds, so that this is work and not system calls.
    while limit.is_none_or(|limit| start.elapsed() < limit) {
        for round in 0..100_000_u64 {
            rounds = black_box(rounds + (round & 1));
        }
    }
    write!(
        io::stdout(),
        "Content-Type: text/plain\n\nspun for {} ms\n",
        start.elapsed().as_millis()
    )
}
