//! Standard input: the request body, pulled by the guest as it reads. A guest that does not read leaves the body
//! where it is, so a slow guest slows the client.

use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::io::AsyncRead;
use wasmtime_wasi::cli::{IsTerminal, StdinStream};
use wasmtime_wasi::p2::{InputStream, Pollable, StreamError, StreamResult};

use crate::invocation::Body;
use crate::running::StopReason;
use crate::wasm::stdio::{Stdio, lock};

/// The body on its way into the guest.
#[derive(Debug, Default)]
pub(super) struct Stdin {
    state: Mutex<State>,
    delivered: AtomicU64,
}

struct State {
    body: Body,
    /// The part of the body that has arrived and has not been read.
    chunk: Bytes,
    progress: Progress,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Arriving,
    Ended,
    /// The body broke off. The guest must not take that for its end: it waits until it is stopped.
    Broken,
}

impl Default for State {
    fn default() -> Self {
        Self {
            body: Body::Empty,
            chunk: Bytes::new(),
            progress: Progress::Ended,
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("body", &self.body)
            .field("unread", &self.chunk.len())
            .field("progress", &self.progress)
            .finish()
    }
}

impl Stdin {
    /// Gives the guest a body.
    pub(super) fn bind(&self, body: Body) {
        let progress = match body {
            Body::Empty => Progress::Ended,
            Body::Stream(_) => Progress::Arriving,
        };
        *lock(&self.state) = State {
            body,
            chunk: Bytes::new(),
            progress,
        };
    }

    /// Lets go of what is left of the body.
    pub(super) fn release(&self) {
        let left = mem::take(&mut *lock(&self.state));
        drop(left);
    }

    /// Bytes the guest has read.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }
}

/// The guest's end of [`Stdin`].
#[derive(Debug, Clone)]
pub(super) struct StdinEnd(pub(super) Arc<Stdio>);

impl StdinEnd {
    /// Ready when there is something to read or the body has ended.
    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut guard = lock(&self.0.stdin.state);
        let state = &mut *guard;
        loop {
            if !state.chunk.is_empty() || state.progress == Progress::Ended {
                return Poll::Ready(());
            }
            if state.progress == Progress::Broken {
                return Poll::Pending;
            }
            let Body::Stream(stream) = &mut state.body else {
                state.progress = Progress::Ended;
                continue;
            };
            match stream.as_mut().poll_next(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(chunk))) => state.chunk = chunk,
                Poll::Ready(None) => state.progress = Progress::Ended,
                Poll::Ready(Some(Err(error))) => {
                    tracing::debug!(error = %error, "the request body broke off");
                    state.progress = Progress::Broken;
                    self.0.stopper.stop(StopReason::RequestBody);
                }
            }
        }
    }
}

#[async_trait]
impl Pollable for StdinEnd {
    async fn ready(&mut self) {
        std::future::poll_fn(|cx| self.poll_readable(cx)).await;
    }
}

#[async_trait]
impl InputStream for StdinEnd {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        let stdin = &self.0.stdin;
        let mut state = lock(&stdin.state);
        if state.chunk.is_empty() && state.progress == Progress::Ended {
            return Err(StreamError::Closed);
        }
        let size = size.min(state.chunk.len());
        let piece = state.chunk.split_to(size);
        drop(state);
        if !piece.is_empty() {
            stdin.delivered.fetch_add(piece.len() as u64, Ordering::Relaxed);
            self.0.movement.touch();
        }
        Ok(piece)
    }
}

impl IsTerminal for StdinEnd {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdinStream for StdinEnd {
    fn async_stream(&self) -> Box<dyn AsyncRead + Send + Sync> {
        // Asked for by preview 3 only, which this host does not link.
        Box::new(tokio::io::empty())
    }

    fn p2_stream(&self) -> Box<dyn InputStream> {
        Box::new(self.clone())
    }
}
