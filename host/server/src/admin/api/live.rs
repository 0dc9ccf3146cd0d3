//! `GET /api/v1/live`: finished requests and the host's vital signs as server-sent events.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName};
use serde::Serialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use utoipa::{IntoParams, ToSchema};
use warmbin_store::{Filter, LiveEvent, Record};

use super::super::extract::Pairs;
use super::super::problem::{Document, Problem};
use super::super::query::Parameters;
use super::super::state::Admin;
use super::matching::matches;
use super::resume::{Missed, missed};
use crate::host::Host;

/// Events that wait for a slow reader before the stream waits for it. Then the recorder's own buffer fills,
/// and what that drops is told.
const WAITING: usize = 256;

/// The host's vital signs, each second: data of `event: stats`.
#[derive(Debug, Serialize, ToSchema)]
pub(in super::super) struct Stats {
    /// Requests that any program finished in the last second.
    rps: u64,
    /// Requests running now.
    in_flight: u64,
    /// Records not yet written.
    backlog: u64,
}

/// Beside the filter.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes parameters")]
pub(in super::super) struct LiveParameters {
    /// Like `Last-Event-ID`, for a reader that connects anew and cannot send that; the header comes first
    last_event_id: Option<String>,
}

/// Events were lost: data of `event: gap`.
#[derive(Debug, Serialize, ToSchema)]
pub(in super::super) struct Gap {
    /// How many, if that is known. They are counted before the filter.
    missed: Option<u64>,
}

/// Follow requests
///
/// `event: request` carries a record, its id as the event's id; `event: stats` comes each second;
/// `event: gap` says that events were lost. `Last-Event-ID` sends what was finished since, up to 1000 records.
#[utoipa::path(get, path = "/api/v1/live", tag = "requests", operation_id = "live",
    params(super::FilterParameters, LiveParameters, ("Last-Event-ID" = Option<String>, Header, description = "The last record seen")),
    responses(
        (status = OK, description = "Events, until the host stops", body = String, content_type = "text/event-stream"),
        (status = BAD_REQUEST, description = "Unknown or wrong parameters, each named", body = Document, content_type = "application/problem+json")
    ))]
pub(in super::super) async fn get(
    State(admin): State<Arc<Admin>>,
    Pairs(pairs): Pairs,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut parameters = Parameters::new(pairs, &["last_event_id"], true);
    let filter = parameters.filter();
    parameters.check()?;
    let host = Arc::clone(&admin.host);
    // Subscribed before the store is asked: what finishes in between comes twice rather than never.
    let events = host.recorder.subscribe();
    // A browser that reconnects sends the header; the parameter is then from before.
    let header = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let last = header
        .filter(|last| !last.is_empty())
        .or_else(|| parameters.get("last_event_id"));
    let before = match last {
        Some(last) => missed(&host.store, &filter, last).await?,
        None => Missed::default(),
    };
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        // Ends when the reader leaves or the host stops; either way dropping the sender ends the stream.
        let _ = follow(&host, &filter, before, events, &sender).await;
    });
    let stream = ReceiverStream::new(receiver).map(Ok::<_, Infallible>);
    let sse = Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)));
    // Proxies must not gather events either.
    let unbuffered = [(HeaderName::from_static("x-accel-buffering"), "no")];
    Ok((unbuffered, sse).into_response())
}

/// The reader left.
struct Gone;

async fn follow(
    host: &Host,
    filter: &Filter,
    before: Missed,
    mut events: Receiver<LiveEvent>,
    sender: &mpsc::Sender<Event>,
) -> Result<(), Gone> {
    if before.gap {
        send(sender, event("gap", &Gap { missed: None })).await?;
    }
    for record in &before.records {
        send(sender, request(record)).await?;
    }
    let sent_again: HashSet<&str> = before.records.iter().map(|record| record.id.as_str()).collect();
    let second = Duration::from_secs(1);
    let mut tick = interval_at(Instant::now() + second, second);
    let mut finished = 0;
    send(sender, stats(host, 0)).await?;
    loop {
        tokio::select! {
            () = host.shutdown.cancelled() => return Ok(()),
            () = sender.closed() => return Err(Gone),
            _ = tick.tick() => {
                send(sender, stats(host, finished)).await?;
                finished = 0;
            }
            received = events.recv() => match received {
                Ok(LiveEvent { record }) => {
                    finished += 1;
                    if matches(filter, &record) && !sent_again.contains(record.id.as_str()) {
                        send(sender, request(&record)).await?;
                    }
                }
                Err(RecvError::Lagged(missed)) => {
                    finished += missed;
                    send(sender, event("gap", &Gap { missed: Some(missed) })).await?;
                }
                Err(RecvError::Closed) => return Ok(()),
            },
        }
    }
}

async fn send(sender: &mpsc::Sender<Event>, event: Option<Event>) -> Result<(), Gone> {
    match event {
        Some(event) => sender.send(event).await.map_err(|_| Gone),
        None => Ok(()),
    }
}

fn stats(host: &Host, rps: u64) -> Option<Event> {
    let stats = Stats {
        rps,
        in_flight: host.in_flight.load(Ordering::Relaxed),
        backlog: host.recorder.stats().backlog,
    };
    event("stats", &stats)
}

fn request(record: &Record) -> Option<Event> {
    event("request", record).map(|event| event.id(&record.id))
}

/// None for what cannot be written as JSON, which these types always can.
fn event(name: &str, data: &impl Serialize) -> Option<Event> {
    Event::default().event(name).json_data(data).ok()
}
