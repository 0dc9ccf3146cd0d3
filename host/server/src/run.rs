//! The path of one request to a program, from top to bottom. Each step is a file:
//!
//! 1. [`client`]: who is asking.
//! 2. [`mode`]: how the request is to be run.
//! 3. [`route`]: which program.
//! 4. [`request_body`]: what it is given to read.
//! 5. [`crate::catalog::slots`]: when it may run.
//! 6. [`environment`]: what it is told.
//! 7. [`start`]: it runs.
//! 8. [`head`]: its header block.
//! 9. [`respond`] and [`body`]: its answer.
//! 10. [`exit`]: its end.
//! 11. [`record`]: what is remembered.
//!
//! A path that leads to no program may lead to a file: `document`; a program may name one: `sendfile`. Refusals at any
//! step become a response in [`refuse`], or have their page made in `error_document`.

pub mod answer;
pub mod body;
pub mod client;
mod document;
pub mod environment;
mod error_document;
pub mod exit;
pub mod file;
pub mod head;
mod log;
mod method;
pub mod mode;
pub mod record;
pub mod refuse;
pub mod request_body;
pub mod respond;
pub mod route;
mod sendfile;
pub mod start;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, TRANSFER_ENCODING,
};
use http::request::Parts;
use http::uri::Uri;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use warmbin_cgi::head::X_SENDFILE;
use warmbin_cgi::{ResponseHead, ResponseKind};
use warmbin_exec::{Body, Invocation, Mode, Outcome};

use crate::host::Host;
pub use answer::Answer;
pub use client::Connection;
pub use request_body::ClientBody;

use client::Client;
use environment::Facts;
use error_document::Failed;
use exit::Run;
use record::{Account, Asked};
use refuse::Refusal;
use request_body::Admitted;
use respond::Extras;
use route::{Destination, Routed};

/// How many local redirects one request may take.
const MAX_HOPS: u32 = 10;

/// The response header that names the request.
const REQUEST_ID: &str = "x-request-id";

/// Answers one request.
pub async fn answer(
    host: &Arc<Host>,
    connection: &Connection,
    request: Request<Option<ClientBody>>,
) -> Response<Answer> {
    let (mut parts, body) = request.into_parts();
    let id: Arc<str> = uuid::Uuid::now_v7().to_string().into();
    let shown_id = shown_id(&parts, &id);
    let answered = match Hop::first(host, connection, &mut parts, id, &shown_id) {
        Ok(mut hop) => {
            hop.body = body;
            let answered = match hop.serve(&mut parts).await {
                Ok(response) => Ok(response),
                Err(refusal) => error_document::page(&mut hop, &mut parts, &refusal)
                    .await
                    .ok_or(refusal),
            };
            request_body::drain(hop.body.take());
            answered
        }
        Err(refusal) => {
            request_body::drain(body);
            Err(refusal)
        }
    };
    let mut response = answered.unwrap_or_else(|refusal| {
        if let Some(why) = &refusal.internal {
            tracing::debug!(target: "http", "{} {}: {why}", parts.method, parts.uri.path());
        }
        refusal.respond(&parts.headers)
    });
    response.headers_mut().insert(REQUEST_ID, shown_id);
    response
}

/// The id the client is told: its own, if it sent one that is harmless anywhere it may be copied to.
fn shown_id(parts: &Parts, id: &str) -> HeaderValue {
    let own = parts.headers.get(REQUEST_ID).filter(|value| {
        let bytes = value.as_bytes();
        (1..=64).contains(&bytes.len())
            && bytes
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
    });
    own.cloned()
        .unwrap_or_else(|| HeaderValue::from_str(id).unwrap_or_else(|_| HeaderValue::from_static("-")))
}

/// Turns the request into a GET for `target` (RFC 3875 §6.2.2).
fn redirect(parts: &mut Parts, target: &str) -> Result<(), Refusal> {
    let bad = || {
        let mut refusal = Refusal::failed(
            StatusCode::BAD_GATEWAY,
            Outcome::BadOutput,
            format!("cannot redirect to {target:?}"),
        );
        refusal.problem = false;
        refusal
    };
    // Only the path and the query are the program's to choose.
    parts.uri = target.parse::<Uri>().map_err(|_| bad())?;
    if parts.uri.authority().is_some() {
        return Err(bad());
    }
    if parts.method != Method::HEAD {
        parts.method = Method::GET;
    }
    for name in [
        CONTENT_LENGTH,
        CONTENT_TYPE,
        CONTENT_ENCODING,
        CONTENT_LANGUAGE,
        TRANSFER_ENCODING,
        EXPECT,
    ] {
        parts.headers.remove(name);
    }
    Ok(())
}

/// The response for a program's head: with its own output, or the file it names.
async fn deliver(
    run: Run,
    mut head: ResponseHead,
    first: Bytes,
    parts: &Parts,
    extras: Extras<'_>,
) -> Result<Response<Answer>, Refusal> {
    match head.headers.remove(X_SENDFILE) {
        Some(named) => sendfile::respond(run, head, named.as_bytes(), parts, extras).await,
        None => Ok(respond::respond(run, head, first, &parts.method, extras)),
    }
}

/// What the hops of one request share. The body is for the first.
struct Hop<'a> {
    host: &'a Arc<Host>,
    connection: &'a Connection,
    server_name: String,
    client: Client,
    wish: Option<Mode>,
    /// The request's own, until a program has been run under it.
    id: Option<Arc<str>>,
    shown_id: &'a HeaderValue,
    body: Option<ClientBody>,
    /// The request that failed, while its page is made.
    failed: Option<Failed>,
}

