//! Where a login leads: a path of this very site, never elsewhere.

/// `next` if it is a path of this site, else the start page.
pub(super) fn same_site(next: &str) -> &str {
    // SECURITY: browsers read `//host` and `/\host` as another site and drop control characters before they
    // look.
    let leads_away =
        next.starts_with("//") || next.contains('\\') || next.bytes().any(|byte| !byte.is_ascii_graphic());
    if next.starts_with('/') && !leads_away {
        next
    } else {
        "/"
    }
}

#[cfg(test)]
mod tests {
    use super::same_site;

    #[test]
    fn a_login_never_leads_to_another_site() {
        for next in ["/", "/requests?mode=fork&status=5xx", "/programs/a%20b"] {
            assert_eq!(same_site(next), next);
        }
        for next in [
            "",
            "programs",
            "//evil.example",
            "/\\evil.example",
            "/\t/evil.example",
            "https://evil.example/",
            "javascript:alert(1)",
            "/a\r\nSet-Cookie: x",
        ] {
            assert_eq!(same_site(next), "/", "{next:?}");
        }
    }
}
