//! Standard error: the first bytes are kept for the record, the rest is dropped. A guest never waits for it.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use crate::wasm::stdio::{Stdio, lock};

/// What one write may bring; the rest of a larger one comes in the next.
const PERMIT: usize = 64 << 10;

/// What a guest has written to standard error.
#[derive(Debug, Default)]
pub(super) struct Stderr {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    kept: Vec<u8>,
    limit: usize,
    truncated: bool,
}

impl Stderr {
    /// Sets how many bytes are kept.
    pub(super) fn bind(&self, limit: usize) {
        lock(&self.state).limit = limit;
    }

    /// What was kept, and whether there was more.
    pub(super) fn take(&self) -> (Bytes, bool) {
        let mut state = lock(&self.state);
        (Bytes::from(std::mem::take(&mut state.kept)), state.truncated)
    }

    fn push(&self, bytes: &[u8]) {
        let mut state = lock(&self.state);
        let room = state.limit.saturating_sub(state.kept.len());
        let (kept, dropped) = bytes.split_at(room.min(bytes.len()));
        state.kept.extend_from_slice(kept);
        state.truncated |= !dropped.is_empty();
    }
}

/// The guest's end.
#[derive(Debug, Clone)]
pub(super) struct StderrEnd(pub(super) Arc<Stdio>);

#[async_trait]
impl Pollable for StderrEnd {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for StderrEnd {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.0.stderr.push(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

impl IsTerminal for StderrEnd {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for StderrEnd {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        // Asked for by preview 3 only, which this host does not link.
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}
