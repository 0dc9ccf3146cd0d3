//! A connection that can end in a reset.
//!
//! A body of HTTP/1.0 without a length ends where its connection does. If it is not whole, only a reset says so.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A stream that is reset when it is dropped, if by then somebody has asked for it.
#[derive(Debug)]
pub(super) struct Resettable {
    stream: TcpStream,
    reset: Arc<AtomicBool>,
}

impl Resettable {
    /// `stream`, and what asks for its reset once it is true.
    pub(super) fn new(stream: TcpStream) -> (Self, Arc<AtomicBool>) {
        let reset = Arc::new(AtomicBool::new(false));
        let resettable = Self {
            stream,
            reset: Arc::clone(&reset),
        };
        (resettable, reset)
    }
}

impl Drop for Resettable {
    fn drop(&mut self) {
        if self.reset.load(Ordering::Relaxed) {
            // If that is refused the connection just ends.
            let _ = set_socket_linger(&self.stream, Some(Duration::ZERO));
        }
    }
}

impl AsyncRead for Resettable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Resettable {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
