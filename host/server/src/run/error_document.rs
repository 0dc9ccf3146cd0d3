//! The pages of the host's own errors, made by a program or a document of the operator's (`error_documents`).
//!
//! The page is asked for with a GET (HEAD stays HEAD) that has no body; a program is told of the request that failed by
//! variables whose names begin with `REDIRECT_`. The status stays the one of the error. What goes wrong on the way has
//! no page of its own, which would be asked for in a circle: the client then gets the plain one.

use std::borrow::Cow;

use http::header::{IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE};
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};
use warmbin_cgi::path::decode;
use warmbin_cgi::{EncodedSlashes, Redirected, ResponseKind};

use super::Hop;
use super::answer::Answer;
use super::refuse::Refusal;
use super::route::{self, Destination, Routed};
use super::{deliver, document, mode, redirect, request_body};

/// The request that could not be answered.
#[derive(Debug)]
pub(super) struct Failed {
    status: StatusCode,
    method: String,
    path: Vec<u8>,
    query: String,
    /// The target as received.
    pub(super) target: String,
}

impl Failed {
    fn new(parts: &Parts, status: StatusCode) -> Self {
        let raw = parts.uri.path();
        let decoded = decode(raw, EncodedSlashes::Keep).map_or(Cow::Borrowed(raw.as_bytes()), Cow::Owned);
        Self {
            status,
            method: parts.method.as_str().to_owned(),
            path: decoded.into_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            target: parts
                .uri
                .path_and_query()
                .map_or("/", |target| target.as_str())
                .to_owned(),
        }
    }

    /// As programs are told of it.
    pub(super) fn as_redirected(&self) -> Redirected<'_> {
        Redirected {
            status: self.status.as_u16(),
            url: &self.path,
            query: &self.query,
            method: &self.method,
        }
    }
}

/// The page for `refusal`; `None` if there is none or it cannot be made.
pub(super) async fn page(
    hop: &mut Hop<'_>,
    parts: &mut Parts,
    refusal: &Refusal,
) -> Option<Response<Answer>> {
    // A problem document is for a tool, which could not read a page.
    if refusal.problem {
        return None;
    }
    let target = hop.host.config.error_documents.get(refusal.status)?.to_owned();
    let failed = Failed::new(parts, refusal.status);
    redirect(parts, &target).ok()?;
    drop_conditions(&mut parts.headers);
    hop.failed = Some(failed);
    request_body::drain(hop.body.take());
    let made = match route::find(hop.host, &parts.uri).await {
        Ok(Destination::Program(routed)) => by_program(hop, parts, &routed, refusal.status).await,
        Ok(Destination::Document(path)) => document::respond(&path, parts).await,
        Err(failure) => Err(failure),
    };
    match made {
        Ok(mut response) => {
            *response.status_mut() = refusal.status;
            refusal.add_headers(response.headers_mut());
            Some(response)
        }
        Err(failure) => {
            tracing::warn!(
                target: "http",
                "the page for {} at {target} cannot be made: {} {}",
                refusal.status,
                failure.status,
                failure.internal.as_deref().unwrap_or(&failure.detail)
            );
            None
        }
    }
}

async fn by_program(
    hop: &mut Hop<'_>,
    parts: &Parts,
    routed: &Routed,
    status: StatusCode,
) -> Result<Response<Answer>, Refusal> {
    let mode = mode::wished_or_default(&routed.entry, hop.wish);
    let (mut run, mut head, first) = hop.run(parts, routed, mode).await?;
    if head.kind != ResponseKind::Document {
        if let Some(account) = run.account() {
            account.responds(head.status, &head.headers);
        }
        run.settle();
        return Err(Refusal::new(head.status, "the program redirects"));
    }
    head.status = status;
    head.reason = None;
    deliver(run, head, first, parts, hop.extras(parts, mode)).await
}

/// The page is wanted whole, whatever was asked of what is not there.
fn drop_conditions(headers: &mut HeaderMap) {
    for name in [
        RANGE,
        IF_RANGE,
        IF_MATCH,
        IF_NONE_MATCH,
        IF_MODIFIED_SINCE,
        IF_UNMODIFIED_SINCE,
    ] {
        headers.remove(name);
    }
}
