//! From a request to its meta-variables (RFC 3875 §4.1).
//!
//! Owns: which variables a program gets and which of the client's headers become some. Must not know: how the request
//! was received or how the program will be run.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, header};

use crate::environment::Environment;

mod headers;

/// What the server knows of a request. Paths are decoded bytes; everything else is as received.
#[derive(Debug, Clone)]
pub struct RequestFacts<'a> {
    /// The method, verbatim.
    pub method: &'a str,
    /// The request target as received, query included (`REQUEST_URI`).
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
    /// The extra path: empty (no `PATH_INFO`) or beginning with a slash.
    pub path_info: &'a [u8],
    /// The script's file (`SCRIPT_FILENAME`), as named.
    pub script_filename: Option<&'a [u8]>,
    /// The root that the extra path is mapped under for `PATH_TRANSLATED` (`DOCUMENT_ROOT`). Empty if there is none:
    /// neither variable is then set.
    pub document_root: &'a [u8],
    /// The body's length: sent or spooled. `None` when there is no body.
    pub content_length: Option<u64>,
    /// Whether the program may see Authorization.
    pub pass_authorization: bool,
    /// Cookie names that are the host's own and removed from `HTTP_COOKIE`.
    pub own_cookies: &'a [&'a str],
    /// The request id (`UNIQUE_ID`).
    pub request_id: &'a str,
    /// The request that could not be answered, if this one asks for the page that says so.
    pub redirected: Option<Redirected<'a>>,
}

/// A request that the host could not answer, for the program that makes the page. RFC 3875 does not have these
/// variables; their names and forms are Apache's, which programs know.
#[derive(Debug, Clone, Copy)]
pub struct Redirected<'a> {
    /// The status of the answer (`REDIRECT_STATUS`).
    pub status: u16,
    /// The path that was asked for, not a whole URL (`REDIRECT_URL`).
    pub url: &'a [u8],
    /// Its query, as received (`REDIRECT_QUERY_STRING`).
    pub query: &'a str,
    /// Its method (`REDIRECT_REQUEST_METHOD`).
    pub method: &'a str,
}

/// What the host determines for each request, by being unset too. `AUTH_TYPE`, `REMOTE_USER` and `REMOTE_IDENT` are not
/// among them: the host claims nothing about users, so an operator who does may.
const PROTOCOL_VARIABLES: [&str; 26] = [
    "CONTENT_LENGTH",
    "CONTENT_TYPE",
    "DOCUMENT_ROOT",
    "GATEWAY_INTERFACE",
    "HTTPS",
    "PATH_INFO",
    "PATH_TRANSLATED",
    "QUERY_STRING",
    "REDIRECT_QUERY_STRING",
    "REDIRECT_REQUEST_METHOD",
    "REDIRECT_STATUS",
    "REDIRECT_URL",
    "REMOTE_ADDR",
    "REMOTE_HOST",
    "REMOTE_PORT",
    "REQUEST_METHOD",
    "REQUEST_SCHEME",
    "REQUEST_URI",
    "SCRIPT_FILENAME",
    "SCRIPT_NAME",
    "SERVER_ADDR",
    "SERVER_NAME",
    "SERVER_PORT",
    "SERVER_PROTOCOL",
    "SERVER_SOFTWARE",
    "UNIQUE_ID",
];

/// Whether `name` is the protocol's: an operator's variable of this name is ignored by [`MetaVariables::new`], which a
/// check of the configuration should say. That includes all that looks like a client's header, except `HTTP_PROXY`:
/// no header can become that one, and operators do need it.
pub fn is_protocol_variable(name: &str) -> bool {
    PROTOCOL_VARIABLES.contains(&name) || (name.starts_with("HTTP_") && name != "HTTP_PROXY")
}

/// Builds environments. The part that is the same for every request of a program is prepared once.
#[derive(Debug, Clone)]
pub struct MetaVariables {
    constant: Environment,
}

impl MetaVariables {
    /// `software` is `SERVER_SOFTWARE` ("warmbin/0.1.0"). `configured` are the operator's variables, PATH among them;
    /// they never replace a protocol variable (see [`is_protocol_variable`]), and of two with one name the last counts.
    pub fn new(software: &str, configured: &[(String, String)]) -> Self {
        let mut constant = Environment::new();
        constant.set(b"GATEWAY_INTERFACE", b"CGI/1.1");
        constant.set(b"SERVER_SOFTWARE", software.as_bytes());
        for (name, value) in configured.iter().filter(|(name, _)| !is_protocol_variable(name)) {
            constant.set(name.as_bytes(), value.as_bytes());
        }
        Self { constant }
    }

