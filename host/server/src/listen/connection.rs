//! One connection: HTTP/1.1, or HTTP/2 by prior knowledge.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body::Body;
use hyper::body::Incoming;
use hyper::service::{HttpService, Service};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::Watcher;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::reset::Resettable;

/// How long a client may take to send a request's head, and may keep an idle connection.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of a request's head; beyond it 431.
const MAX_HEADER_BYTES: usize = 128 << 10;

/// Fields of a request's head; beyond it 431.
const MAX_HEADERS: usize = 512;

/// HTTP/2 streams of one connection at once.
const MAX_STREAMS: u32 = 250;

/// A service that answers on a connection.
pub(super) trait Serves:
    Service<
        Request<Incoming>,
        Response = Response<Self::Body>,
        Error = std::convert::Infallible,
        Future: Send,
    > + HttpService<Incoming, ResBody = Self::Body>
    + Send
    + Sync
    + 'static
{
    /// The response body.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static;
}

impl<S, B> Serves for S
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = std::convert::Infallible, Future: Send>
        + Send
        + Sync
        + 'static,
    B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
{
    type Body = B;
}

/// Serves `stream` until either side ends it. `cut` ends it at once.
pub(super) async fn serve<S: Serves>(
    stream: TcpStream,
    service: S,
    watcher: Watcher,
    cut: CancellationToken,
) {
    let seen = Arc::new(Seen::default());
    let service = Noticing {
        service,
        seen: Arc::clone(&seen),
    };
    let (stream, reset) = Resettable::new(stream);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADER_BYTES)
        .max_headers(MAX_HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(MAX_HEADER_BYTES).unwrap_or(u32::MAX))
        .max_concurrent_streams(MAX_STREAMS)
        .keep_alive_interval(HEADER_TIMEOUT);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let served = std::pin::pin!(watcher.watch(connection));
    // Telling the two protocols apart is not under the header timeout: a client that never says which must
    // not stay for ever.
    let silent = async {
        tokio::time::sleep(HEADER_TIMEOUT * 2).await;
        if seen.a_request.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        ended = served => {
            if let Err(error) = ended {
                let is_body = error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_user);
                reset.store(is_body && seen.http_1_0.load(Ordering::Relaxed), Ordering::Relaxed);
                tracing::debug!(target: "http", "a connection ended: {error}");
            }
        }
        () = silent => tracing::debug!(target: "http", "a connection made no request"),
        () = cut.cancelled() => {}
    }
}

/// What came on a connection.
#[derive(Debug, Default)]
struct Seen {
    a_request: AtomicBool,
    /// Whether the last request was of that version, so that its answer may end with the connection.
    http_1_0: AtomicBool,
}

/// Notices requests.
struct Noticing<S> {
    service: S,
    seen: Arc<Seen>,
}

impl<S: Service<Request<Incoming>>> Service<Request<Incoming>> for Noticing<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, request: Request<Incoming>) -> S::Future {
        self.seen.a_request.store(true, Ordering::Relaxed);
        let is_http_1_0 = request.version() == Version::HTTP_10;
        self.seen.http_1_0.store(is_http_1_0, Ordering::Relaxed);
        self.service.call(request)
    }
}
