//! `Host` and absolute-form authorities, to `SERVER_NAME` (RFC 3875 §4.1.14).
//!
//! Owns: which hosts are well-formed. Must not know: which of them this server answers for.

use std::net::Ipv6Addr;

/// Bytes of a host name, as in DNS.
const LONGEST_NAME: usize = 255;

/// Checks an authority and returns its host part, lower-cased, without the port and without the final dot of a
/// complete name, IPv6 in brackets; `None` if it is malformed, which a server answers with 400.
///
/// Stricter than RFC 3986, which lets a registered name hold quotes and percent-encodings: a name is of letters,
/// digits, `-`, `_` and dots, with no empty label. User information, zone identifiers and ports above 65535 are refused.
pub fn server_name(authority: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(authority).ok()?;
    let (host, port) = if let Some(bracketed) = text.strip_prefix('[') {
        let (address, after) = bracketed.split_once(']')?;
        address.parse::<Ipv6Addr>().ok()?;
        // Both brackets, which are one byte each.
        (text.get(..address.len() + 2)?, after)
    } else {
        let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
        (checked_name(host)?, port)
    };
    if !port.is_empty() {
        check_port(port.strip_prefix(':')?)?;
    }
    Some(host.to_ascii_lowercase())
}

/// SECURITY: programs put `SERVER_NAME` into pages, file names and commands; nothing but these characters may get there.
fn checked_name(host: &str) -> Option<&str> {
    let name = host.strip_suffix('.').unwrap_or(host);
    let well_formed = name.len() <= LONGEST_NAME
        && name.split('.').all(|label| {
            !label.is_empty()
                && label
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        });
    well_formed.then_some(name)
}

/// A port is digits only (no sign, which `parse` would take) and may be empty (RFC 3986 §3.2.3).
fn check_port(digits: &str) -> Option<()> {
    let fits =
        digits.bytes().all(|b| b.is_ascii_digit()) && (digits.is_empty() || digits.parse::<u16>().is_ok());
    fits.then_some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::server_name;

    #[test]
    fn keeps_the_host_and_drops_the_port() {
        for (authority, name) in [
            ("Example.COM:8081", "example.com"),
            ("localhost", "localhost"),
            ("a_b.example.", "a_b.example"),
            ("example.com:", "example.com"),
            ("127.0.0.1:65535", "127.0.0.1"),
            ("[::1]:8081", "[::1]"),
            ("[FE80::A]", "[fe80::a]"),
            ("[::ffff:1.2.3.4]:0", "[::ffff:1.2.3.4]"),
        ] {
            assert_eq!(
                server_name(authority.as_bytes()).as_deref(),
                Some(name),
                "{authority:?}"
            );
        }
    }

    #[test]
    fn refuses_what_is_no_host() {
        for authority in [
            "",
            ":80",
            ".",
            "..",
            "../..",
            "a..b",
            ".a",
            "a b",
            "a<script>",
            "a\"b",
            "a'b",
            "a%41",
            "a/b",
            "a\\b",
            "a,b",
            "user@host",
            "a:b",
            "a:80:80",
            "a:+80",
            "a:65536",
            "a:-1",
            "::1",
            "[::1",
            "::1]",
            "[]",
            "[::1]x",
            "[::1]:x",
            "[fe80::1%eth0]",
            "[1.2.3.4]",
            "[v1.x]",
            "a\0",
            "a\n",
            "bücher.example",
            "a b:80",
        ] {
            assert_eq!(server_name(authority.as_bytes()), None, "{authority:?}");
        }
        assert_eq!(server_name(b"\xff"), None);
        assert_eq!(server_name("a".repeat(256).as_bytes()), None);
    }

    proptest! {
        #[test]
        fn gives_only_harmless_names_that_it_accepts_again(authority in "[\\[\\]:.a-f0-9A-F<@%-]{0,20}") {
            if let Some(name) = server_name(authority.as_bytes()) {
                prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:[]".contains(&b)), "{}", name);
                prop_assert_eq!(server_name(name.as_bytes()), Some(name));
            }
        }
    }
}
