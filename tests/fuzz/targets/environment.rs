//! Meta-variables: whatever a client sends, an environment has each name once, no NUL, and no name of the client's
//! choosing outside HTTP_….

#![no_main]

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use arbitrary::Arbitrary;
use http::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;
use warmbin_cgi::meta_variables::is_protocol_variable;
use warmbin_cgi::{MetaVariables, RequestFacts};

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    configured: Vec<(String, String)>,
    headers: Vec<(&'a [u8], &'a [u8])>,
    method: &'a str,
    query: &'a str,
    path_info: &'a [u8],
    script_name: &'a [u8],
    content_length: Option<u64>,
    pass_authorization: bool,
}

fuzz_target!(|input: Input<'_>| {
    let mut headers = HeaderMap::new();
    for (name, value) in &input.headers {
        let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) else {
            continue;
        };
        if headers.try_append(name, value).is_err() {
            return;
        }
    }
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 80));
    let environment = MetaVariables::new("fuzz", &input.configured).build(&RequestFacts {
        method: input.method,
        request_uri: input.query,
        query: input.query,
        protocol: "HTTP/1.1",
        scheme: "http",
        headers: &headers,
        server_name: "localhost",
        server_addr: local,
        server_port: 80,
        remote_addr: IpAddr::V4(Ipv4Addr::LOCALHOST),
        remote_port: None,
        script_name: input.script_name,
        path_info: input.path_info,
        script_filename: None,
        document_root: b"",
        content_length: input.content_length,
        pass_authorization: input.pass_authorization,
        own_cookies: &["warmbin_session"],
        request_id: "id",
        redirected: None,
    });
    let mut names = HashSet::new();
    for (name, value) in environment.iter() {
        assert!(!name.is_empty() && !name.contains(&b'=') && !name.contains(&0) && !value.contains(&0));
        assert!(names.insert(name.to_vec()), "{name:?} twice");
        let text = String::from_utf8_lossy(name);
        let is_configured = input.configured.iter().any(|(known, _)| *known == text);
        assert!(is_configured || is_protocol_variable(&text), "{text} is nobody's");
        assert!(is_configured || text != "HTTP_PROXY");
        assert!(input.pass_authorization || text != "HTTP_AUTHORIZATION");
    }
    assert_eq!(environment.c_strings().count(), environment.len());
    let cookies = environment.get(b"HTTP_COOKIE").unwrap_or_default();
    assert!(
        !String::from_utf8_lossy(cookies)
            .split(';')
            .any(|cookie| cookie.trim().starts_with("warmbin_session="))
    );
});
