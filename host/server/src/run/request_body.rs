//! The request body on its way to the program.
//!
//! A body of known length is streamed. One of unknown length (chunked) is collected first, in memory and then
//! in a file without a name, so that `CONTENT_LENGTH` is true. What a program leaves unread is read and
//! dropped, within bounds: closing a connection on a client that still sends would take the answer away from
//! it.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::header::{EXPECT, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode, Version};
use http_body::{Body as HttpBody, Frame};
use http_body_util::BodyExt;
use tokio::time::Sleep;
use tokio_util::io::ReaderStream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use warmbin_exec::{Body, BodyError, Outcome, StopReason};

use super::refuse::Refusal;
use crate::config::limits::LimitValues;

/// The largest body that is collected in memory.
const IN_MEMORY: usize = 256 << 10;

/// What is read of a body that nobody wants.
const DRAINED: u64 = 64 << 20;

/// For how long.
const DRAINED_FOR: Duration = Duration::from_secs(5);

/// How long a client that asked before sending is kept waiting: a program that answers without reading (401,
/// 403) does so within it, and the upload never happens. Whether a process reads its pipe cannot be seen from
/// outside.
const HESITATION: Duration = Duration::from_millis(25);

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Whether the client sends its body only when it is told to. No other expectation is known, and HTTP/1.0 has none.
pub fn waits(version: Version, headers: &HeaderMap) -> bool {
    version > Version::HTTP_10
        && headers
            .get(EXPECT)
            .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// Refuses codings that are not taken off: a program would be given what it cannot know to be coded, and a server in front
/// may have another idea of where the body ends.
pub fn check_coding(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (None, _) => Ok(()),
        (Some(coding), None) if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => Ok(()),
        _ => Err(Refusal {
            close: true,
            ..Refusal::new(
                StatusCode::NOT_IMPLEMENTED,
                "This host knows one transfer coding, chunked, applied once.",
            )
        }),
    }
}

/// A body as the connection gives it.
pub struct ClientBody {
    frames: Pin<Box<dyn HttpBody<Data = Bytes, Error = BoxError> + Send>>,
    length: Option<u64>,
    /// What is missing of that length.
    missing: Option<u64>,
    /// The client waits for "100 Continue", which is sent when the body is first polled.
    waits: bool,
    touched: bool,
    ended: bool,
}

impl std::fmt::Debug for ClientBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientBody")
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

impl ClientBody {
    /// Wraps a body; `None` if it is empty. `waits` if the client sent `Expect: 100-continue`.
    pub fn new<B>(body: B, waits: bool) -> Option<Self>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        if body.is_end_stream() {
            return None;
        }
        let length = body.size_hint().exact();
        Some(Self {
            frames: Box::pin(body.map_err(Into::into)),
            length,
            missing: length,
            waits,
            touched: false,
            ended: false,
        })
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        self.touched = true;
        loop {
            // A client of HTTP/2 may hold back the end of its stream. A program that reads to the end must not wait for it.
            if self.missing == Some(0) {
                self.ended = true;
                return Poll::Ready(None);
            }
            let frame: Option<Result<Frame<Bytes>, BoxError>> =
                std::task::ready!(self.frames.as_mut().poll_frame(cx));
            match frame {
                // Trailers are not the program's.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(chunk) => {
                        self.missing = self
                            .missing
                            .map(|missing| missing.saturating_sub(chunk.len() as u64));
                        return Poll::Ready(Some(Ok(chunk)));
                    }
                    Err(_trailers) => {}
                },
                Some(Err(error)) => {
                    self.ended = true;
                    return Poll::Ready(Some(Err(BodyError::Client(error.to_string()))));
                }
                None => {
                    self.ended = true;
                    return Poll::Ready(None);
                }
            }
        }
    }

    async fn chunk(&mut self) -> Option<Result<Bytes, BodyError>> {
        std::future::poll_fn(|cx| self.poll_chunk(cx)).await
    }
}

/// The "100 Continue" that a client waits for.
#[derive(Debug, Clone, Default)]
pub struct Invitation {
    /// Nobody needs to hesitate any more.
    due: CancellationToken,
    /// The body has been asked for, and so the client.
    sent: CancellationToken,
}

impl Invitation {
    /// Sends it, if the program reads at all: one that begins its answer before it reads its input still wants the input,
    /// and once the answer's head has left it is too late.
    pub async fn send(&self) {
        self.due.cancel();
        if tokio::time::timeout(HESITATION, self.sent.cancelled())
            .await
            .is_ok()
        {
            // The connection looks for it before it looks for the answer again.
            tokio::task::yield_now().await;
        }
    }
}

/// While a client that waits for "100 Continue" is kept waiting.
struct Hesitation {
    over: Pin<Box<Sleep>>,
    due: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Hesitation {
    fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match Future::poll(self.due.as_mut(), cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => Future::poll(self.over.as_mut(), cx),
        }
    }
}

/// Whether it is the client that everybody waits for; never where there is nothing to wait for.
#[derive(Debug, Clone, Default)]
pub struct Awaited(Option<Arc<AtomicBool>>);