impl<'a> Hop<'a> {
    /// Looks at who asks, of whom, and how it is to be run.
    fn first(
        host: &'a Arc<Host>,
        connection: &'a Connection,
        parts: &mut Parts,
        id: Arc<str>,
        shown_id: &'a HeaderValue,
    ) -> Result<Self, Refusal> {
        request_body::check_coding(&parts.headers)?;
        Ok(Self {
            server_name: environment::server_name(parts, connection.local)?,
            client: Client::identify(connection, &parts.headers, &host.config.trusted_proxies),
            wish: mode::take_wish(
                &mut parts.headers,
                connection,
                host.config.mode_override,
                &host.admin_token,
            )?,
            host,
            connection,
            id: Some(id),
            shown_id,
            body: None,
            failed: None,
        })
    }

    /// Answers the request, by as many programs as redirect to each other.
    async fn serve(&mut self, parts: &mut Parts) -> Result<Response<Answer>, Refusal> {
        if let Some(answered) = method::own(parts) {
            return answered;
        }
        for hop in 0..MAX_HOPS {
            let routed = match route::find(self.host, &parts.uri).await? {
                Destination::Program(routed) => routed,
                Destination::Document(path) => return document::respond(&path, parts).await,
            };
            // The wish was for the program that was asked for; another is run in it only if it can be.
            let mode = match hop {
                0 => mode::choose(&routed.entry, self.wish)?,
                _ => mode::wished_or_default(&routed.entry, self.wish),
            };
            let (mut run, head, first) = self.run(parts, &routed, mode).await?;
            let target = match &head.kind {
                ResponseKind::LocalRedirect(target) if routed.entry.policy.local_redirect => target.clone(),
                _ => return deliver(run, head, first, parts, self.extras(parts, mode)).await,
            };
            if let Some(account) = run.account() {
                account.responds(head.status, &head.headers);
            }
            run.settle();
            drop(run);
            redirect(parts, &target)?;
        }
        let mut refusal = Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The program redirects in a circle.",
        );
        refusal.internal = Some(format!("more than {MAX_HOPS} local redirects"));
        Err(refusal)
    }

    /// What a response of a program in `mode` says beside what the program says.
    fn extras(&self, parts: &Parts, mode: Mode) -> Extras<'a> {
        Extras {
            request_id: self.shown_id,
            mode: self.host.config.expose_timing.then_some(mode),
            version: parts.version,
        }
    }

    /// Runs one program up to its head.
    async fn run(
        &mut self,
        parts: &Parts,
        routed: &Routed,
        mode: Mode,
    ) -> Result<(Run, ResponseHead, Bytes), Refusal> {
        let entry = &routed.entry;
        let query = parts.uri.query().unwrap_or_default();
        let asked = Asked {
            method: parts.method.as_str(),
            path: parts.uri.path(),
            query,
            remote_addr: self.client.addr,
        };
        let id = self
            .id
            .take()
            .unwrap_or_else(|| uuid::Uuid::now_v7().to_string().into());
        let mut account = Account::open(self.host, entry, Arc::clone(&id), mode, &asked);
        let admitted = request_body::admit(self.body.take(), &entry.policy.limits, &self.host.data).await;
        let Admitted {
            body,
            length,
            invitation,
            awaited,
        } = admitted.map_err(|refusal| account.refuse(refusal))?;
        let slot = entry
            .slots
            .acquire(entry.policy.limits.wall.0)
            .await
            .map_err(|why| {
                account.refuse(Refusal::failed(
                    StatusCode::SERVICE_UNAVAILABLE,
                    Outcome::Overloaded,
                    why.to_string(),
                ))
            })?;
        account.granted(slot);
        let invocation = self.invocation(parts, routed, mode, body, length, &mut account);
        let started = self.host.executors.start(invocation).await;
        let running = started.map_err(|error| account.refuse(start::refuse(&error)))?;
        let mut run = Run::new(account, running);
        let (head, first) = head::read(&mut run, &awaited).await?;
        if let Some(invitation) = invitation
            && head.status.is_success()
        {
            invitation.send().await;
        }
        for line in &head.dropped {
            tracing::info!(
                target: "guest",
                { request.id = &*id, program.name = &*entry.name },
                "dropped header line {line:?}"
            );
        }
        Ok((run, head, first))
    }

    fn invocation(
        &self,
        parts: &Parts,
        routed: &Routed,
        mode: Mode,
        body: Body,
        content_length: Option<u64>,
        account: &mut Account,
    ) -> Invocation {
        let query = parts.uri.query().unwrap_or_default();
        let environment = environment::build(
            routed,
            &Facts {
                method: parts.method.as_str(),
                request_uri: match &self.failed {
                    // A page about a request is about the address that was asked for.
                    Some(failed) => &failed.target,
                    None => parts.uri.path_and_query().map_or("/", |target| target.as_str()),
                },
                query,
                version: parts.version,
                headers: &parts.headers,
                server_name: &self.server_name,
                local: self.connection.local,
                client: &self.client,
                content_length,
                request_id: self.shown_id.to_str().unwrap_or_default(),
                redirected: self.failed.as_ref().map(Failed::as_redirected),
            },
        );
        account.environment(environment.clone());
        let policy = &routed.entry.policy;
        let runnable = Arc::clone(&routed.entry.runnable);
        let mut arguments = routed.entry.arguments.clone();
        if policy.indexed_query {
            arguments.extend(environment::indexed_arguments(query));
        }
        Invocation {
            request_id: Arc::clone(account.id()),
            arguments,
            runnable,
            mode,
            environment,
            body,
            limits: Arc::clone(&policy.exec),
        }
    }
}

#[cfg(test)]
mod tests;
