//! Fields that concern one connection only (RFC 9110 §7.6.1) and so pass neither to a program nor from it.

use std::collections::HashSet;

use http::{HeaderMap, HeaderName, header};

/// Those that never pass, whatever Connection says.
pub(crate) const NAMES: [&str; 7] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Whether a field of this name never passes.
pub(crate) fn is_hop_by_hop(name: &HeaderName) -> bool {
    NAMES.contains(&name.as_str())
}

/// The fields that Connection names. A set, because a sender may name thousands.
pub(crate) fn named_by_connection(headers: &HeaderMap) -> HashSet<HeaderName> {
    headers
        .get_all(header::CONNECTION)
        .iter()
        .flat_map(|value| value.as_bytes().split(|&b| b == b','))
        .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
        .collect()
}
