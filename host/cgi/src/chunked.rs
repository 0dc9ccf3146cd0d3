//! Takes chunks apart (RFC 9112 §7.1): what a program that answers with a whole HTTP response may send its body in.
//!
//! Owns: the framing. Must not know: where the pieces come from, what becomes of the body.
//!
//! Lines end in LF or CR LF, as in header blocks. Extensions and trailer fields are skipped.

use bytes::{Buf, Bytes};

/// Bytes that all extensions of a chunk, or all trailer fields, may have. They mean nothing here.
const MAX_SKIPPED: usize = 16 << 10;

/// A decoder that is fed pieces as they come. What it makes of them does not depend on how they are cut.
#[derive(Debug, Default)]
pub struct ChunkDecoder {
    state: State,
    skipped: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// At the first digit of a size.
    #[default]
    Start,
    /// Behind a digit.
    Size(u64),
    /// Behind the digits, up to the line's end.
    Extension(u64),
    /// A CR has been read, which must be followed by LF and then `Next`.
    Cr(Next),
    /// That many bytes of the chunk are to come.
    Data(u64),
    /// Behind a chunk's data.
    DataEnd,
    /// At the beginning of a line behind the last chunk.
    TrailerStart,
    /// In such a line.
    Trailer,
    /// Nothing more belongs to the body.
    Done,
}

/// What a line's end leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Data(u64),
    Chunk,
    TrailerLine,
    Done,
}

/// Why pieces are no chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChunkError {
    /// A size is not a hexadecimal number that fits.
    #[error("a chunk's size is not a hexadecimal number")]
    Size,
    /// Something else where a line should end.
    #[error("a chunk does not end where its size says")]
    LineEnd,
    /// Extensions or trailer fields without end.
    #[error("extensions or trailer fields are over the limit of {MAX_SKIPPED} bytes")]
    OverLimit,
}

impl ChunkDecoder {
    /// Whether the last chunk and its trailer have been read. What follows them is not looked at.
    pub fn is_complete(&self) -> bool {
        self.state == State::Done
    }

    /// The next data of the body in `piece`, which is left with what follows it; `None` once `piece` is used up.
    pub fn next(&mut self, piece: &mut Bytes) -> Result<Option<Bytes>, ChunkError> {
        loop {
            if let State::Data(left) = self.state {
                if piece.is_empty() {
                    return Ok(None);
                }
                let here = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
                let left = left - here as u64;
                self.state = if left == 0 {
                    State::DataEnd
                } else {
                    State::Data(left)
                };
                return Ok(Some(piece.split_to(here)));
            }
            if self.is_complete() {
                piece.clear();
            }
            let Some(&byte) = piece.first() else {
                return Ok(None);
            };
            piece.advance(1);
            self.state = self.after(byte)?;
        }
    }

    /// The state behind `byte`, which is none of the data.
    fn after(&mut self, byte: u8) -> Result<State, ChunkError> {
        Ok(match (self.state, byte) {
            (State::Start, _) => State::Size(digit(byte).ok_or(ChunkError::Size)?),
            (State::Size(size) | State::Extension(size), b'\n') => self.line_ended(sized(size)),
            (State::Size(size) | State::Extension(size), b'\r') => State::Cr(sized(size)),
            (State::Size(size), b';' | b' ' | b'\t') => State::Extension(size),
            (State::Size(size), _) => {
                let digit = digit(byte).ok_or(ChunkError::Size)?;
                let size = size.checked_mul(16).ok_or(ChunkError::Size)?;
                State::Size(size | digit)
            }
            (State::Extension(_) | State::Trailer, _) if self.skipped >= MAX_SKIPPED => {
                return Err(ChunkError::OverLimit);
            }
            (State::Extension(size), _) => {
                self.skipped += 1;
                State::Extension(size)
            }
            (State::Cr(next), b'\n') => self.line_ended(next),
            (State::DataEnd, b'\n') => self.line_ended(Next::Chunk),
            (State::DataEnd, b'\r') => State::Cr(Next::Chunk),
            (State::TrailerStart, b'\n') => self.line_ended(Next::Done),
            (State::TrailerStart, b'\r') => State::Cr(Next::Done),
            (State::Trailer, b'\n') => self.line_ended(Next::TrailerLine),
            (State::Trailer, b'\r') => State::Cr(Next::TrailerLine),
            (State::TrailerStart | State::Trailer, _) => {
                self.skipped += 1;
                State::Trailer
            }
            (State::Cr(_) | State::DataEnd | State::Data(_) | State::Done, _) => {
                return Err(ChunkError::LineEnd);
            }
        })
    }

