//! Takes memory and touches every page of it: `?mib=` MiB, else until there is no more.

use std::hint::black_box;
use std::io::{self, Write};

use warmbin_guests::query;

const MIB: usize = 1 << 20;
const PAGE: usize = 4096;

fn main() -> io::Result<()> {
    let wanted = query::number("mib", u64::MAX);
    let mut held: Vec<Vec<u8>> = Vec::new();
    while (held.len() as u64) < wanted {
        let mut block = vec![0_u8; MIB];
        for byte in block.iter_mut().step_by(PAGE) {
            *byte = 1;
        }
        held.push(black_box(block));
    }
    write!(
        io::stdout(),
        "Content-Type: text/plain\n\nheld {} MiB\n",
        held.len()
    )
}
