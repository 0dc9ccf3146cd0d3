//! From a program's head to an HTTP response.

use std::fmt::Write;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Version};
use hyper::ext::ReasonPhrase;
use warmbin_cgi::{ChunkDecoder, ResponseHead};
use warmbin_exec::Mode;

use super::answer::Answer;
use super::body::{Framing, ProgramBody};
use super::exit::Run;
use super::record::Phases;

/// What the response says beside what the program said.
#[derive(Debug, Clone, Copy)]
pub struct Extras<'a> {
    /// X-Request-Id.
    pub request_id: &'a HeaderValue,
    /// Warmbin-Mode and Server-Timing, unless they are to be kept quiet.
    pub mode: Option<Mode>,
    /// The client's version of HTTP.
    pub version: Version,
}

impl Extras<'_> {
    /// Adds what the host says about `run`.
    pub fn add(&self, out: &mut HeaderMap, run: &mut Run) {
        out.insert("x-request-id", self.request_id.clone());
        if let Some(mode) = self.mode
            && let Some(account) = run.account()
        {
            out.insert(super::mode::HEADER, HeaderValue::from_static(mode.as_str()));
            out.append("server-timing", server_timing(&account.phases()));
        }
    }
}

/// The response for `head`, whose body begins with `first`.
pub fn respond(
    mut run: Run,
    head: ResponseHead,
    first: Bytes,
    method: &Method,
    extras: Extras<'_>,
) -> Response<Answer> {
    let ResponseHead {
        status,
        reason,
        headers,
        content_length,
        chunked,
        ..
    } = head;
    let mut response = Response::new(Answer::empty());
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    if let Some(reason) = reason.and_then(|text| ReasonPhrase::try_from(text.into_bytes()).ok()) {
        response.extensions_mut().insert(reason);
    }
    let out = response.headers_mut();
    extras.add(out, &mut run);
    let allowed = run
        .account()
        .map_or(0, |account| account.entry().policy.limits.response_body.0);
    let bodiless = status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED;
    if let Some(length) = content_length
        && !bodiless
    {
        out.insert(CONTENT_LENGTH, length.into());
    }
    if content_length.is_none() && extras.version < Version::HTTP_11 {
        // Such a body ends with its connection; a client that asked to keep it must not be told that it may.
        out.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(account) = run.account() {
        account.responds(status, out);
    }
    if bodiless || method == Method::HEAD {
        run.settle();
    } else {
        *response.body_mut() = Answer::Program(Box::new(ProgramBody::new(
            run,
            first,
            framing(content_length, chunked),
            allowed,
        )));
    }
    response
}

/// How the program marks the end of its body.
fn framing(content_length: Option<u64>, chunked: bool) -> Framing {
    match content_length {
        Some(length) => Framing::Length(length),
        None if chunked => Framing::Chunks(ChunkDecoder::default()),
        None => Framing::End,
    }
}

/// The phases known when the head is sent, in milliseconds.
fn server_timing(phases: &Phases) -> HeaderValue {
    let mut text = String::with_capacity(64);
    for (name, phase) in [
        ("queue", phases.queue),
        ("start", phases.start),
        ("head", phases.head),
    ] {
        let separator = if text.is_empty() { "" } else { ", " };
        let ms = phase.as_secs_f64() * 1000.0;
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}{name};dur={ms:.3}");
    }
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}
