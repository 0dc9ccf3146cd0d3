//! Variables case by case.

use http::{HeaderName, HeaderValue};
use proptest::prelude::*;

use super::*;

fn headers(fields: &[(&str, &[u8])]) -> HeaderMap {
    fields
        .iter()
        .map(|(name, value)| {
            (
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_bytes(value).unwrap(),
            )
        })
        .fold(HeaderMap::new(), |mut map, (name, value)| {
            map.append(name, value);
            map
        })
}

fn facts(headers: &HeaderMap) -> RequestFacts<'_> {
    RequestFacts {
        method: "GET",
        request_uri: "/cgi-bin/env",
        query: "",
        protocol: "HTTP/1.1",
        scheme: "http",
        headers,
        server_name: "example.com",
        server_addr: "127.0.0.1:8080".parse().unwrap(),
        server_port: 8080,
        remote_addr: "192.0.2.7".parse().unwrap(),
        remote_port: None,
        script_name: b"/cgi-bin/env",
        path_info: b"",
        script_filename: None,
        document_root: b"/srv/www",
        content_length: None,
        pass_authorization: false,
        own_cookies: &["warmbin_session", "warmbin_csrf"],
        request_id: "0190",
        redirected: None,
    }
}

fn built(facts: &RequestFacts<'_>) -> Vec<(String, String)> {
    MetaVariables::new("warmbin/0.1.0", &[("PATH".to_owned(), "/bin".to_owned())])
        .build(facts)
        .iter()
        .map(|(name, value)| {
            (
                String::from_utf8(name.to_vec()).unwrap(),
                String::from_utf8_lossy(value).into_owned(),
            )
        })
        .collect()
}

