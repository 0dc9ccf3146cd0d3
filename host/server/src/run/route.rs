//! From a request's target to a program, its script name and its extra path.

use std::sync::Arc;

use http::StatusCode;
use http::uri::Uri;
use warmbin_cgi::path::{decode, strip_mount};
use warmbin_cgi::{EncodedSlashes, PathError};

use super::refuse::Refusal;
use crate::catalog::{Catalog, Directory, Entry, Found, Target};
use crate::config::Policy;

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

/// Finds the program for `uri`.
pub async fn find(catalog: &Catalog, uri: &Uri) -> Result<Routed, Refusal> {
    let raw = uri.path();
    // Encoded slashes stay encoded until the program is known: what becomes of them is its policy.
    let path = decode(raw, EncodedSlashes::Keep).map_err(|error| refuse_path(&error))?;
    let snapshot = catalog.snapshot();
    let (prefix, target, rest) = snapshot.find(&path).ok_or_else(not_found)?;
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
            in_directory(directory, &rest, uri).await?
        }
    };
    if !routed.path_info.is_empty() && !routed.entry.policy.path_info {
        return Err(not_found());
    }
    Ok(routed)
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
        .ok_or_else(not_found)
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
        Found::AddSlash => {
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
            Err(refusal)
        }
        Found::Refused { status, why } => {
            tracing::debug!(target: "http", "{}: {why}", uri.path());
            let detail = match status {
                StatusCode::NOT_FOUND => return Err(not_found()),
                StatusCode::FORBIDDEN => "This may not be run.",
                _ => "The program could not be started.",
            };
            let mut refusal = Refusal::new(status, detail);
            refusal.internal = Some(why);
            Err(refusal)
        }
    }
}

fn not_found() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "There is nothing at this address.")
}

fn refuse_path(error: &PathError) -> Refusal {
    match error {
        PathError::EncodedSlash => not_found(),
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
