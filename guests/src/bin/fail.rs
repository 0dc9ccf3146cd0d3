//! Fails in the way `?how=` names. What a host makes of it is the host's affair; without `how`, the ways are listed.

use std::io::{self, Write};
use std::process;

use warmbin_guests::{head, query};

const WAYS: &[(&str, &str)] = &[
    ("exit", "exits with code 3 and writes nothing"),
    ("late", "a complete answer, then exits with code 3"),
    ("abort", "aborts before it writes anything"),
    ("panic", "panics, with a message on standard error"),
    ("empty", "exits with code 0 and writes nothing"),
    ("nohead", "a body without a header block"),
    ("badhead", "a header line without a colon"),
    ("hugehead", "one MiB of header lines"),
    (
        "halfway",
        "half of a body whose whole length it announced, then aborts",
    ),
    (
        "short",
        "half of a body whose whole length it announced, then exits with code 0",
    ),
    ("flood", "four MiB on standard error, then a good answer"),
    ("trap", "a WebAssembly trap; natively an abort"),
];

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    match query::parameter("how").as_deref() {
        Some("exit") => process::exit(3),
        Some("late") => {
            head(&mut out, "text/plain")?;
            out.write_all(b"complete\n")?;
            out.flush()?;
            process::exit(3)
        }
        Some("abort") => process::abort(),
        Some("panic") => panic!("asked to panic"),
        Some("empty") => Ok(()),
        Some("nohead") => out.write_all(b"just text, no header block\n"),
        Some("badhead") => out.write_all(b"Content-Type: text/plain\nno colon here\n\nbody\n"),
        Some("hugehead") => {
            for line in 0..16 * 1024 {
                writeln!(out, "X-Line-{line:05}: {:048}", 0)?;
            }
            out.write_all(b"Content-Type: text/plain\n\nbody\n")
        }
        Some("halfway") => {
            half(&mut out)?;
            process::abort()
        }
        Some("short") => half(&mut out),
        Some("flood") => {
            let mut complaint = [b'e'; 64];
            complaint[63] = b'\n';
            for _ in 0..4 * 1024 * 1024 / complaint.len() {
                io::stderr().write_all(&complaint)?;
            }
            head(&mut out, "text/plain")?;
            out.write_all(b"complete\n")
        }
        Some("trap") => trap(),
        _ => {
            head(&mut out, "text/plain")?;
            WAYS.iter()
                .try_for_each(|(how, what)| writeln!(out, "?how={how}: {what}"))
        }
    }
}

fn half(out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"Content-Type: text/plain\nContent-Length: 100\n\n")?;
    out.write_all(&[b'x'; 50])?;
    out.flush()
}

#[cfg(target_arch = "wasm32")]
fn trap() -> ! {
    core::arch::wasm32::unreachable()
}

#[cfg(not(target_arch = "wasm32"))]
fn trap() -> ! {
    process::abort()
}
