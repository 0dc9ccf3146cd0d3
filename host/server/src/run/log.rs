//! One event per request, and the program's standard error. What is nobody's fault is logged at `debug`: at
//! thousands a second successes would be the most expensive part of an answer, and each has its record.

use warmbin_store::{Record, RecordDetail};

/// Logs a finished request.
pub(super) fn request(record: &Record, detail: &RecordDetail) {
    let Record {
        id,
        program,
        mode,
        method,
        path,
        status,
        outcome,
        total_us,
        ..
    } = record;
    let error = record.error.as_deref().unwrap_or_default();
    if outcome == "ok" || outcome == "client_gone" {
        tracing::debug!(
            target: "http",
            { request.id = id, program.name = program, mode, duration_us = total_us },
            "{method} {path} → {status}"
        );
    } else {
        tracing::warn!(
            target: "http",
            { request.id = id, program.name = program, mode, outcome, duration_us = total_us, error },
            "{method} {path} → {status} {outcome}"
        );
    }
    for line in detail.stderr.lines() {
        tracing::info!(target: "guest", { request.id = id, program.name = program }, "{line}");
    }
    if detail.stderr_truncated {
        tracing::info!(
            target: "guest",
            { request.id = id, program.name = program },
            "(standard error is cut here)"
        );
    }
}
