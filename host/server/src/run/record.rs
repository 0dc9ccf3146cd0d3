//! The account of one program run: opened when the request is routed, closed when everything about it is
//! known. Whatever happens in between, dropping it writes the record, so that every request to a program has
//! exactly one.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http::{HeaderMap, StatusCode};
use tokio_util::task::task_tracker::TaskTrackerToken;
use warmbin_cgi::Environment;
use warmbin_exec::{Exit, Finished, Mode, Outcome};
use warmbin_store::{Record, RecordDetail, ResponseField};

use super::environment::shown;
use super::exit::error_text;
use super::refuse::Refusal;
use crate::catalog::{Entry, Slot};
use crate::host::{Host, now_us};

/// Recorded as the status when the client left before there was one.
const CLIENT_LEFT: u16 = 499;

/// When the phases of a run ended.
#[derive(Debug, Clone, Copy)]
struct Marks {
    routed: Instant,
    granted: Option<Instant>,
    started: Option<Instant>,
    head: Option<Instant>,
    output_end: Option<Instant>,
    finished: Option<Instant>,
    /// When the last byte was handed to the connection.
    delivered: Option<Instant>,
}

/// The phases, in order, and the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Phases {
    /// Routed → slot granted.
    pub queue: Duration,
    /// → program can run.
    pub start: Duration,
    /// → header block complete.
    pub head: Duration,
    /// → end of output.
    pub body: Duration,
    /// → reaped.
    pub exit: Duration,
    /// Routed → last byte handed over.
    pub total: Duration,
}

impl Marks {
    /// The phases as of `now`. A run that did not get to the end of a phase spent the rest of its time in it.
    fn phases(&self, now: Instant) -> Phases {
        let end = self.delivered.unwrap_or(now);
        let mut phases = Phases {
            total: end.saturating_duration_since(self.routed),
            ..Phases::default()
        };
        let mut before = self.routed;
        for (phase, mark) in [
            (&mut phases.queue, self.granted),
            (&mut phases.start, self.started),
            (&mut phases.head, self.head),
            (&mut phases.body, self.output_end),
            (&mut phases.exit, self.finished),
        ] {
            *phase = mark.unwrap_or(end).saturating_duration_since(before);
            let Some(mark) = mark else { break };
            before = mark;
        }
        phases
    }
}

/// What is asked of a program, as recorded.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The method.
    pub method: &'a str,
    /// The path, without the query.
    pub path: &'a str,
    /// The query.
    pub query: &'a str,
    /// The client.
    pub remote_addr: IpAddr,
}

/// The account of one program run.
#[derive(Debug)]
pub struct Account {
    host: Arc<Host>,
    entry: Arc<Entry>,
    id: Arc<str>,
    mode: Mode,
    started_at: i64,
    method: String,
    path: String,
    query: String,
    remote_addr: IpAddr,
    marks: Marks,
    slot: Option<Slot>,
    status: Option<u16>,
    outcome: Option<Outcome>,
    error: Option<String>,
    response_bytes: u64,
    response_head: Vec<ResponseField>,
    environment: Environment,
    finished: Option<Finished>,
    _run: TaskTrackerToken,
}

impl Account {
    /// Opens an account: the request is routed now.
    pub fn open(host: &Arc<Host>, entry: &Arc<Entry>, id: Arc<str>, mode: Mode, asked: &Asked<'_>) -> Self {
        host.in_flight.fetch_add(1, Ordering::Relaxed);
        Self {
            host: Arc::clone(host),
            entry: Arc::clone(entry),
            id,
            mode,
            started_at: now_us(),
            method: asked.method.to_owned(),
            path: asked.path.to_owned(),
            query: asked.query.to_owned(),
            remote_addr: asked.remote_addr,
            marks: Marks {
                routed: Instant::now(),
                granted: None,
                started: None,
                head: None,
                output_end: None,
                finished: None,
                delivered: None,
            },
            slot: None,
            status: None,
            outcome: None,
            error: None,
            response_bytes: 0,
            response_head: Vec::new(),
            environment: Environment::new(),
            finished: None,
            _run: host.runs.token(),
        }
    }

    /// The request's id.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The program.
    pub fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    /// The slot is granted.
    pub fn granted(&mut self, slot: Slot) {
        self.marks.granted = Some(Instant::now());
        self.slot = Some(slot);
    }

    /// The environment the program is given. It is kept as it is and read for the record when that is written: between
    /// the slot and the start, the work would count as the program's.
    pub fn environment(&mut self, environment: Environment) {
        self.environment = environment;
    }

    /// The program can run.
    pub fn started(&mut self) {
        self.marks.started = Some(Instant::now());
    }

    /// The header block is complete.
    pub fn head(&mut self) {
        self.marks.head = Some(Instant::now());
    }

    /// The response that is sent.
    pub fn responds(&mut self, status: StatusCode, headers: &HeaderMap) {
        self.status = Some(status.as_u16());
        let field = |(name, value): (&http::HeaderName, &http::HeaderValue)| ResponseField {
            name: name.as_str().to_owned(),
            value: String::from_utf8_lossy(value.as_bytes()).into_owned(),
        };
        self.response_head = headers.iter().map(field).collect();
    }

