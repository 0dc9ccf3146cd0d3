//! `X-Sendfile`: a program names a file, and the host sends it in the place of the program's body.
//!
//! The file has to lie in one of the program's `sendfile_roots`. What the program says in other fields (a type, a
//! name to save it under, cookies) is kept; the length is the file's. Ranges and conditions on age are the host's to
//! answer if the program's status is 200; with another status the file is the page for it, whole.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body::Body;
use percent_encoding::percent_decode;
use warmbin_cgi::ResponseHead;
use warmbin_exec::Outcome;

use super::answer::Answer;
use super::exit::Run;
use super::file;
use super::refuse::Refusal;
use super::respond::Extras;

/// The response for a program that named the file `named`.
pub(super) async fn respond(
    mut run: Run,
    head: ResponseHead,
    named: &[u8],
    parts: &Parts,
    extras: Extras<'_>,
) -> Result<Response<Answer>, Refusal> {
    let roots = run
        .account()
        .map(|account| Arc::clone(&account.entry().policy.sendfile_roots))
        .unwrap_or_default();
    let answered = send(roots, named, head.status, parts).await;
    let mut response = answered.map_err(|refusal| run.refuse(refusal))?;
    if head.status != StatusCode::OK {
        *response.status_mut() = head.status;
    }
    let length = response.body().size_hint().exact().unwrap_or_default();
    let out = response.headers_mut();
    // What is there already gives way, and what is said twice is kept.
    out.extend(head.headers);
    extras.add(out, &mut run);
    let status = response.status();
    if let Some(account) = run.account() {
        account.responds(status, response.headers());
        account.sent(length);
    }
    run.settle();
    Ok(response)
}

async fn send(
    roots: Arc<[PathBuf]>,
    named: &[u8],
    status: StatusCode,
    parts: &Parts,
) -> Result<Response<Answer>, Refusal> {
    let named = PathBuf::from(OsStr::from_bytes(&percent_decode(named).collect::<Vec<u8>>()));
    let found = tokio::task::spawn_blocking(move || find(&roots, &named)).await;
    let path =
        found.unwrap_or_else(|error| Err(refused(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())))?;
    let is_read = parts.method == Method::GET || parts.method == Method::HEAD;
    let none = HeaderMap::new();
    let (method, headers) = match (is_read, status) {
        (true, StatusCode::OK) => (&parts.method, &parts.headers),
        (true, _) => (&parts.method, &none),
        (false, _) => (&Method::GET, &none),
    };
    let answered = file::answer(&path, method, headers).await;
    answered.map_err(|error| cannot_open(&path, &error))
}

/// Where the file really is, if it may be sent.
fn find(roots: &[PathBuf], named: &Path) -> Result<PathBuf, Refusal> {
    if !named.is_absolute() {
        let why = format!(
            "X-Sendfile has to name a file by its absolute path, not \"{}\"",
            named.display()
        );
        return Err(refused(StatusCode::BAD_GATEWAY, why));
    }
    let real = named.canonicalize().map_err(|error| cannot_open(named, &error))?;
    // SECURITY: links may lead anywhere and a program may be talked into naming anything, so what counts is where the
    // path ends. Outside, nothing is said about what is there.
    let inside = roots
        .iter()
        .filter_map(|root| root.canonicalize().ok())
        .any(|root| real.starts_with(root));
    if !inside {
        let why = format!(
            "X-Sendfile names {}, which lies in none of sendfile_roots",
            real.display()
        );
        return Err(refused(StatusCode::FORBIDDEN, why));
    }
    if !real.is_file() {
        let why = format!("X-Sendfile names {}, which is no regular file", real.display());
        return Err(refused(StatusCode::NOT_FOUND, why));
    }
    Ok(real)
}

fn cannot_open(path: &Path, error: &std::io::Error) -> Refusal {
    let status = match error.kind() {
        std::io::ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
        _ => StatusCode::NOT_FOUND,
    };
    refused(status, format!("X-Sendfile: {}: {error}", path.display()))
}

fn refused(status: StatusCode, why: String) -> Refusal {
    let told = match status {
        StatusCode::FORBIDDEN => Refusal::not_served(),
        StatusCode::NOT_FOUND => Refusal::not_found(),
        _ => return Refusal::failed(status, Outcome::BadOutput, why),
    };
    Refusal {
        outcome: Outcome::BadOutput,
        internal: Some(why),
        ..told
    }
}
