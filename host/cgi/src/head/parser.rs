//! Cuts output into lines, within limits, wherever the pieces end.

use bytes::Bytes;

use super::draft::{Block, Draft};
use super::{HeadError, HeadLimits, HeadStyle, Progress};

/// A parser that is fed output as it comes. Its answer does not depend on how the output is cut into pieces. It serves
/// one block: what it says after that, or after an error, has no meaning.
#[derive(Debug)]
pub struct HeadParser {
    limits: HeadLimits,
    /// Bytes of the lines that are done.
    taken: usize,
    /// The beginning of a line whose end has not come yet. Never more than the limits allow.
    partial: Vec<u8>,
    draft: Draft,
}

impl HeadParser {
    /// A parser with these limits, which hold for interim responses and the head together.
    pub fn new(limits: HeadLimits, style: HeadStyle) -> Self {
        Self {
            limits,
            taken: 0,
            partial: Vec::new(),
            draft: Draft::new(style),
        }
    }

    /// Takes the next piece of output.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a piece is given away: the body's beginning is cut from it"
    )]
    pub fn push(&mut self, piece: Bytes) -> Result<Progress, HeadError> {
        let mut at = 0;
        loop {
            let fresh = piece.get(at..).unwrap_or_default();
            if fresh.is_empty() {
                return Ok(Progress::More);
            }
            let (allowed, passed) = self.allowance();
            // How much of `fresh` may still belong to the line: everything is decided by positions in the output,
            // never by what happens to have arrived.
            let allowed = allowed.saturating_sub(self.partial.len());
            let within = fresh.get(..allowed).unwrap_or(fresh);
            let Some(end) = memchr::memchr(b'\n', within) else {
                if fresh.len() >= allowed {
                    return Err(passed);
                }
                self.partial.extend_from_slice(fresh);
                return Ok(Progress::More);
            };
            let mut line = within.get(..end).unwrap_or_default();
            at += end + 1;
            self.taken += self.partial.len() + end + 1;
            if !self.partial.is_empty() {
                self.partial.extend_from_slice(line);
                line = &self.partial;
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                match std::mem::take(&mut self.draft).finish()? {
                    Block::Interim(next) => self.draft = next,
                    Block::Final(head) => {
                        let rest = piece.slice(at..);
                        return Ok(Progress::Complete { head, rest });
                    }
                }
                self.partial.clear();
                continue;
            }
            self.draft.check_length(line, self.limits)?;
            self.draft.take_line(line)?;
            self.partial.clear();
        }
    }

    /// The output has ended before the block was complete: says how.
    pub fn finish(self) -> HeadError {
        if self.taken == 0 && self.partial.trim_ascii().is_empty() {
            HeadError::Empty
        } else {
            HeadError::Incomplete
        }
    }

    /// Bytes that the current line may have with its end, and what is wrong if it has more.
    fn allowance(&self) -> (usize, HeadError) {
        let line = self.limits.line.saturating_add(b"\r\n".len());
        let block = self.limits.block.saturating_sub(self.taken);
        if line <= block {
            (
                line,
                HeadError::OverLimit {
                    what: "bytes in a line",
                    limit: self.limits.line,
                },
            )
        } else {
            (
                block,
                HeadError::OverLimit {
                    what: "bytes",
                    limit: self.limits.block,
                },
            )
        }
    }
}
