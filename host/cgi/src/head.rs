//! From a program's output to a response head (RFC 3875 §6).
//!
//! Owns: what a header block may hold and what it means. Must not know: where the output comes from, nor how the head
//! is sent.
//!
//! Where the RFC leaves a choice, or programs differ from it:
//! * Lines end in LF or CR LF, also mixed. A line that begins with white space (obsolete folding) is refused.
//! * Names are compared without case, in any order. One that no HTTP field may have but that does no harm
//!   (`<!--`, which Python's cgitb prints) is dropped and noted; one with a space, a NUL or another control character
//!   is refused, and so is a value with a control character.
//! * A first line `HTTP/1.1 404 Gone away` counts as a Status; a Status field overrides it.
//! * A block whose status is 1xx is an interim response: it is dropped and noted, and the next block counts. All of them
//!   together are held against the limits. 101 is refused: the program cannot speak another protocol.
//! * A program may also print a whole HTTP response ([`HeadStyle::WholeResponse`], RFC 3875 §5): then nothing is
//!   required, no redirect is local, and `Transfer-Encoding: chunked` is a statement about the body.
//! * Of a field that may be there only once, such as Content-Type, the last counts. An empty Content-Type or Location
//!   is dropped and noted.
//! * X-Sendfile counts as the statement of a document whose type the file has.
//! * A Last-Modified or Date that is no date is dropped and noted: a reader might take it for 1970. One in the form of
//!   mail is put right.
//! * A Content-Length that is no number, or two that differ, is dropped and noted.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

mod date;
mod draft;
mod parser;
mod status;

pub use parser::HeadParser;

/// The field by which a program names a file to be sent in the place of its body. Common to several servers; in no
/// standard.
pub const X_SENDFILE: HeaderName = HeaderName::from_static("x-sendfile");

/// How a program's output begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HeadStyle {
    /// With a header block that the server completes.
    #[default]
    Parsed,
    /// With the head of a whole HTTP response: the program's header is not parsed (NPH), and here it is taken apart all
    /// the same, so that the server can frame the body for any version of HTTP.
    WholeResponse,
}

/// What a header block may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadLimits {
    /// Bytes of the whole block, the blank line included.
    pub block: usize,
    /// Bytes of one line, without its end.
    pub line: usize,
    /// Lines, without the blank one.
    pub lines: usize,
}

impl Default for HeadLimits {
    fn default() -> Self {
        Self {
            block: 64 << 10,
            line: 16 << 10,
            lines: 256,
        }
    }
}

/// Where the parser stands.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is taken apart where it is returned; a box would be one more allocation for every request"
)]
pub enum Progress {
    /// The block is not complete.
    More,
    /// The block is complete; `rest` is the beginning of the body.
    Complete {
        /// The head.
        head: ResponseHead,
        /// What followed the blank line in the last piece.
        rest: Bytes,
    },
}

/// A response head, ready for HTTP.
#[derive(Debug, Clone)]
pub struct ResponseHead {
    /// Which of the response kinds of RFC 3875 §6.2 this is.
    pub kind: ResponseKind,
    /// The status: as given, or 200, or 302 for a Location without one.
    pub status: StatusCode,
    /// The reason phrase the program gave, for HTTP/1.
    pub reason: Option<String>,
    /// The fields to be sent: hop-by-hop ones, Status and Content-Length removed, repeated ones kept in order. Location
    /// is among them in every kind of redirect, so that a local one can also be left to the client.
    pub headers: HeaderMap,
    /// The body's length, if the program stated one that is a number.
    pub content_length: Option<u64>,
    /// The body comes in chunks (RFC 9112 §7.1), which are not part of it. Only in whole responses.
    pub chunked: bool,
    /// Lines that were tolerated but dropped (an odd name), for the log.
    pub dropped: Vec<String>,
}

impl ResponseHead {
    /// The head of a document of this type, and nothing else.
    pub fn document(content_type: HeaderValue) -> Self {
        Self {
            kind: ResponseKind::Document,
            status: StatusCode::OK,
            reason: None,
            headers: HeaderMap::from_iter([(CONTENT_TYPE, content_type)]),
            content_length: None,
            chunked: false,
            dropped: Vec::new(),
        }
    }
}

/// The response kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseKind {
    /// A document.
    Document,
    /// A redirect for the client to follow.
    ClientRedirect,
    /// A path on this host (with query), to be answered in place: Location was the sole field, begins with one slash,
    /// and holds nothing that a request target may not. The status is 302, for hosts that leave it to the client.
    LocalRedirect(String),
}

/// Why a header block is refused. For the record and the log; the client gets a bare 502.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// Nothing was written.
    #[error("the program wrote nothing")]
    Empty,
    /// The output ended inside the block.
    #[error("the output ended before the blank line that ends the header block")]
    Incomplete,
    /// A line that is no field.
    #[error("line {line} of the header block has no colon: {text:?}")]
    NoColon {
        /// Its number, from 1.
        line: usize,
        /// Its beginning.
        text: String,
    },
    /// A field with a bad name or value.
    #[error("line {line} of the header block is malformed: {why}: {text:?}")]
    BadField {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        why: &'static str,
        /// Its beginning.
        text: String,
    },
    /// A Status that is neither 200–599 nor that of an interim response.
    #[error("the status {0:?} is not a number from 200 to 599")]
    BadStatus(String),
    /// None of Content-Type, Location and Status (nor X-Sendfile, which implies them).
    #[error("the header block has none of Content-Type, Location and Status")]
    NoRequiredField,
    /// Transfer-Encoding, which is the server's business.
    #[error("the program set Transfer-Encoding, which only the server may")]
    TransferEncoding,
    /// A limit was passed.
    #[error("the header block is over the limit of {limit} {what}")]
    OverLimit {
        /// "bytes", "bytes in a line" or "lines".
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

#[cfg(test)]
mod tests;
