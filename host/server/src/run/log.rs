//! One event per request, and the program's standard error. What is nobody's fault is logged at `debug`: at
//! thousands a second successes would be the most expensive part of an answer, and each has its record.

use warmbin_store::{Record, RecordDetail};

/// Lines of standard error that are logged per request. The record has them all, up to its limit; a log is shared, and
/// a program must not be able to drown what others say in it.
const LOGGED_LINES: usize = 100;

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
    let mut lines = detail.stderr.lines().filter(|line| !line.is_empty());
    for line in lines.by_ref().take(LOGGED_LINES) {
        tracing::info!(target: "guest", { request.id = id, program.name = program }, "{line}");
    }
    let more = lines.count();
    if more > 0 {
        tracing::info!(
            target: "guest",
            { request.id = id, program.name = program },
            "(and {more} lines more, in the record)"
        );
    }
    if detail.stderr_truncated {
        tracing::info!(
            target: "guest",
            { request.id = id, program.name = program },
            "(standard error is cut here)"
        );
    }
}
