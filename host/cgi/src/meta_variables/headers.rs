//! From a client's headers to the variables that begin with `HTTP_` (RFC 3875 §4.1.18).

use http::{HeaderName, header};

use super::RequestFacts;
use crate::environment::Environment;
use crate::hop_by_hop;

/// Adds every header that a program may see.
pub(super) fn append(env: &mut Environment, facts: &RequestFacts<'_>) {
    let per_connection = hop_by_hop::named_by_connection(facts.headers);
    let mut variable = Vec::with_capacity(64);
    for name in facts.headers.keys() {
        if !may_pass(name, facts.pass_authorization) || per_connection.contains(name) {
            continue;
        }
        variable.clear();
        if !name_variable(name, &mut variable) {
            continue;
        }
        let values = facts
            .headers
            .get_all(name)
            .iter()
            .map(|value| value.as_bytes().trim_ascii());
        if *name == header::COOKIE {
            append_cookies(env, &variable, &values.collect::<Vec<_>>(), facts.own_cookies);
        } else {
            env.append(&variable, joined(values, b", "));
        }
    }
}

/// As received if the host's own cookies are not among them; else without them, and not at all if no other is left.
fn append_cookies(env: &mut Environment, variable: &[u8], values: &[&[u8]], own: &[&str]) {
    let pairs = || values.iter().copied().flat_map(pairs);
    let foreign = || pairs().filter(|pair| !is_own(pair, own));
    match (pairs().count(), foreign().count()) {
        (all, rest) if all == rest => env.append(variable, joined(values.iter().copied(), b"; ")),
        (_, 0) => false,
        _ => env.append(variable, joined(foreign(), b"; ")),
    };
}

fn may_pass(name: &HeaderName, pass_authorization: bool) -> bool {
    match name.as_str() {
        // These have variables of their own, the length being that of the spooled body and not what the client claims.
        //
        // SECURITY: HTTP_PROXY is where many HTTP clients look for their proxy; a visitor may not choose it (httpoxy).
        // Credentials meant for a proxy or the host are none of the program's business (RFC 3875 §9.2).
        "content-length" | "content-type" | "proxy" | "proxy-authorization" => false,
        "authorization" => pass_authorization,
        _ => !hop_by_hop::is_hop_by_hop(name),
    }
}

/// Writes the variable's name; `false` if the header's name cannot be told from another's once it is one.
///
/// SECURITY: `Foo_Bar` would become the same variable as `Foo-Bar`, and so get past a proxy that vouches for the latter.
fn name_variable(name: &HeaderName, variable: &mut Vec<u8>) -> bool {
    variable.extend_from_slice(b"HTTP_");
    variable.extend(
        name.as_str()
            .bytes()
            .map(|b| if b == b'-' { b'_' } else { b.to_ascii_uppercase() }),
    );
    name.as_str()
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// The values with a separator between them.
fn joined<'v>(
    values: impl Iterator<Item = &'v [u8]>,
    separator: &'static [u8],
) -> impl Iterator<Item = &'v [u8]> {
    values
        .enumerate()
        .flat_map(move |(at, value)| [if at == 0 { &b""[..] } else { separator }, value])
}

/// The `name=value` pairs of a Cookie header.
fn pairs(cookies: &[u8]) -> impl Iterator<Item = &[u8]> {
    cookies
        .split(|&b| b == b';')
        .map(<[u8]>::trim_ascii)
        .filter(|pair| !pair.is_empty())
}

/// SECURITY: cookies ignore ports, so the browser of somebody logged in to the dashboard sends the session to programs.
fn is_own(pair: &[u8], own: &[&str]) -> bool {
    let name = pair.split(|&b| b == b'=').next().unwrap_or(pair).trim_ascii_end();
    own.iter().any(|cookie| cookie.as_bytes() == name)
}
