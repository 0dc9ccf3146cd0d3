//! One request, as an executor needs it.

use std::ffi::OsString;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::Stream;
use warmbin_cgi::Environment;

use crate::limits::Limits;
use crate::mode::Mode;
use crate::runnable::Runnable;

/// One program run: what, how, with which environment, body and limits.
#[derive(Debug)]
pub struct Invocation {
    /// The request id, for spans.
    pub request_id: Arc<str>,
    /// What to run.
    pub runnable: Arc<Runnable>,
    /// How to run it; the caller has checked that the runnable supports it.
    pub mode: Mode,
    /// The meta-variables and configured variables: the whole environment of the program.
    pub environment: Environment,
    /// Arguments after `argv[0]`: the configured ones, then those of an indexed query (RFC 3875 §4.4).
    pub arguments: Vec<OsString>,
    /// The request body, delivered on standard input.
    pub body: Body,
    /// What it may use.
    pub limits: Arc<Limits>,
}

/// The request body. The program sees end of file after its last byte.
#[derive(Default)]
pub enum Body {
    /// No body: standard input is at end of file at once.
    #[default]
    Empty,
    /// A body that arrives while the program runs. A slow program slows the stream.
    Stream(Pin<Box<dyn Stream<Item = Result<Bytes, BodyError>> + Send>>),
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "Body::Empty",
            Self::Stream(_) => "Body::Stream",
        })
    }
}

/// Why a request body broke off. The program is stopped: a cut body must not look complete.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The connection ended or the framing was broken.
    #[error("the client broke off its request body: {0}")]
    Client(String),
    /// More bytes than the body limit arrived.
    #[error("the request body is larger than the limit of {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
}
