//! A program's standard error: always drained, so that a program that floods it never blocks; the beginning is kept.

use bytes::Bytes;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

const PIECE: usize = 8 << 10;

/// Rounds of the last drain: more than a pipe holds. A process that outlives its leader could write for ever.
const LAST_ROUNDS: usize = 16;

/// The beginning of what a program wrote.
#[derive(Debug)]
pub(super) struct Kept {
    bytes: Vec<u8>,
    limit: usize,
    truncated: bool,
}

impl Kept {
    /// Nothing yet; at most `limit` bytes later.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
            truncated: false,
        }
    }

    /// Reads `pipe` to its end.
    pub(super) async fn drain(&mut self, pipe: &mut pipe::Receiver) {
        let mut piece = vec![0; PIECE];
        while let Ok(read @ 1..) = pipe.read(&mut piece).await {
            self.keep(piece.get(..read).unwrap_or_default());
        }
    }

    /// Reads what is in `pipe` now, without asking the reactor, which may not know of it yet.
    pub(super) fn drain_rest(&mut self, pipe: &pipe::Receiver) {
        let mut piece = vec![0; PIECE];
        for _ in 0..LAST_ROUNDS {
            match rustix::io::read(pipe, &mut *piece) {
                Ok(read @ 1..) => self.keep(piece.get(..read).unwrap_or_default()),
                Ok(_) | Err(_) => return,
            }
        }
    }

    /// What was kept, and whether there was more.
    pub(super) fn finish(self) -> (Bytes, bool) {
        (self.bytes.into(), self.truncated)
    }

    /// What was kept so far.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = self.limit.saturating_sub(self.bytes.len());
        let (kept, dropped) = piece.split_at(room.min(piece.len()));
        self.bytes.extend_from_slice(kept);
        self.truncated |= !dropped.is_empty();
    }
}
