//! Who is asking: the connection, and what trusted proxies say about the client behind it.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

/// Both ends of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Connection {
    /// The other end.
    pub peer: SocketAddr,
    /// This end.
    pub local: SocketAddr,
}

/// The client, as programs are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// `REMOTE_ADDR`.
    pub addr: IpAddr,
    /// `REMOTE_PORT`, where known.
    pub port: Option<u16>,
    /// "http" or "https".
    pub scheme: &'static str,
    /// `SERVER_PORT`.
    pub server_port: u16,
}

impl Client {
    /// The client behind `connection`. Forwarding headers count only if `trusted` holds the peer.
    pub fn identify(connection: &Connection, headers: &HeaderMap, trusted: &[IpNet]) -> Self {
        let peer = connection.peer.ip().to_canonical();
        let direct = Self {
            addr: peer,
            port: Some(connection.peer.port()),
            scheme: "http",
            server_port: connection.local.port(),
        };
        // SECURITY: anybody can send X-Forwarded-For; only a named proxy is believed.
        if !is_trusted(peer, trusted) {
            return direct;
        }
        let addr = forwarded_for(peer, headers, trusted);
        let https = last(headers, "x-forwarded-proto").is_some_and(|word| word.eq_ignore_ascii_case("https"));
        // No TLS ends at this listener: where the proxy names no port of its own it is the usual one.
        let usual = if https { 443 } else { direct.server_port };
        Self {
            addr,
            port: (addr == peer).then_some(connection.peer.port()),
            scheme: if https { "https" } else { "http" },
            server_port: last(headers, "x-forwarded-port").and_then(port).unwrap_or(usual),
        }
    }
}

fn is_trusted(addr: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(&addr))
}

/// The right-most address of the chain that is no trusted proxy: everything left of it is hearsay.
fn forwarded_for(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let mut client = peer;
    for value in headers.get_all("x-forwarded-for").iter().rev() {
        for hop in value.to_str().unwrap_or_default().rsplit(',') {
            let Some(addr) = parse_hop(hop.trim()) else {
                return client;
            };
            client = addr;
            if !is_trusted(addr, trusted) {
                return client;
            }
        }
    }
    client
}

/// An address, perhaps with a port, perhaps in brackets.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    hop.parse::<IpAddr>()
        .ok()
        .or_else(|| hop.parse::<SocketAddr>().ok().map(|addr| addr.ip()))
        .or_else(|| hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok())
        .map(|addr| addr.to_canonical())
}

/// SECURITY: the last word of a repeated header or a list is that of the proxy itself; what stands before it may be the
/// client's.
fn last<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let value = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    value.rsplit(',').next().map(str::trim)
}

fn port(digits: &str) -> Option<u16> {
    let port = digits.parse().ok().filter(|port| *port != 0);
    // A sign is no part of a port, though the parser takes one.
    port.filter(|_| digits.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether some proxy has put its mark on the request.
pub fn was_forwarded(headers: &HeaderMap) -> bool {
    let marks = |name: &HeaderName| {
        matches!(name.as_str(), "forwarded" | "via" | "x-real-ip")
            || name.as_str().starts_with("x-forwarded-")
    };
    headers.keys().any(marks)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::{Client, Connection, was_forwarded};

    fn identify(peer: &str, headers: &[(&'static str, &'static str)]) -> Client {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let connection = Connection {
            peer: peer.parse().unwrap(),
            local: "10.0.0.5:8080".parse().unwrap(),
        };
        let trusted = ["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()];
        Client::identify(&connection, &map, &trusted)
    }

    #[test]
    fn the_right_most_untrusted_address_is_the_client() {
        for (peer, chain, expected) in [
            ("192.0.2.1:1", &["1.2.3.4"][..], "192.0.2.1"),
            ("10.0.0.1:1", &[], "10.0.0.1"),
            ("10.0.0.1:1", &["1.2.3.4"], "1.2.3.4"),
            ("10.0.0.1:1", &["6.6.6.6, 1.2.3.4, 10.9.9.9"], "1.2.3.4"),
            ("10.0.0.1:1", &["6.6.6.6", "1.2.3.4"], "1.2.3.4"),
            ("10.0.0.1:1", &["1.2.3.4, rubbish"], "10.0.0.1"),
            ("10.0.0.1:1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1:1", &["1.2.3.4:567"], "1.2.3.4"),
            ("[2001:db8::1]:1", &["[2001:dead::1]:99"], "2001:dead::1"),
            ("[::ffff:10.0.0.1]:1", &["1.2.3.4"], "1.2.3.4"),
        ] {
            let headers: Vec<_> = chain.iter().map(|value| ("x-forwarded-for", *value)).collect();
            let client = identify(peer, &headers);
            assert_eq!(client.addr.to_string(), expected, "{peer} {chain:?}");
        }
    }

    #[test]
    fn scheme_and_port_come_from_trusted_proxies_only() {
        let headers = [("x-forwarded-proto", "https"), ("x-forwarded-port", "443")];
        let client = identify("10.0.0.1:1", &headers);
        assert_eq!((client.scheme, client.server_port), ("https", 443));
        let client = identify("10.0.0.1:1", &[("x-forwarded-proto", "HTTPS")]);
        assert_eq!((client.scheme, client.server_port), ("https", 443));
        let twice = [
            ("x-forwarded-proto", "https"),
            ("x-forwarded-proto", "https, http"),
        ];
        let client = identify("10.0.0.1:1", &twice);
        assert_eq!((client.scheme, client.server_port), ("http", 8080));
        for rubbish in ["0", "+81", "65536", "x", ""] {
            let client = identify("10.0.0.1:1", &[("x-forwarded-port", rubbish)]);
            assert_eq!(client.server_port, 8080, "{rubbish}");
        }
        let client = identify("192.0.2.1:7", &headers);
        assert_eq!(
            (client.scheme, client.server_port, client.port),
            ("http", 8080, Some(7))
        );
    }

    #[test]
    fn a_proxy_leaves_marks() {
        for name in ["forwarded", "x-forwarded-host", "via", "x-real-ip"] {
            let mut headers = HeaderMap::new();
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static("x"));
            assert!(was_forwarded(&headers), "{name}");
        }
        assert!(!was_forwarded(&HeaderMap::new()));
    }
}
