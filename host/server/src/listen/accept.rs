//! The accept loop.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::server::graceful::GracefulShutdown;
use rustix::net::sockopt::set_tcp_user_timeout;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::{self, Serves};
use crate::run::Connection;

/// After a failure to accept (no descriptors left), how long to wait for things to get better.
const BREATH: Duration = Duration::from_millis(50);

/// How long sent bytes may stay unacknowledged, or a client's window closed, in milliseconds.
const UNTAKEN_MS: u32 = 60_000;

/// Connections a listener may hold at once: a share of the descriptors this process may have, as programs
/// need some too. Further clients wait in the kernel's queue.
pub(super) fn connection_permits() -> Arc<Semaphore> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile)
        .current
        .unwrap_or(1 << 20);
    Arc::new(Semaphore::new(
        usize::try_from(limit / 3).unwrap_or(usize::MAX).clamp(8, 8192),
    ))
}

/// Accepts until `stop`, then waits at most `drain` for the connections to end and cuts the rest off.
pub(super) async fn run<F, S>(
    listener: TcpListener,
    permits: Arc<Semaphore>,
    stop: CancellationToken,
    drain: Duration,
    service: F,
) where
    F: Fn(Connection) -> S,
    S: Serves,
{
    let graceful = GracefulShutdown::new();
    let cut = CancellationToken::new();
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        let (stream, ends, permit) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(target: "http", "cannot accept a connection: {error}");
                tokio::time::sleep(BREATH).await;
                continue;
            }
        };
        let served = connection::serve(stream, service(ends), graceful.watcher(), cut.clone());
        connections.spawn(async move {
            served.await;
            drop(permit);
        });
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(drain, graceful.shutdown()).await.is_err() {
        cut.cancel();
    }
    connections.wait().await;
}

async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> io::Result<(
    tokio::net::TcpStream,
    Connection,
    tokio::sync::OwnedSemaphorePermit,
)> {
    let permit = Arc::clone(permits)
        .acquire_owned()
        .await
        .map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    // Small answers must not wait for an acknowledgement of the previous packet.
    let _ = stream.set_nodelay(true);
    // A client that takes nothing any more, but keeps its end open, would otherwise hold its connection for ever: what
    // is left in buffers is nobody's to time.
    let _ = set_tcp_user_timeout(&stream, UNTAKEN_MS);
    let local = stream.local_addr()?;
    Ok((stream, Connection { peer, local }, permit))
}