    fn line_ended(&mut self, next: Next) -> State {
        match next {
            Next::Data(bytes) => {
                self.skipped = 0;
                State::Data(bytes)
            }
            Next::Chunk => State::Start,
            Next::TrailerLine => State::TrailerStart,
            Next::Done => State::Done,
        }
    }
}

/// What follows the line of a size. A size of nothing marks the last chunk.
fn sized(size: u64) -> Next {
    match size {
        0 => Next::TrailerLine,
        bytes => Next::Data(bytes),
    }
}

fn digit(byte: u8) -> Option<u64> {
    char::from(byte).to_digit(16).map(u64::from)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::{ChunkDecoder, ChunkError};

    /// The body in `input` cut into pieces of these sizes, and whether it was complete.
    fn decode(input: &[u8], sizes: &[usize]) -> Result<(Vec<u8>, bool), ChunkError> {
        let mut decoder = ChunkDecoder::default();
        let mut left = Bytes::copy_from_slice(input);
        let mut body = Vec::new();
        for size in sizes.iter().cycle() {
            if left.is_empty() {
                break;
            }
            let mut piece = left.split_to((*size).clamp(1, left.len()));
            while let Some(data) = decoder.next(&mut piece)? {
                assert!(!data.is_empty());
                body.extend_from_slice(&data);
            }
        }
        Ok((body, decoder.is_complete()))
    }

    #[test]
    fn chunks_are_joined() {
        for (input, body) in [
            ("0\r\n\r\n", ""),
            ("5\r\nfives\r\n0\r\n\r\n", "fives"),
            ("5\nfives\n0\n\n", "fives"),
            (
                "1\r\na\r\n00A;name=\"x\"\r\nb\r\nc\r\nd\r\ne\r\n0;last\r\nX-Sum: 1\r\n\r\n",
                "ab\r\nc\r\nd\r\ne",
            ),
            ("3 \r\nabc\r\n0\r\n\r\nmore", "abc"),
        ] {
            assert_eq!(
                decode(input.as_bytes(), &[usize::MAX]),
                Ok((body.into(), true)),
                "{input:?}"
            );
        }
    }

    #[test]
    fn what_is_cut_off_is_not_complete() {
        let whole = b"3\r\nabc\r\n0\r\nX: y\r\n\r\n";
        for end in 0..whole.len() {
            let (_, complete) = decode(&whole[..end], &[usize::MAX]).unwrap();
            assert!(!complete, "{end}");
        }
    }

    #[test]
    fn what_is_no_chunk_is_an_error() {
        for (input, error) in [
            ("x\r\n", ChunkError::Size),
            ("\r\n", ChunkError::Size),
            ("-1\r\n", ChunkError::Size),
            ("+1\r\n", ChunkError::Size),
            ("0x1\r\n", ChunkError::Size),
            ("10000000000000000\r\n", ChunkError::Size),
            ("1\rx", ChunkError::LineEnd),
            ("1\r\nab", ChunkError::LineEnd),
            ("<html>", ChunkError::Size),
        ] {
            assert_eq!(decode(input.as_bytes(), &[usize::MAX]), Err(error), "{input:?}");
        }
        let endless = format!("0\r\n{}", "X-A: b\r\n".repeat(4_000));
        assert_eq!(decode(endless.as_bytes(), &[1_000]), Err(ChunkError::OverLimit));
        let endless = format!("1;{}", "x".repeat(20_000));
        assert_eq!(decode(endless.as_bytes(), &[1_000]), Err(ChunkError::OverLimit));
    }

    proptest! {
        #[test]
        fn any_cut_of_any_chunks_gives_the_body(
            chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..40), 0..8),
            sizes in proptest::collection::vec(1_usize..30, 1..6),
        ) {
            let mut input = Vec::new();
            for chunk in &chunks {
                input.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                input.extend_from_slice(chunk);
                input.extend_from_slice(b"\r\n");
            }
            input.extend_from_slice(b"0\r\n\r\n");
            prop_assert_eq!(decode(&input, &sizes), Ok((chunks.concat(), true)));
        }

        #[test]
        fn no_input_panics_and_cuts_change_nothing(
            input in proptest::collection::vec(prop_oneof![Just(b'0'), Just(b'a'), Just(b'\r'), Just(b'\n'), Just(b';'), any::<u8>()], 0..200),
            sizes in proptest::collection::vec(1_usize..30, 1..6),
        ) {
            prop_assert_eq!(decode(&input, &sizes), decode(&input, &[usize::MAX]));
        }
    }
}