/// The client's headers as variables.
fn from_headers(fields: &[(&str, &[u8])]) -> Vec<(String, String)> {
    let headers = headers(fields);
    let mut variables = built(&facts(&headers));
    variables.retain(|(name, _)| name.starts_with("HTTP_"));
    variables.sort();
    variables
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn a_plain_request_gets_exactly_the_variables_it_should() {
    let headers = headers(&[]);
    assert_eq!(
        built(&facts(&headers)),
        owned(&[
            ("GATEWAY_INTERFACE", "CGI/1.1"),
            ("SERVER_SOFTWARE", "warmbin/0.1.0"),
            ("PATH", "/bin"),
            ("REQUEST_METHOD", "GET"),
            ("SCRIPT_NAME", "/cgi-bin/env"),
            ("QUERY_STRING", ""),
            ("REQUEST_URI", "/cgi-bin/env"),
            ("REQUEST_SCHEME", "http"),
            ("SERVER_NAME", "example.com"),
            ("SERVER_PORT", "8080"),
            ("SERVER_PROTOCOL", "HTTP/1.1"),
            ("SERVER_ADDR", "127.0.0.1"),
            ("REMOTE_ADDR", "192.0.2.7"),
            ("REMOTE_HOST", "192.0.2.7"),
            ("DOCUMENT_ROOT", "/srv/www"),
            ("REDIRECT_STATUS", "200"),
            ("UNIQUE_ID", "0190"),
        ])
    );
}

#[test]
fn a_full_request_adds_what_depends_on_it() {
    let headers = headers(&[("content-type", b"a/b; c=d "), ("content-length", b"99")]);
    let full = RequestFacts {
        method: "POST",
        request_uri: "/cgi-bin/env/a%20b?x=%20y&//q",
        query: "x=%20y&//q",
        protocol: "HTTP/2.0",
        scheme: "https",
        server_addr: "[::ffff:10.0.0.1]:8443".parse().unwrap(),
        server_port: 443,
        remote_addr: "::1".parse().unwrap(),
        remote_port: Some(50_000),
        path_info: b"/a b",
        script_filename: Some(b"/srv/cgi/env"),
        document_root: b"/srv/www/",
        content_length: Some(3),
        ..facts(&headers)
    };
    let plain = built(&facts(&HeaderMap::new()));
    let added: Vec<_> = built(&full)
        .into_iter()
        .filter(|variable| !plain.contains(variable))
        .collect();
    assert_eq!(
        added,
        owned(&[
            ("REQUEST_METHOD", "POST"),
            ("PATH_INFO", "/a b"),
            ("QUERY_STRING", "x=%20y&//q"),
            ("REQUEST_URI", "/cgi-bin/env/a%20b?x=%20y&//q"),
            ("REQUEST_SCHEME", "https"),
            ("HTTPS", "on"),
            ("SERVER_PORT", "443"),
            ("SERVER_PROTOCOL", "HTTP/2.0"),
            ("SERVER_ADDR", "10.0.0.1"),
            ("REMOTE_ADDR", "::1"),
            ("REMOTE_HOST", "::1"),
            ("REMOTE_PORT", "50000"),
            ("CONTENT_LENGTH", "3"),
            ("CONTENT_TYPE", "a/b; c=d"),
            ("SCRIPT_FILENAME", "/srv/cgi/env"),
            ("DOCUMENT_ROOT", "/srv/www/"),
            ("PATH_TRANSLATED", "/srv/www/a b"),
        ])
    );
}

#[test]
fn without_a_document_root_nothing_is_translated() {
    let headers = headers(&[]);
    let rootless = RequestFacts {
        document_root: b"",
        path_info: b"/etc/passwd",
        script_name: b"",
        ..facts(&headers)
    };
    let variables = built(&rootless);
    assert!(variables.contains(&("SCRIPT_NAME".to_owned(), String::new())));
    assert!(
        !variables
            .iter()
            .any(|(name, _)| name == "PATH_TRANSLATED" || name == "DOCUMENT_ROOT")
    );
}

#[test]
fn headers_become_variables_under_their_rules() {
    for (fields, variables) in [
        (&[("Foo", &b"  a  b \t"[..])][..], &[("HTTP_FOO", "a  b")][..]),
        (&[("X-Empty", b"")], &[("HTTP_X_EMPTY", "")]),
        (
            &[("Foo_Bar", b"evil"), ("Foo-Bar", b"good")],
            &[("HTTP_FOO_BAR", "good")],
        ),
        (&[("X.Y", b"1"), ("X!Y", b"2"), ("X~", b"3")], &[]),
        (
            &[("Proxy", b"http://evil"), ("Proxy-Authorization", b"Basic x")],
            &[],
        ),
        (&[("Authorization", b"Basic x")], &[]),
        (
            &[("Remote-User", b"root"), ("Remote_User", b"root")],
            &[("HTTP_REMOTE_USER", "root")],
        ),
        (
            &[("Accept", b"a"), ("Accept", b"b;q=1"), ("Accept", b"c")],
            &[("HTTP_ACCEPT", "a, b;q=1, c")],
        ),
        (
            &[("Content", b"9"), ("Conte", b"5")],
            &[("HTTP_CONTE", "5"), ("HTTP_CONTENT", "9")],
        ),
        (&[("Content-Length", b"3"), ("Content-Type", b"a/b")], &[]),
        (
            &[
                ("Connection", b"close, X-Hop"),
                ("Connection", b"x-other"),
                ("X-Hop", b"1"),
                ("X-Other", b"2"),
            ],
            &[],
        ),
        (
            &[
                ("TE", b"x"),
                ("Trailer", b"x"),
                ("Transfer-Encoding", b"chunked"),
                ("Upgrade", b"h2c"),
                ("Keep-Alive", b"x"),
                ("Proxy-Connection", b"x"),
            ],
            &[],
        ),
        (&[("Warmbin-Mode", b"fork")], &[("HTTP_WARMBIN_MODE", "fork")]),
        (&[("Ld-Preload", b"/x")], &[("HTTP_LD_PRELOAD", "/x")]),
    ] {
        assert_eq!(from_headers(fields), owned(variables), "{fields:?}");
    }
}

#[test]
fn cookies_are_joined_without_the_hosts_own() {
    for (cookies, variable) in [
        (&["a=1;b=2"][..], Some("a=1;b=2")),
        (&["a=1", "b=2"], Some("a=1; b=2")),
        (&["a=1; warmbin_session=s; b=2"], Some("a=1; b=2")),
        (
            &["warmbin_session=s", "a=warmbin_session=x"],
            Some("a=warmbin_session=x"),
        ),
        (&["a=1;warmbin_csrf =t;", "b=2"], Some("a=1; b=2")),
        (&["warmbin_session=s; warmbin_csrf=t"], None),
        (&["warmbin_session"], None),
        (
            &["warmbin_sessions=1; Warmbin_session=2"],
            Some("warmbin_sessions=1; Warmbin_session=2"),
        ),
    ] {
        let fields: Vec<_> = cookies.iter().map(|value| ("cookie", value.as_bytes())).collect();
        let wanted: Vec<_> = variable
            .map(|value| ("HTTP_COOKIE".to_owned(), value.to_owned()))
            .into_iter()
            .collect();
        assert_eq!(from_headers(&fields), wanted, "{cookies:?}");
    }
}

#[test]
fn bytes_above_ascii_pass_unchanged_and_authorization_on_request() {
    let headers = headers(&[
        ("x", b"\x80\xff"),
        ("authorization", b"Basic x"),
        ("proxy-authorization", b"Basic y"),
    ]);
    let open = RequestFacts {
        pass_authorization: true,
        ..facts(&headers)
    };
    let env = MetaVariables::new("warmbin/0.1.0", &[]).build(&open);
    assert_eq!(env.get(b"HTTP_X"), Some(&b"\x80\xff"[..]));
    assert_eq!(env.get(b"HTTP_AUTHORIZATION"), Some(&b"Basic x"[..]));
    assert_eq!(env.get(b"HTTP_PROXY_AUTHORIZATION"), None);
}

#[test]
fn configured_variables_never_stand_in_for_the_protocols() {
    let configured = owned(&[
        ("FOO", "old"),
        ("REMOTE_ADDR", "1.2.3.4"),
        ("SERVER_SOFTWARE", "x"),
        ("PATH_INFO", "/x"),
        ("CONTENT_LENGTH", "9"),
        ("HTTP_HOST", "x"),
        ("HTTP_PROXY", "http://proxy"),
        ("REMOTE_USER", "operator"),
        ("FOO", "bar"),
        ("BAD=NAME", "x"),
        ("BAD", "x\0y"),
    ]);
    let headers = headers(&[("foo", b"client"), ("proxy", b"http://evil")]);
    let env = MetaVariables::new("warmbin/0.1.0", &configured).build(&facts(&headers));
    for (name, value) in [
        ("FOO", Some("bar")),
        ("HTTP_FOO", Some("client")),
        ("REMOTE_ADDR", Some("192.0.2.7")),
        ("SERVER_SOFTWARE", Some("warmbin/0.1.0")),
        ("PATH_INFO", None),
        ("CONTENT_LENGTH", None),
        ("HTTP_HOST", None),
        ("HTTP_PROXY", Some("http://proxy")),
        ("REMOTE_USER", Some("operator")),
        ("BAD", None),
    ] {
        assert_eq!(env.get(name.as_bytes()), value.map(str::as_bytes), "{name}");
    }
}

proptest! {
    /// Whatever a client sends, names are unique, and it chooses none but those that begin with `HTTP_`.
    #[test]
    fn clients_choose_no_name_outside_http(
        fields in proptest::collection::vec(("[A-Za-z_.!-]{1,6}|proxy|connection|cookie", "[ -~]{0,12}"), 0..12),
    ) {
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let map = headers(&fields);
        let plain: Vec<_> = built(&facts(&HeaderMap::new())).into_iter().map(|(name, _)| name).collect();
        let names: Vec<_> = built(&facts(&map)).into_iter().map(|(name, _)| name).collect();
        let unique: std::collections::HashSet<_> = names.iter().collect();
        prop_assert_eq!(unique.len(), names.len());
        prop_assert!(!names.contains(&"HTTP_PROXY".to_owned()));
        for name in names.iter().filter(|name| !plain.contains(name)) {
            prop_assert!(name.starts_with("HTTP_") || name == "CONTENT_TYPE", "{}", name);
        }
    }
}

#[test]
fn the_program_for_an_error_page_is_told_what_was_asked_for() {
    let headers = headers(&[]);
    let facts = RequestFacts {
        redirected: Some(Redirected {
            status: 404,
            url: b"/no such",
            query: "a=%20",
            method: "POST",
        }),
        ..facts(&headers)
    };
    let mut variables = built(&facts);
    variables.retain(|(name, _)| name.starts_with("REDIRECT_"));
    assert_eq!(
        variables,
        owned(&[
            ("REDIRECT_STATUS", "404"),
            ("REDIRECT_URL", "/no such"),
            ("REDIRECT_QUERY_STRING", "a=%20"),
            ("REDIRECT_REQUEST_METHOD", "POST"),
        ])
    );
}
