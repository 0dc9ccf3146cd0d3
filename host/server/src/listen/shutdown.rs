//! The signals that end a host.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels the returned token at the first SIGTERM or SIGINT. A second one ends the process at once, as
/// whoever sends it has waited long enough.
pub fn on_signal() -> io::Result<CancellationToken> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stop = CancellationToken::new();
    let token = stop.clone();
    tokio::spawn(async move {
        for round in 0.. {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if round > 0 {
                tracing::warn!(target: "warmbin", "told to stop twice: leaving at once");
                #[expect(
                    clippy::exit,
                    reason = "the orderly way is under way and too slow for the operator"
                )]
                std::process::exit(1);
            }
            tracing::info!(target: "warmbin", "stopping");
            token.cancel();
        }
    });
    Ok(stop)
}
