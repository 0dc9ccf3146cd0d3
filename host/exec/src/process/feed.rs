//! A program's standard input: the request body, at the program's pace.

use std::io;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;

use crate::invocation::BodyError;
use crate::process::progress::Progress;
use crate::running::{StopReason, Stopper};

/// A request body on its way in.
pub(super) type Pieces = Pin<Box<dyn Stream<Item = Result<Bytes, BodyError>> + Send>>;

/// Feeds `body` into `stdin` and closes it, which is the program's end of file. A program that does not want the body
/// may close its end: the rest is dropped.
///
/// A body that broke off must not look complete: the program is stopped, and the pipe is returned, to be held open
/// until the program has left. So it is when the program is stopped for another reason.
pub(super) async fn feed(
    mut body: Pieces,
    mut stdin: pipe::Sender,
    progress: &Progress,
    stopper: &Stopper,
) -> Option<pipe::Sender> {
    let complete = tokio::select! {
        biased;
        () = stopper.cancelled() => false,
        complete = pour(&mut body, &mut stdin, progress, stopper) => complete,
    };
    (!complete).then_some(stdin)
}

/// Whether the pipe may be closed: the whole body went in, or the program took its end away.
async fn pour(body: &mut Pieces, stdin: &mut pipe::Sender, progress: &Progress, stopper: &Stopper) -> bool {
    while let Some(piece) = body.next().await {
        let Ok(piece) = piece else {
            stopper.stop(StopReason::RequestBody);
            return false;
        };
        if write(&piece, stdin, progress).await.is_err() {
            return true;
        }
    }
    true
}

async fn write(mut piece: &[u8], stdin: &mut pipe::Sender, progress: &Progress) -> io::Result<()> {
    while !piece.is_empty() {
        let written = stdin.write(piece).await?;
        progress.fed(written as u64);
        piece = piece.get(written..).unwrap_or_default();
    }
    Ok(())
}
