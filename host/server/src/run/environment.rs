//! From a routed request to the program's environment.

use std::net::{IpAddr, SocketAddr};
use std::os::unix::ffi::OsStrExt;

use http::header::HOST;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, Version};
use warmbin_cgi::{Environment, Redirected, RequestFacts, authority};
use warmbin_store::{MASKED, ResponseField};

use super::client::Client;
use super::refuse::Refusal;
use super::route::Routed;
use crate::host::SESSION_COOKIE;

/// `SERVER_NAME` for a request, checked. A target that names its own authority overrides `Host`, which is
/// then set to agree.
pub fn server_name(parts: &mut Parts, local: SocketAddr) -> Result<String, Refusal> {
    let malformed = || {
        Refusal::new(
            StatusCode::BAD_REQUEST,
            "The request does not name its host properly.",
        )
    };
    let mut hosts = parts.headers.get_all(HOST).iter();
    let (host, repeated) = (hosts.next().cloned(), hosts.next().is_some());
    if repeated {
        return Err(malformed());
    }
    // In HTTP/1 a proper Host is asked for even where the target names another (RFC 9112 §3.2).
    if parts.version <= Version::HTTP_11
        && host
            .as_ref()
            .is_some_and(|host| !host.is_empty() && authority::server_name(host.as_bytes()).is_none())
    {
        return Err(malformed());
    }
    let named = match (parts.uri.authority(), host) {
        (_, None) if parts.version == Version::HTTP_11 => return Err(malformed()),
        (Some(authority), _) => {
            let value = HeaderValue::from_str(authority.as_str()).map_err(|_| malformed())?;
            parts.headers.insert(HOST, value.clone());
            value
        }
        (None, Some(host)) => host,
        (None, None) => return Ok(bracketed(local)),
    };
    if named.is_empty() {
        return Ok(bracketed(local));
    }
    authority::server_name(named.as_bytes()).ok_or_else(malformed)
}

fn bracketed(local: SocketAddr) -> String {
    match local.ip().to_canonical() {
        IpAddr::V4(addr) => addr.to_string(),
        IpAddr::V6(addr) => format!("[{addr}]"),
    }
}

/// What an environment is made of, beside the program.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The method.
    pub method: &'a str,
    /// The request target, query included.
    pub request_uri: &'a str,
    /// The query.
    pub query: &'a str,
    /// The version of HTTP.
    pub version: Version,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// From [`server_name`].
    pub server_name: &'a str,
    /// This end of the connection.
    pub local: SocketAddr,
    /// The client.
    pub client: &'a Client,
    /// The body's length, if there is one.
    pub content_length: Option<u64>,
    /// The id that is shown to the client.
    pub request_id: &'a str,
    /// The request that could not be answered, if the program is to make the page for that.
    pub redirected: Option<Redirected<'a>>,
}

/// The environment of `routed`'s program for one request.
pub fn build(routed: &Routed, facts: &Facts<'_>) -> Environment {
    let entry = &routed.entry;
    entry.variables.build(&RequestFacts {
        method: facts.method,
        request_uri: facts.request_uri,
        query: facts.query,
        protocol: protocol(facts.version),
        scheme: facts.client.scheme,
        headers: facts.headers,
        server_name: facts.server_name,
        server_addr: facts.local,
        server_port: facts.client.server_port,
        remote_addr: facts.client.addr,
        remote_port: facts.client.port,
        script_name: &routed.script_name,
        path_info: &routed.path_info,
        script_filename: entry.script_filename(),
        document_root: entry.document_root.as_os_str().as_bytes(),
        content_length: facts.content_length,
        pass_authorization: entry.policy.pass_authorization,
        // SECURITY: a program that saw the session cookie could act as the administrator.
        own_cookies: &[SESSION_COOKIE],
        request_id: facts.request_id,
        redirected: facts.redirected,
    })
}

fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 | Version::HTTP_09 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        _ => "HTTP/1.1",
    }
}

/// The environment as kept with the record.
pub fn shown(environment: &Environment) -> Vec<ResponseField> {
    let show = |(name, value): (&[u8], &[u8])| ResponseField {
        value: if is_secret(name) {
            MASKED.to_owned()
        } else {
            String::from_utf8_lossy(value).into_owned()
        },
        name: String::from_utf8_lossy(name).into_owned(),
    };
    environment.iter().map(show).collect()
}

