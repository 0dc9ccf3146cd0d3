//! `/metrics`: Prometheus text. Counted from the recorder's live events in one task, so a request's path
//! never meets it.
//!
//! Open to this very machine; from elsewhere, and through a proxy, it needs a token or a session.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::State;
use axum::response::IntoResponse;
use http::header::CONTENT_TYPE;
use metrics::{
    counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram, with_local_recorder,
};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use tokio::sync::broadcast::error::RecvError;
use warmbin_store::Record;

use super::problem::Problem;
use super::state::Admin;
use crate::host::Host;

/// Upper bounds of the duration histogram, seconds.
const BUCKETS: [f64; 14] = [
    0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0,
];

/// How often samples are folded into buckets when nobody asks.
const UPKEEP: Duration = Duration::from_secs(5);

/// What stands for all drop-in programs of a folder: their names are too many and too short-lived for labels.
const DROP_IN: &str = "(drop-in)";

/// What has been counted.
#[derive(Clone)]
pub(super) struct Metrics {
    recorder: Arc<PrometheusRecorder>,
    handle: PrometheusHandle,
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}

impl Metrics {
    /// Counts what the host finishes from now on, until it shuts down.
    pub(super) fn start(host: &Host) -> Self {
        let builder = PrometheusBuilder::new();
        // Fails only for an empty list; without buckets durations would be summaries, which is less useful
        // and not wrong.
        let builder = builder
            .set_buckets(&BUCKETS)
            .unwrap_or_else(|_| PrometheusBuilder::new());
        let recorder = builder.build_recorder();
        let metrics = Self {
            handle: recorder.handle(),
            recorder: Arc::new(recorder),
        };
        metrics.describe();
        let mut events = host.recorder.subscribe();
        let (counting, shutdown) = (metrics.clone(), host.shutdown.clone());
        tokio::spawn(async move {
            let mut upkeep = tokio::time::interval(UPKEEP);
            loop {
                tokio::select! {
                    event = events.recv() => match event {
                        Ok(event) => counting.count(&event.record),
                        Err(RecvError::Lagged(missed)) => counting.miss(missed),
                        Err(RecvError::Closed) => return,
                    },
                    _ = upkeep.tick() => counting.handle.run_upkeep(),
                    () = shutdown.cancelled() => return,
                }
            }
        });
        metrics
    }

    fn describe(&self) {
        with_local_recorder(&*self.recorder, || {
            describe_counter!("warmbin_requests_total", "Finished requests");
            describe_counter!(
                "warmbin_requests_uncounted_total",
                "Finished requests that the other counters missed"
            );
            describe_histogram!(
                "warmbin_request_duration_seconds",
                "From routed to the last byte handed over"
            );
            describe_gauge!("warmbin_in_flight", "Requests running now");
            describe_gauge!("warmbin_recorder_backlog", "Records not yet written");
            describe_counter!("warmbin_recorder_written_total", "Records written");
            describe_counter!("warmbin_recorder_lost_total", "Records that could not be kept");
            describe_gauge!(
                "warmbin_pool_target",
                "Instances the warm pool means to keep ready"
            );
            describe_gauge!("warmbin_pool_ready", "Instances ready now");
            describe_gauge!("warmbin_pool_busy", "Instances running now");
            describe_counter!("warmbin_pool_hits_total", "Requests that found a ready instance");
            describe_counter!("warmbin_pool_misses_total", "Requests that took the cold path");
        });
    }

    fn count(&self, record: &Record) {
        let program = match record.version {
            Some(_) => record.program.clone(),
            None => DROP_IN.to_owned(),
        };
        let (mode, outcome) = (record.mode.clone(), record.outcome.clone());
        with_local_recorder(&*self.recorder, || {
            histogram!("warmbin_request_duration_seconds", "mode" => mode.clone())
                .record(Duration::from_micros(record.total_us));
            counter!("warmbin_requests_total", "program" => program, "mode" => mode, "outcome" => outcome)
                .increment(1);
        });
    }

    fn miss(&self, missed: u64) {
        with_local_recorder(&*self.recorder, || {
            counter!("warmbin_requests_uncounted_total").increment(missed);
        });
    }

    /// The text, with what is only known by asking brought up to date.
    fn render(&self, host: &Host) -> String {
        let stats = host.recorder.stats();
        with_local_recorder(&*self.recorder, || {
            gauge!("warmbin_in_flight").set(float(host.in_flight.load(Ordering::Relaxed)));
            gauge!("warmbin_recorder_backlog").set(float(stats.backlog));
            counter!("warmbin_recorder_written_total").absolute(stats.written);
            counter!("warmbin_recorder_lost_total").absolute(stats.lost);
            for entry in host.catalog.entries() {
                let Some(module) = &entry.runnable.wasm else {
                    continue;
                };
                let (pool, program) = (module.pool(), entry.name.to_string());
                gauge!("warmbin_pool_target", "program" => program.clone()).set(f64::from(pool.target));
                gauge!("warmbin_pool_ready", "program" => program.clone()).set(f64::from(pool.ready));
                gauge!("warmbin_pool_busy", "program" => program.clone()).set(f64::from(pool.busy));
                counter!("warmbin_pool_hits_total", "program" => program.clone()).absolute(pool.hits);
                counter!("warmbin_pool_misses_total", "program" => program).absolute(pool.misses);
            }
        });
        self.handle.render()
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "gauges are floating point; counts stay far below 2^53"
)]
fn float(count: u64) -> f64 {
    count as f64
}

/// Metrics for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "health", operation_id = "metrics",
    responses(
        (status = OK, description = "Prometheus text. Open to the host's own machine, unless a proxy passed the request on", body = String, content_type = "text/plain"),
        (status = UNAUTHORIZED, description = "From elsewhere, without a token", body = super::problem::Document, content_type = "application/problem+json")
    ))]
pub(super) async fn get(State(admin): State<Arc<Admin>>) -> Result<impl IntoResponse, Problem> {
    let text = admin.metrics.render(&admin.host);
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text))
}
