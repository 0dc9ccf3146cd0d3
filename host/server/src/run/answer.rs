//! The body of a response: none, a text of the host's, a program's output, or a file.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;

use super::body::{Broken, ProgramBody};
use super::file::FileBody;

/// The body of a response.
#[derive(Debug)]
pub enum Answer {
    /// Nothing, or a text of the host's.
    Whole(Full<Bytes>),
    /// A program's output, as it comes.
    Program(Box<ProgramBody>),
    /// A file, as it is read.
    File(FileBody),
}

impl Answer {
    /// No body.
    pub fn empty() -> Self {
        Self::whole(Bytes::new())
    }

    /// A text of the host's.
    pub fn whole(bytes: Bytes) -> Self {
        Self::Whole(Full::new(bytes))
    }

    #[cfg(test)]
    pub(super) fn text(&self) -> Option<String> {
        use futures_util::FutureExt;
        use http_body_util::BodyExt;
        let Self::Whole(full) = self else { return None };
        let bytes = full.clone().collect().now_or_never()?.ok()?.to_bytes();
        String::from_utf8(bytes.to_vec()).ok()
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match self.get_mut() {
            Self::Whole(full) => Pin::new(full)
                .poll_frame(cx)
                .map(|frame| frame.map(|frame| frame.map_err(|never: Infallible| match never {}))),
            Self::Program(body) => body
                .poll_chunk(cx)
                .map(|chunk| chunk.map(|chunk| chunk.map(Frame::data))),
            Self::File(body) => body.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(full) => full.is_end_stream(),
            Self::Program(body) => body.is_complete(),
            Self::File(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(full) => full.size_hint(),
            Self::Program(body) => body
                .remaining()
                .map_or_else(SizeHint::default, SizeHint::with_exact),
            Self::File(body) => body.size_hint(),
        }
    }
}
