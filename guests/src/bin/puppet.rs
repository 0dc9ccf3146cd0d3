//! Does what the request's `Puppet` header says, step by step: the tests of the CGI rules pull its strings.
//!
//! Steps are separated by `;`, and a step is a word with its arguments behind spaces. Text is percent-encoded, so that
//! it can hold any byte: `out Status: 404%0A%0A; sleep 100; exit 1`.

use std::io::{self, ErrorKind, Read, Write};
use std::process;
use std::time::Duration;

use warmbin_guests::query::decode_percent;

fn main() -> io::Result<()> {
    let script = std::env::var("HTTP_PUPPET").unwrap_or_default();
    script
        .split(';')
        .map(str::trim_start)
        .filter(|step| !step.is_empty())
        .try_for_each(perform)
}

fn perform(step: &str) -> io::Result<()> {
    let (word, rest) = step.split_once(' ').unwrap_or((step, ""));
    let mut out = io::stdout().lock();
    match word {
        "out" => out.write_all(&decode_percent(rest))?,
        "repeat" => {
            let (times, text) = counted(rest)?;
            repeat(&mut out, times, &text)?;
        }
        "drip" => {
            let (pause, text) = counted(rest)?;
            for byte in text {
                out.write_all(&[byte])?;
                out.flush()?;
                std::thread::sleep(Duration::from_millis(pause));
            }
        }
        "err" => io::stderr().write_all(&decode_percent(rest))?,
        "err-repeat" => {
            let (times, text) = counted(rest)?;
            repeat(&mut io::stderr().lock(), times, &text)?;
        }
        "sleep" => std::thread::sleep(Duration::from_millis(number(rest)?)),
        "copy" => copy(&mut out)?,
        "read" => io::copy(&mut io::stdin().lock().take(number(rest)?), &mut io::sink()).map(drop)?,
        "count" => {
            let (bytes, sum) = checksum()?;
            write!(out, "{bytes} {sum:016x}")?;
        }
        "env" => {
            let mut variables: Vec<_> = std::env::vars_os().collect();
            variables.sort();
            for (name, value) in variables {
                let line = [name.as_encoded_bytes(), b"=", value.as_encoded_bytes(), b"\n"];
                out.write_all(&line.concat())?;
            }
        }
        "args" => {
            let arguments = std::env::args_os();
            writeln!(out, "{}", arguments.len())?;
            for argument in arguments {
                out.write_all(&[argument.as_encoded_bytes(), b"\n"].concat())?;
            }
        }
        "exit" => process::exit(i32::try_from(number(rest)?).unwrap_or(1)),
        "abort" => process::abort(),
        other => {
            return Err(io::Error::new(
                ErrorKind::InvalidInput,
                format!("no step {other:?}"),
            ));
        }
    }
    out.flush()
}

fn repeat(out: &mut impl Write, times: u64, text: &[u8]) -> io::Result<()> {
    // In pieces of some size: a write for each line would measure writes.
    let fold = (64 << 10) / text.len().max(1) as u64 + 1;
    let piece = text.repeat(usize::try_from(fold.min(times)).unwrap_or(1));
    for _ in 0..times / fold {
        out.write_all(&piece)?;
    }
    (0..times % fold).try_for_each(|_| out.write_all(text))
}

/// Standard input to standard output, each piece as it comes.
fn copy(out: &mut impl Write) -> io::Result<()> {
    let mut piece = vec![0; 64 << 10];
    let mut input = io::stdin().lock();
    loop {
        let read = input.read(&mut piece)?;
        if read == 0 {
            return Ok(());
        }
        out.write_all(piece.get(..read).unwrap_or_default())?;
        out.flush()?;
    }
}

/// The length of standard input, and a sum of its 8-byte words in which their order counts (FNV-1a, by words).
fn checksum() -> io::Result<(u64, u64)> {
    let (mut bytes, mut sum) = (0, 0xcbf2_9ce4_8422_2325_u64);
    let mut piece = Vec::with_capacity(64 << 10);
    let mut input = io::stdin().lock();
    loop {
        piece.clear();
        // Filled, but for the last one, so that words are never cut.
        let read = input.by_ref().take(64 << 10).read_to_end(&mut piece)?;
        if read == 0 {
            return Ok((bytes, sum));
        }
        bytes += read as u64;
        for word in piece.chunks(8) {
            let word = word.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
            sum = (sum ^ word).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn counted(rest: &str) -> io::Result<(u64, Vec<u8>)> {
    let (count, text) = rest.split_once(' ').unwrap_or((rest, ""));
    Ok((number(count)?, decode_percent(text)))
}

fn number(text: &str) -> io::Result<u64> {
    text.trim()
        .parse()
        .map_err(|_| io::Error::new(ErrorKind::InvalidInput, format!("{text:?} is no number")))
}
