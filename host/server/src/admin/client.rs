//! Who is at the other end of the connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::extract::ConnectInfo;
use http::header::HOST;
use http::uri::Authority;
use http::{Extensions, HeaderMap};

use crate::run::client::was_forwarded;

/// The connection's peer, as the listener recorded it.
pub(super) fn peer(extensions: &Extensions) -> Option<IpAddr> {
    extensions
        .get::<ConnectInfo<SocketAddr>>()
        .map(|ConnectInfo(address)| address.ip().to_canonical())
}

/// Whether the request comes from this very machine. A header that a proxy adds says it was passed on from
/// somewhere else.
pub(super) fn is_local(extensions: &Extensions, headers: &HeaderMap) -> bool {
    // SECURITY: a site whose name was made to lead here would read through the browser of whoever visits it.
    let asked_for = headers
        .get(HOST)
        .is_none_or(|host| names_this_machine(host.as_bytes()));
    !was_forwarded(headers) && asked_for && peer(extensions).is_some_and(|address| address.is_loopback())
}

/// Whether a `Host` is `localhost` or a loopback address, with or without a port.
fn names_this_machine(host: &[u8]) -> bool {
    let Some(authority) = std::str::from_utf8(host)
        .ok()
        .and_then(|host| host.parse::<Authority>().ok())
    else {
        return false;
    };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether the browser's side of the connection is encrypted. Anyone may claim so: it only makes their own
/// cookie stricter.
pub(super) fn is_https(headers: &HeaderMap) -> bool {
    headers
        .get("x-forwarded-proto")
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"https"))
}

/// What attempts are counted under: an address, or the /64 that one customer has to draw addresses from.
pub(super) fn rate_key(address: Option<IpAddr>) -> IpAddr {
    match address {
        None => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        Some(IpAddr::V4(address)) => IpAddr::V4(address),
        Some(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}