    /// Bytes of the body were handed over.
    pub fn sent(&mut self, bytes: u64) {
        self.response_bytes += bytes;
    }

    /// The output has ended.
    pub fn output_ended(&mut self) {
        self.marks.output_end.get_or_insert_with(Instant::now);
    }

    /// Nothing more is sent.
    pub fn delivered(&mut self) {
        self.marks.delivered.get_or_insert_with(Instant::now);
    }

    /// The program is reaped, or what became of it cannot be learned.
    pub fn finished(&mut self, finished: Option<Finished>) {
        self.marks.finished = Some(Instant::now());
        self.finished = finished;
    }

    /// How the program ended, if that is known.
    pub fn end(&self) -> Option<&Finished> {
        self.finished.as_ref()
    }

    /// Decides the outcome; the first decision stands.
    pub fn decide(&mut self, outcome: Outcome, error: impl Into<String>) {
        if self.outcome.is_none() {
            self.outcome = Some(outcome);
            self.error = Some(error.into());
        }
    }

    /// The request is refused, which ends its account but for the program's end.
    pub fn refuse(&mut self, refusal: Refusal) -> Refusal {
        self.status = Some(refusal.status.as_u16());
        self.decide(
            refusal.outcome,
            refusal.internal.as_deref().unwrap_or(&refusal.detail),
        );
        if self.marks.started.is_some() {
            self.marks.head.get_or_insert_with(Instant::now);
            self.output_ended();
        }
        self.delivered();
        refusal
    }

    /// The phases so far.
    pub fn phases(&self) -> Phases {
        self.marks.phases(Instant::now())
    }

    fn close(&mut self) -> (Record, RecordDetail) {
        let phases = self.phases();
        let finished = self.finished.take();
        let outcome = self
            .outcome
            .or_else(|| finished.as_ref().map(Finished::outcome))
            .unwrap_or(Outcome::ClientGone);
        let error = self
            .error
            .take()
            .or_else(|| finished.as_ref().and_then(|f| error_text(f, &self.entry)));
        let (exit_code, signal) = match finished.as_ref().map(|f| &f.exit) {
            Some(Exit::Code(code)) => (Some(*code), None),
            Some(Exit::Signal(signal)) => (None, Some(*signal)),
            Some(Exit::Trap(_) | Exit::Unknown(_)) | None => (None, None),
        };
        let record = Record {
            id: self.id.to_string(),
            started_at: self.started_at,
            host: self.host.name.clone(),
            program: self.entry.name.to_string(),
            version: self.entry.version,
            mode: self.mode.as_str().to_owned(),
            method: std::mem::take(&mut self.method),
            path: std::mem::take(&mut self.path),
            query: std::mem::take(&mut self.query),
            status: self.status.unwrap_or(CLIENT_LEFT),
            outcome: outcome.as_str().to_owned(),
            queue_us: micros(phases.queue),
            start_us: micros(phases.start),
            head_us: micros(phases.head),
            body_us: micros(phases.body),
            exit_us: micros(phases.exit),
            total_us: micros(phases.total),
            cpu_us: finished.as_ref().and_then(|f| f.cpu).map(micros),
            peak_memory_bytes: finished.as_ref().and_then(|f| f.peak_memory_bytes),
            request_bytes: finished.as_ref().map_or(0, |f| f.request_bytes),
            response_bytes: self.response_bytes,
            exit_code,
            signal,
            error,
            remote_addr: self.remote_addr.to_string(),
            concurrency: self.slot.as_ref().map_or(0, |slot| slot.concurrency),
            experiment: None,
        };
        let detail = RecordDetail {
            stderr: finished
                .as_ref()
                .map_or_else(String::new, |f| String::from_utf8_lossy(&f.stderr).into_owned()),
            stderr_truncated: finished.as_ref().is_some_and(|f| f.stderr_truncated),
            response_head: std::mem::take(&mut self.response_head),
            environment: shown(&self.environment),
        };
        (record, detail)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let (record, detail) = self.close();
        super::log::request(&record, &detail);
        self.host.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.host.recorder.record(record, detail);
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Marks, Phases};

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn the_phases_of_a_complete_run_follow_each_other() {
        let routed = Instant::now();
        let at = |n| Some(routed + ms(n));
        let marks = Marks {
            routed,
            granted: at(1),
            started: at(3),
            head: at(6),
            output_end: at(10),
            finished: at(15),
            delivered: at(11),
        };
        let expected = Phases {
            queue: ms(1),
            start: ms(2),
            head: ms(3),
            body: ms(4),
            exit: ms(5),
            total: ms(11),
        };
        assert_eq!(marks.phases(routed + ms(99)), expected);
    }

    #[test]
    fn a_run_that_breaks_off_spent_the_rest_in_the_phase_it_was_in() {
        let routed = Instant::now();
        let marks = Marks {
            routed,
            granted: Some(routed + ms(2)),
            started: None,
            head: None,
            output_end: None,
            finished: None,
            delivered: None,
        };
        let expected = Phases {
            queue: ms(2),
            start: ms(8),
            total: ms(10),
            ..Phases::default()
        };
        assert_eq!(marks.phases(routed + ms(10)), expected);
    }
}
