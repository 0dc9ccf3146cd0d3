//! Counts the requests this very program instance has served. Under CGI that is always one: whatever a request
//! leaves in memory is gone before the next.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

static SERVED: AtomicU64 = AtomicU64::new(0);

fn main() -> io::Result<()> {
    let served = SERVED.fetch_add(1, Ordering::Relaxed) + 1;
    write!(io::stdout(), "Content-Type: text/plain\n\n{served}\n")
}
