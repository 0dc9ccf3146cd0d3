//! Standard output: a bounded buffer that the guest fills and the reader empties.
//!
//! Guests often write line by line. Waking the reader for every line would send each as a piece of its own, so
//! the reader is woken when a good deal has gathered or when the guest gives its thread away (it blocks, its
//! epoch ends, it is done): see [`Pipe::hand_over`]. A line of a streaming guest thus arrives at once, and an answer
//! written in one go arrives in one piece.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

use crate::wasm::stdio::{Stdio, lock};

/// Bytes that may wait for the reader; beyond them the guest waits.
pub(super) const BUDGET: usize = 256 << 10;

/// Bytes worth waking the reader for while the guest still runs.
const WORTH_WAKING: usize = 32 << 10;

/// The first allocation: most answers of small programs fit.
const FIRST_ALLOCATION: usize = 4 << 10;

/// Output between the guest and the reader.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    buffer: BytesMut,
    /// The reader, waiting for bytes.
    reader: Option<Waker>,
    /// The guest, waiting for room.
    writer: Option<Waker>,
    /// The guest writes no more.
    closed: bool,
    /// The reader reads no more.
    abandoned: bool,
}

impl Pipe {
    /// Wakes a waiting reader if there is something for it.
    pub(super) fn hand_over(&self) {
        let mut state = lock(&self.state);
        let waker = if state.buffer.is_empty() {
            None
        } else {
            state.reader.take()
        };
        drop(state);
        wake(waker);
    }

    /// Ends the output: the reader gets what is there, then the end.
    pub(super) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        let waker = state.reader.take();
        drop(state);
        wake(waker);
    }

    fn room(&self) -> StreamResult<usize> {
        let state = lock(&self.state);
        if state.abandoned || state.closed {
            return Err(StreamError::Closed);
        }
        Ok(BUDGET.saturating_sub(state.buffer.len()))
    }

    fn push(&self, bytes: &[u8]) -> StreamResult<()> {
        let mut state = lock(&self.state);
        if state.abandoned || state.closed {
            return Err(StreamError::Closed);
        }
        if state.buffer.capacity() == 0 {
            state.buffer.reserve(FIRST_ALLOCATION.max(bytes.len()));
        }
        state.buffer.extend_from_slice(bytes);
        let waker = if state.buffer.len() >= WORTH_WAKING {
            state.reader.take()
        } else {
            None
        };
        drop(state);
        wake(waker);
        Ok(())
    }

    fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.state);
        if state.abandoned || state.closed || state.buffer.len() < BUDGET {
            return Poll::Ready(());
        }
        state.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = lock(&self.state);
        if !state.buffer.is_empty() {
            let taken = state.buffer.split().freeze();
            let waker = state.writer.take();
            drop(state);
            wake(waker);
            return Poll::Ready(Some(taken));
        }
        if state.closed {
            return Poll::Ready(None);
        }
        match &mut state.reader {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn abandon(&self) {
        let mut state = lock(&self.state);
        state.abandoned = true;
        state.buffer = BytesMut::new();
        let waker = state.writer.take();
        drop(state);
        wake(waker);
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// The reader's end. Dropping it tells the guest that nobody reads.
#[derive(Debug)]
pub(super) struct Reader(Arc<Stdio>);

impl Reader {
    /// The reader of `stdio`'s output; there is one.
    pub(super) fn new(stdio: &Arc<Stdio>) -> Self {
        Self(Arc::clone(stdio))
    }
}

impl Stream for Reader {
    type Item = io::Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.0.stdout.poll_take(cx);
        if let Poll::Ready(Some(_)) = &polled {
            self.0.movement.touch();
        }
        polled.map(|taken| taken.map(Ok))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.stdout.abandon();
    }
}

/// The guest's end.
#[derive(Debug, Clone)]
pub(super) struct StdoutEnd(pub(super) Arc<Stdio>);

#[async_trait]
impl Pollable for StdoutEnd {
    async fn ready(&mut self) {
        std::future::poll_fn(|cx| self.0.stdout.poll_room(cx)).await;
    }
}

#[async_trait]
impl OutputStream for StdoutEnd {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.0.movement.touch();
        self.0.stdout.push(&bytes)
    }

    fn flush(&mut self) -> StreamResult<()> {
        // Preview1 flushes after every write; the bytes are on their way already.
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.0.stdout.room()
    }
}

impl IsTerminal for StdoutEnd {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for StdoutEnd {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        // Asked for by preview 3 only, which this host does not link.
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}