    /// The whole environment of one request. Header rules: a name with anything but letters, digits and `-` gives no
    /// variable; `Proxy` never does (httpoxy), nor does Proxy-Authorization; Authorization only on request; repeated
    /// headers are joined with ", " (Cookie with "; "); hop-by-hop headers, and those that Connection names, are
    /// dropped; bytes above 0x7F pass unchanged. A value that holds NUL leaves its variable unset.
    pub fn build(&self, facts: &RequestFacts<'_>) -> Environment {
        let mut env = self
            .constant
            .clone_with_room(PROTOCOL_VARIABLES.len() + facts.headers.len(), room(facts));
        let mut add = |name: &str, value: &[u8]| env.append(name.as_bytes(), [value]);

        add("REQUEST_METHOD", facts.method.as_bytes());
        add("SCRIPT_NAME", facts.script_name);
        if !facts.path_info.is_empty() {
            add("PATH_INFO", facts.path_info);
        }
        add("QUERY_STRING", facts.query.as_bytes());
        add("REQUEST_URI", facts.request_uri.as_bytes());
        add("REQUEST_SCHEME", facts.scheme.as_bytes());
        if facts.scheme == "https" {
            add("HTTPS", b"on");
        }

        add("SERVER_NAME", facts.server_name.as_bytes());
        add("SERVER_PORT", facts.server_port.to_string().as_bytes());
        add("SERVER_PROTOCOL", facts.protocol.as_bytes());
        // A socket for both families reports IPv4 peers as `::ffff:a.b.c.d`, which no program compares rightly.
        add(
            "SERVER_ADDR",
            facts.server_addr.ip().to_canonical().to_string().as_bytes(),
        );
        let client = facts.remote_addr.to_canonical().to_string();
        add("REMOTE_ADDR", client.as_bytes());
        // RFC 3875 §4.1.9 allows the address in place of a name: no request waits for a name server.
        add("REMOTE_HOST", client.as_bytes());
        if let Some(port) = facts.remote_port {
            add("REMOTE_PORT", port.to_string().as_bytes());
        }

        if let Some(length) = facts.content_length {
            add("CONTENT_LENGTH", length.to_string().as_bytes());
        }
        if let Some(content_type) = facts.headers.get(header::CONTENT_TYPE) {
            add("CONTENT_TYPE", content_type.as_bytes().trim_ascii());
        }

        if let Some(file) = facts.script_filename {
            add("SCRIPT_FILENAME", file);
        }
        // SECURITY: without a root the extra path would itself be taken for a file's name, `/etc/passwd` for one.
        if !facts.document_root.is_empty() {
            add("DOCUMENT_ROOT", facts.document_root);
            if !facts.path_info.is_empty() {
                let root = facts
                    .document_root
                    .strip_suffix(b"/")
                    .unwrap_or(facts.document_root);
                env.append(b"PATH_TRANSLATED", [root, facts.path_info]);
            }
        }
        // php-cgi refuses to run without a REDIRECT_STATUS.
        match facts.redirected {
            None => env.append(b"REDIRECT_STATUS", [&b"200"[..]]),
            Some(from) => {
                env.append(b"REDIRECT_STATUS", [from.status.to_string().as_bytes()]);
                env.append(b"REDIRECT_URL", [from.url]);
                env.append(b"REDIRECT_QUERY_STRING", [from.query.as_bytes()]);
                env.append(b"REDIRECT_REQUEST_METHOD", [from.method.as_bytes()])
            }
        };
        env.append(b"UNIQUE_ID", [facts.request_id.as_bytes()]);

        headers::append(&mut env, facts);
        env
    }
}

/// About the bytes that the variables of a request take: an estimate, so that the buffer seldom grows.
fn room(facts: &RequestFacts<'_>) -> usize {
    let headers: usize = facts
        .headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 8)
        .sum();
    let paths = facts.script_name.len()
        + 2 * facts.path_info.len()
        + 2 * facts.document_root.len()
        + facts.script_filename.map_or(0, <[u8]>::len);
    512 + headers + paths + facts.request_uri.len() + facts.query.len()
}

#[cfg(test)]
mod tests;
