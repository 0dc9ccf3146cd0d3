//! The two listeners: accepting, bounding and ending connections.
//!
//! Owns: sockets, HTTP framing limits, connection counts, shutdown of connections. Must not know: routes,
//! programs, pages.

mod accept;
pub mod bind;
mod connection;
mod reset;
pub mod shutdown;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::service::TowerToHyperService;
use tokio_util::sync::CancellationToken;
use warmbin_exec::StopReason;

use crate::host::Host;
use crate::run::{self, ClientBody, Connection};

pub use bind::Listeners;

/// How long programs may take to end their answers once the host is told to stop.
const DRAIN: Duration = Duration::from_secs(7);

/// How long, after that, the answers of stopped programs may take to reach their clients.
const LAST_BYTES: Duration = Duration::from_secs(1);

/// The same for the admin listener, whose live streams would never end by themselves.
const ADMIN_DRAIN: Duration = Duration::from_millis(500);

/// How long the store may take for the last records.
const LAST_RECORDS: Duration = Duration::from_secs(3);

/// How long ended connections' programs are waited for, beside their grace.
const LAST_RUNS: Duration = Duration::from_secs(2);

/// Serves both listeners until `stop` is cancelled, then lets go of everything in order: no new connections,
/// then the answers under way, then the programs, then the records.
pub async fn serve(host: Arc<Host>, listeners: Listeners, admin: Router, stop: CancellationToken) {
    let permits = accept::connection_permits();
    let programs = accept::run(
        listeners.programs,
        Arc::clone(&permits),
        stop.clone(),
        DRAIN + LAST_BYTES,
        {
            let host = Arc::clone(&host);
            move |ends: Connection| {
                let host = Arc::clone(&host);
                service_fn(move |request: Request<Incoming>| {
                    let host = Arc::clone(&host);
                    async move {
                        let waits = run::request_body::waits(request.version(), request.headers());
                        let request = request.map(|body| ClientBody::new(body, waits));
                        Ok::<_, std::convert::Infallible>(run::answer(&host, &ends, request).await)
                    }
                })
            }
        },
    );
    // The dashboard has a share of its own: a flood of requests to programs must not lock the operator out.
    let admin = accept::run(
        listeners.admin,
        accept::connection_permits(),
        stop.clone(),
        ADMIN_DRAIN,
        move |ends| {
            let router = admin
                .clone()
                .layer(axum::Extension(axum::extract::ConnectInfo(ends.peer)));
            TowerToHyperService::new(router)
        },
    );
    let stopping = async {
        stop.cancelled().await;
        host.shutdown.cancel();
        tokio::time::sleep(DRAIN).await;
        // Before the connections are cut: a record then says that the host stopped the program, not that its client left.
        host.executors.stop_all(StopReason::Shutdown);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        _ = async { tokio::join!(programs, admin) } => {}
        () = stopping => {}
    }
    host.executors.stop_all(StopReason::Shutdown);
    host.runs.close();
    let ended = async {
        host.runs.wait().await;
        // Records are written when a program is reaped; what it left behind in its group takes longer to end.
        host.executors.idle().await;
    };
    let grace = host.catalog.longest_grace() + LAST_RUNS;
    if tokio::time::timeout(grace, ended).await.is_err() {
        let left = host.executors.running_count();
        tracing::warn!(target: "warmbin", "{left} programs did not end in time and are killed");
    }
    // A store that fails must not hold the process up: its records go to the spill file.
    host.recorder.close(LAST_RECORDS).await;
    tracing::info!(target: "warmbin", "stopped");
}
