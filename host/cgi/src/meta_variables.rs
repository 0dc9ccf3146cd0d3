//! From a request to its meta-variables (RFC 3875 §4.1).

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;

use crate::environment::Environment;

/// What the server knows of a request. Paths are decoded bytes; everything else is as received.
#[derive(Debug, Clone)]
pub struct RequestFacts<'a> {
    /// The method, verbatim.
    pub method: &'a str,
    /// The request target as received, query included (REQUEST_URI).
    pub request_uri: &'a str,
    /// The query string as received, without `?`; empty if there is none.
    pub query: &'a str,
    /// "HTTP/1.0", "HTTP/1.1" or "HTTP/2.0".
    pub protocol: &'a str,
    /// "http" or "https".
    pub scheme: &'a str,
    /// The headers as received.
    pub headers: &'a HeaderMap,
    /// From [`crate::authority::server_name`], or the listening address.
    pub server_name: &'a str,
    /// The listening socket.
    pub server_addr: SocketAddr,
    /// The port the client used: the listening socket's, unless a trusted proxy says otherwise.
    pub server_port: u16,
    /// The client, after trusted proxies.
    pub remote_addr: IpAddr,
    /// The client's port, where known.
    pub remote_port: Option<u16>,
    /// The path that leads to the script; empty for a program mounted at `/`.
    pub script_name: &'a [u8],
    /// The extra path: empty (no PATH_INFO) or beginning with a slash.
    pub path_info: &'a [u8],
    /// The script's file (SCRIPT_FILENAME), as named.
    pub script_filename: Option<&'a [u8]>,
    /// The root that the extra path is mapped under for PATH_TRANSLATED (DOCUMENT_ROOT).
    pub document_root: &'a [u8],
    /// The body's length: sent or spooled. `None` when there is no body.
    pub content_length: Option<u64>,
    /// Whether the program may see Authorization.
    pub pass_authorization: bool,
    /// Cookie names that are the host's own and removed from HTTP_COOKIE.
    pub own_cookies: &'a [&'a str],
    /// The request id (UNIQUE_ID).
    pub request_id: &'a str,
}

/// Builds environments. The part that is the same for every request of a program is prepared once.
#[derive(Debug, Clone)]
pub struct MetaVariables {
    #[expect(dead_code, reason = "skeleton")]
    constant: Environment,
}

impl MetaVariables {
    /// `software` is SERVER_SOFTWARE ("warmbin/0.1.0"). `configured` are the operator's variables, PATH among them; they
    /// never replace a protocol variable.
    pub fn new(_software: &str, _configured: &[(String, String)]) -> Self {
        todo!()
    }

    /// The whole environment of one request. Header rules: a name with anything but letters, digits and `-` gives no
    /// variable; `Proxy` never does (httpoxy); Authorization and Proxy-Authorization only on request; repeated headers are joined with ", "
    /// (Cookie with "; "); hop-by-hop headers, and those that Connection names, are dropped; bytes above 0x7F pass unchanged.
    pub fn build(&self, _facts: &RequestFacts<'_>) -> Environment {
        todo!()
    }
}