impl Awaited {
    /// Why a program was stopped that had not answered: the client's doing if the program wanted more of the body.
    pub fn explain(&self, reason: StopReason) -> Refusal {
        let ran_out = matches!(reason, StopReason::Idle | StopReason::Wall);
        if ran_out
            && self
                .0
                .as_ref()
                .is_some_and(|pending| pending.load(Ordering::Relaxed))
        {
            too_slow()
        } else {
            Refusal::stopped(reason)
        }
    }

    fn note(&self, is_pending: bool) {
        if let Some(pending) = &self.0 {
            pending.store(is_pending, Ordering::Relaxed);
        }
    }
}

/// A body being delivered. Dropped early, it sees to the rest.
struct Delivery {
    body: Option<ClientBody>,
    awaited: Awaited,
    invitation: Option<Invitation>,
    hesitation: Option<Hesitation>,
}

impl Delivery {
    fn new(body: ClientBody) -> Self {
        let invitation = body.waits.then(Invitation::default);
        Self {
            hesitation: invitation.as_ref().map(|invitation| Hesitation {
                over: Box::pin(tokio::time::sleep(HESITATION)),
                due: Box::pin(invitation.due.clone().cancelled_owned()),
            }),
            invitation,
            awaited: Awaited(Some(Arc::default())),
            body: Some(body),
        }
    }
}

impl Stream for Delivery {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(hesitation) = &mut self.hesitation {
            std::task::ready!(hesitation.poll_over(cx));
            self.hesitation = None;
        }
        let polled = match &mut self.body {
            Some(body) if !body.ended => body.poll_chunk(cx),
            _ => Poll::Ready(None),
        };
        self.awaited.note(polled.is_pending());
        if let Some(invitation) = self.invitation.take() {
            invitation.sent.cancel();
        }
        polled
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        drain(self.body.take());
    }
}

/// Reads and drops what no program took, so that the answer arrives; unless the client has not begun to send it.
pub fn drain(body: Option<ClientBody>) {
    let Some(mut body) = body else { return };
    if body.ended || (body.waits && !body.touched) {
        return;
    }
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return;
    };
    runtime.spawn(tokio::time::timeout(DRAINED_FOR, async move {
        let mut left = DRAINED;
        while let Some(Ok(chunk)) = body.chunk().await {
            let Some(rest) = left.checked_sub(chunk.len() as u64) else {
                return;
            };
            left = rest;
        }
    }));
}

/// A body that a program may be given.
#[derive(Debug, Default)]
pub struct Admitted {
    /// What it reads.
    pub body: Body,
    /// Its length, if there is a body.
    pub length: Option<u64>,
    /// What the client still waits for.
    pub invitation: Option<Invitation>,
    /// Whether the program waits for the client.
    pub awaited: Awaited,
}

/// Admits `body`, which may take as long as it takes to collect it.
pub async fn admit(
    body: Option<ClientBody>,
    limits: &LimitValues,
    spool_in: &Path,
) -> Result<Admitted, Refusal> {
    let Some(body) = body else {
        return Ok(Admitted::default());
    };
    let limit = limits.request_body.0;
    let mut delivery = Delivery::new(body);
    let Some(body) = &mut delivery.body else {
        return Ok(Admitted::default());
    };
    match body.length {
        Some(length) if length > limit => Err(too_large(limit)),
        Some(length) => Ok(Admitted {
            invitation: delivery.invitation.clone(),
            awaited: delivery.awaited.clone(),
            body: Body::Stream(Box::pin(delivery)),
            length: Some(length),
        }),
        None => {
            let spooled = spool(body, limit, limits.idle.0, spool_in);
            // The idle limit alone would let a body drip for ever.
            tokio::time::timeout(limits.wall.0, spooled)
                .await
                .unwrap_or_else(|_| Err(too_slow()))
        }
    }
}

fn too_large(limit: u64) -> Refusal {
    Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("The request body is larger than the limit of {limit} bytes."),
    )
}

fn too_slow() -> Refusal {
    let mut refusal = Refusal::new(
        StatusCode::REQUEST_TIMEOUT,
        "The request body did not arrive in time.",
    );
    refusal.outcome = Outcome::Timeout;
    refusal.close = true;
    refusal
}

