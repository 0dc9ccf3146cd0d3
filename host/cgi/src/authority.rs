//! `Host` and absolute-form authorities, to SERVER_NAME (RFC 3875 §4.1.14).

/// Checks an authority and returns its host part, lower-cased, without the port, IPv6 in brackets; `None` if it is malformed
/// (spaces, markup, more than one port), which a server answers with 400.
pub fn server_name(_authority: &[u8]) -> Option<String> {
    todo!()
}