/// Whether a variable's value is kept out of records. SECURITY: records are read by more people than requests
/// are.
///
/// Asked of every variable of every request, so a mark is only compared where its first letter stands.
fn is_secret(name: &[u8]) -> bool {
    let begins = |rest: &[u8], mark: &[u8]| {
        rest.get(..mark.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(mark))
    };
    (0..name.len())
        .filter_map(|at| name.get(at..))
        .any(|rest| match rest.first() {
            Some(b'A' | b'a') => begins(rest, b"AUTHORIZATION") || begins(rest, b"API_KEY"),
            Some(b'C' | b'c') => begins(rest, b"COOKIE"),
            Some(b'P' | b'p') => begins(rest, b"PASSW"),
            Some(b'S' | b's') => begins(rest, b"SECRET"),
            Some(b'T' | b't') => begins(rest, b"TOKEN"),
            _ => false,
        })
}

/// The arguments of an indexed query (RFC 3875 §4.4): the words of a query that holds no unencoded `=`; none
/// if a word cannot be an argument, or looks like an option.
pub fn indexed_arguments(query: &str) -> Vec<std::ffi::OsString> {
    use std::os::unix::ffi::OsStringExt;
    if query.is_empty() || query.contains('=') {
        return Vec::new();
    }
    let words: Vec<Vec<u8>> = query
        .split('+')
        .map(|word| percent_encoding::percent_decode_str(word).collect())
        .collect();
    // SECURITY: a program that is an interpreter, or is run by one that its first line names, would take a word for an
    // option of its own (CVE-2012-1823).
    if words
        .iter()
        .any(|word| word.contains(&0) || word.starts_with(b"-"))
    {
        return Vec::new();
    }
    words.into_iter().map(std::ffi::OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, Request, Version};
    use warmbin_cgi::Environment;

    use super::{indexed_arguments, server_name, shown};

    #[test]
    fn a_query_with_an_equals_sign_gives_no_arguments() {
        for (query, expected) in [
            ("", &[][..]),
            ("a=b", &[]),
            ("a+b=c", &[]),
            ("a+b%20c", &["a", "b c"]),
            ("a++b", &["a", "", "b"]),
            ("a%3Db", &["a=b"]),
            ("a+%00", &[]),
            ("-d+x", &[]),
            ("a+%2Dd", &[]),
            ("a-b", &["a-b"]),
        ] {
            assert_eq!(indexed_arguments(query), expected, "{query}");
        }
    }

    #[test]
    fn the_server_name_comes_from_the_target_before_the_host_header() {
        let local = "127.0.0.1:8080".parse().unwrap();
        for (uri, hosts, expected) in [
            ("/x", &["Example.COM:81"][..], Some("example.com")),
            ("http://foo:81/x", &["bar"], Some("foo")),
            ("/x", &["a", "b"], None),
            ("/x", &[], None),
            ("/x", &["a<b>"], None),
            ("http://foo/x", &["a<b>"], None),
            ("http://foo/x", &[], None),
        ] {
            let (mut parts, ()) = Request::get(uri).body(()).unwrap().into_parts();
            for host in hosts {
                parts.headers.append("host", HeaderValue::from_static(host));
            }
            assert_eq!(
                server_name(&mut parts, local).ok().as_deref(),
                expected,
                "{uri} {hosts:?}"
            );
        }
        let (mut parts, ()) = Request::get("/x")
            .version(Version::HTTP_10)
            .body(())
            .unwrap()
            .into_parts();
        assert_eq!(server_name(&mut parts, local).unwrap(), "127.0.0.1");
    }

    #[test]
    fn secrets_are_not_kept_with_the_record() {
        let mut environment = Environment::new();
        environment.set(b"HTTP_COOKIE", b"a=b");
        environment.set(b"DB_PASSWORD", b"x");
        environment.set(b"HTTP_HOST", b"h");
        let shown = shown(&environment);
        let values: Vec<_> = shown.iter().map(|field| field.value.as_str()).collect();
        assert_eq!(values, ["…", "…", "h"]);
    }
}