async fn spool(
    body: &mut ClientBody,
    limit: u64,
    idle: Duration,
    folder: &Path,
) -> Result<Admitted, Refusal> {
    let mut length = 0;
    let mut memory = Vec::new();
    let mut file: Option<File> = None;
    loop {
        let chunk = match tokio::time::timeout(idle, body.chunk()).await {
            Ok(None) => break,
            Ok(Some(Ok(chunk))) => chunk,
            Ok(Some(Err(error))) => {
                let mut refusal = Refusal::new(StatusCode::BAD_REQUEST, "The request body broke off.");
                refusal.outcome = Outcome::ClientGone;
                refusal.internal = Some(error.to_string());
                return Err(refusal);
            }
            Err(_) => return Err(too_slow()),
        };
        length += chunk.len() as u64;
        if length > limit {
            return Err(too_large(limit));
        }
        memory.extend_from_slice(&chunk);
        if memory.len() > IN_MEMORY {
            file = Some(
                append(file.take(), std::mem::take(&mut memory), folder)
                    .await
                    .map_err(no_room)?,
            );
        }
    }
    let Some(file) = file else {
        let whole = stream::once(std::future::ready(Ok(Bytes::from(memory))));
        return Ok(Admitted {
            body: if length == 0 {
                Body::Empty
            } else {
                Body::Stream(Box::pin(whole))
            },
            length: Some(length),
            ..Admitted::default()
        });
    };
    let mut file = append(Some(file), memory, folder).await.map_err(no_room)?;
    file.rewind().map_err(no_room)?;
    let pieces = ReaderStream::with_capacity(tokio::fs::File::from_std(file), 64 << 10);
    let pieces =
        pieces.map(|piece| piece.map_err(|error| BodyError::Client(format!("the spooled body: {error}"))));
    Ok(Admitted {
        body: Body::Stream(Box::pin(pieces)),
        length: Some(length),
        ..Admitted::default()
    })
}

/// Appends `bytes` to `file`, which is made if need be. It has no name: nothing is left behind whatever
/// happens.
async fn append(file: Option<File>, bytes: Vec<u8>, folder: &Path) -> io::Result<File> {
    let folder = folder.to_owned();
    let written = tokio::task::spawn_blocking(move || {
        let mut file = match file {
            Some(file) => file,
            None => tempfile::tempfile_in(folder)?,
        };
        file.write_all(&bytes)?;
        Ok(file)
    });
    written.await.map_err(io::Error::other)?
}

#[expect(clippy::needless_pass_by_value, reason = "the shape map_err wants")]
fn no_room(error: io::Error) -> Refusal {
    Refusal::failed(
        StatusCode::SERVICE_UNAVAILABLE,
        Outcome::SpawnFailed,
        format!("cannot keep the request body: {error}"),
    )
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures_util::StreamExt;
    use http_body::Frame;
    use http_body_util::{Full, StreamBody};
    use warmbin_exec::Body;

    use super::{ClientBody, IN_MEMORY, admit};
    use crate::config::limits::LimitValues;
    use crate::config::quantity::Size;

    fn limits(request_body: u64) -> LimitValues {
        LimitValues {
            request_body: Size(request_body),
            ..LimitValues::default()
        }
    }

    /// A body of unknown length that comes in pieces of 1,000 bytes.
    fn chunked(bytes: &[u8]) -> Option<ClientBody> {
        let pieces: Vec<_> = bytes.chunks(1000).map(Bytes::copy_from_slice).collect();
        let frames = futures_util::stream::iter(
            pieces
                .into_iter()
                .map(|piece| Ok::<_, std::io::Error>(Frame::data(piece))),
        );
        ClientBody::new(StreamBody::new(frames), false)
    }

    async fn collect(body: Body) -> Vec<u8> {
        let Body::Stream(mut stream) = body else {
            return Vec::new();
        };
        let mut bytes = Vec::new();
        while let Some(piece) = stream.next().await {
            bytes.extend_from_slice(&piece.unwrap());
        }
        bytes
    }

    #[tokio::test]
    async fn a_chunked_body_is_whole_and_its_length_true_in_memory_and_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        for length in [1, IN_MEMORY, IN_MEMORY + 1, 3 * IN_MEMORY + 17] {
            let sent: Vec<u8> = (0..length).map(|i| u8::try_from(i % 251).unwrap()).collect();
            let admitted = admit(chunked(&sent), &limits(1 << 20), folder.path())
                .await
                .unwrap();
            assert_eq!(admitted.length, Some(length as u64));
            assert!(collect(admitted.body).await == sent, "{length}");
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_stated_length_ends_a_body_that_goes_on() {
        struct Held;
        impl http_body::Body for Held {
            type Data = Bytes;
            type Error = std::io::Error;

            fn poll_frame(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
                std::task::Poll::Pending
            }

            fn size_hint(&self) -> http_body::SizeHint {
                http_body::SizeHint::with_exact(0)
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let admitted = admit(ClientBody::new(Held, false), &limits(4), folder.path())
            .await
            .unwrap();
        assert_eq!(
            (collect(admitted.body).await, admitted.length),
            (Vec::new(), Some(0))
        );
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_refused_whether_its_length_is_known_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let known = ClientBody::new(Full::new(Bytes::from_static(b"12345")), false);
        for body in [known, chunked(b"12345")] {
            let refusal = admit(body, &limits(4), folder.path()).await.unwrap_err();
            assert_eq!(refusal.status, 413);
        }
        let admitted = admit(chunked(b"1234"), &limits(4), folder.path()).await.unwrap();
        assert_eq!(
            (collect(admitted.body).await, admitted.length),
            (b"1234".to_vec(), Some(4))
        );
    }
}
