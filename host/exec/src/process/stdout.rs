//! A program's standard output as a stream: read when asked, so that a slow reader slows the program.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use rustix::io::Errno;
use tokio::net::unix::pipe;
use tokio_util::io::poll_read_buf;

use crate::process::progress::Progress;
use crate::running::Stopper;

/// Room for the first read: most answers are small.
const FIRST: usize = 8 << 10;

/// Room once a read has filled what it was given: as much as a pipe holds.
const FULL: usize = 64 << 10;

/// Standard output of one program.
#[derive(Debug)]
pub(super) struct Stdout {
    pipe: pipe::Receiver,
    buffer: BytesMut,
    room: usize,
    progress: Arc<Progress>,
    stopper: Stopper,
}

impl Stdout {
    /// The stream of `pipe`, telling `progress` of what moves.
    pub(super) fn new(pipe: pipe::Receiver, progress: Arc<Progress>, stopper: Stopper) -> Self {
        Self {
            pipe,
            buffer: BytesMut::new(),
            room: FIRST,
            progress,
            stopper,
        }
    }

    fn chunk(&mut self) -> Bytes {
        if self.buffer.len() == self.buffer.capacity() {
            self.room = FULL;
        }
        self.progress.moved();
        self.buffer.split().freeze()
    }

    /// Reads what is in the pipe whatever the reactor thinks: it may not have heard of the last bytes, and the task's
    /// budget may be used up.
    fn rest(&mut self) -> Option<io::Result<Bytes>> {
        let mut piece = vec![0; FIRST];
        loop {
            match rustix::io::read(&self.pipe, &mut *piece) {
                Ok(0) | Err(Errno::AGAIN) => return None,
                Ok(read) => {
                    self.progress.moved();
                    piece.truncate(read);
                    return Some(Ok(piece.into()));
                }
                Err(Errno::INTR) => {}
                Err(error) => return Some(Err(error.into())),
            }
        }
    }
}

impl Stream for Stdout {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.buffer.capacity() < FIRST / 2 || this.room > FIRST && this.buffer.capacity() < FULL / 2 {
            this.buffer.reserve(this.room);
        }
        let next = match poll_read_buf(Pin::new(&mut this.pipe), cx, &mut this.buffer) {
            Poll::Ready(Ok(0)) => None,
            Poll::Ready(Ok(_)) => Some(Ok(this.chunk())),
            Poll::Ready(Err(error)) => Some(Err(error)),
            Poll::Pending if this.stopper.get().is_some() => this.rest(),
            Poll::Pending => return Poll::Pending,
        };
        if next.is_none() {
            this.progress.end_output();
        }
        Poll::Ready(next)
    }
}

impl Drop for Stdout {
    fn drop(&mut self) {
        self.progress.end_output();
    }
}
