//! From a request's target to a program with its script name and its extra path, or to a document.

use std::path::PathBuf;
use std::sync::Arc;

use http::StatusCode;
use http::uri::Uri;
use warmbin_cgi::path::{decode, strip_mount};
use warmbin_cgi::{EncodedSlashes, PathError};

use super::refuse::Refusal;
use crate::catalog::{Directory, Entry, Found, Target};
use crate::config::Policy;
use crate::documents::NoDocument;
use crate::host::Host;

/// A program and how its path was cut.
#[derive(Debug)]
pub struct Routed {
    /// The program.
    pub entry: Arc<Entry>,
    /// The path that leads to it; empty if it is mounted at `/`.
    pub script_name: Vec<u8>,
    /// The extra path: empty, or beginning with a slash.
    pub path_info: Vec<u8>,
}

/// Where a path leads.
#[derive(Debug)]
pub enum Destination {
    /// To a program.
    Program(Routed),
    /// To a file that is sent as it is.
    Document(PathBuf),
}

/// Finds what `uri` leads to: a program, or behind all programs a document.
pub async fn find(host: &Host, uri: &Uri) -> Result<Destination, Refusal> {
    let raw = uri.path();
    // Encoded slashes stay encoded until the program is known: what becomes of them is its policy.
    let path = decode(raw, EncodedSlashes::Keep).map_err(|error| refuse_path(&error))?;
    let snapshot = host.catalog.snapshot();
    let Some((prefix, target, rest)) = snapshot.find(&path) else {
        return document(host, uri).await.map(Destination::Document);
    };
    let routed = match target {
        Target::Program(entry) => Routed {
            path_info: extra_path(raw, prefix, rest, &entry.policy)?,
            script_name: prefix.as_bytes().to_vec(),
            entry: Arc::clone(entry),
        },
        Target::Broken(name) => {
            let mut refusal = Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "This program cannot be run at present.",
            );
            refusal.internal = Some(format!("the active version of {name} cannot be run"));
            return Err(refusal);
        }
        Target::Directory(directory) => {
            let rest = extra_path(raw, prefix, rest, directory.policy())?;
            match in_directory(directory, &rest, uri).await {
                // A folder of programs at `/` leaves to the documents what it does not have.
                Err(refusal) if prefix.is_empty() && refusal.status == StatusCode::NOT_FOUND => {
                    return document(host, uri).await.map(Destination::Document);
                }
                found => found?,
            }
        }
    };
    // The address of a program at `/` has a slash that is no extra path.
    let is_root = routed.script_name.is_empty() && routed.path_info == b"/";
    if !routed.path_info.is_empty() && !routed.entry.policy.path_info && !is_root {
        return Err(Refusal::not_found());
    }
    Ok(Destination::Program(routed))
}

async fn document(host: &Host, uri: &Uri) -> Result<PathBuf, Refusal> {
    let documents = host.documents.as_ref().ok_or_else(Refusal::not_found)?;
    let slashes = host.config.inherited.encoded_slashes.into();
    let path = decode(uri.path(), slashes).map_err(|error| refuse_path(&error))?;
    match documents.find(path).await {
        Ok(file) => Ok(file),
        Err(NoDocument::AddSlash) => Err(add_slash(uri)),
        Err(NoDocument::NotServed) => Err(Refusal::not_served()),
        Err(NoDocument::Absent) => Err(Refusal::not_found()),
    }
}

/// The path after the mount, decoded as `policy` says.
fn extra_path(raw: &str, prefix: &str, rest: &[u8], policy: &Policy) -> Result<Vec<u8>, Refusal> {
    if !has_encoded_slash(raw) {
        return Ok(rest.to_vec());
    }
    let slashes = policy.encoded_slashes.into();
    let path = decode(raw, slashes).map_err(|error| refuse_path(&error))?;
    strip_mount(&path, prefix)
        .map(<[u8]>::to_vec)
        .ok_or_else(Refusal::not_found)
}

fn has_encoded_slash(raw: &str) -> bool {
    raw.as_bytes()
        .windows(3)
        .any(|window| window.eq_ignore_ascii_case(b"%2f"))
}

async fn in_directory(directory: &Arc<Directory>, rest: &[u8], uri: &Uri) -> Result<Routed, Refusal> {
    match directory.find(rest).await {
        Found::Script {
            entry,
            script_name,
            path_info,
        } => Ok(Routed {
            entry,
            script_name,
            path_info,
        }),
        Found::AddSlash => Err(add_slash(uri)),
        Found::Refused { status, why } => {
            tracing::debug!(target: "http", "{}: {why}", uri.path());
            let detail = match status {
                StatusCode::NOT_FOUND => return Err(Refusal::not_found()),
                StatusCode::FORBIDDEN => "This may not be run.",
                _ => "The program could not be started.",
            };
            let mut refusal = Refusal::new(status, detail);
            refusal.internal = Some(why);
            Err(refusal)
        }
    }
}

fn add_slash(uri: &Uri) -> Refusal {
    // SECURITY: a target that begins with two slashes would name another host.
    let path = format!("/{}/", uri.path().trim_start_matches('/'));
    let mut refusal = Refusal::new(
        StatusCode::MOVED_PERMANENTLY,
        "This folder's address ends with a slash.",
    );
    refusal.location = Some(
        uri.query()
            .map_or_else(|| path.clone(), |query| format!("{path}?{query}")),
    );
    refusal
}

fn refuse_path(error: &PathError) -> Refusal {
    match error {
        PathError::EncodedSlash => Refusal::not_found(),
        PathError::Control
        | PathError::NotAbsolute
        | PathError::BadEncoding
        | PathError::Nul
        | PathError::AboveRoot => Refusal::new(
            StatusCode::BAD_REQUEST,
            format!("The request is malformed: {error}."),
        ),
    }
}
