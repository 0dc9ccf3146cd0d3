//! What a path asks of whoever requests it. What is not listed is protected.

/// What a path asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Nothing.
    Open,
    /// To be on this very machine, or to be known.
    LocalOrKnown,
    /// To be known; a refusal is a problem document.
    Api,
    /// To be known; a refusal leads to the login form.
    Page,
}

/// What `path` asks for. Takes the path as the router sees it, still encoded: an encoded variant of an open
/// path is not that path.
pub(super) fn access(path: &str) -> Access {
    match path {
        // SECURITY: whatever is open here must tell nothing about programs and requests. Logging out needs no
        // more than the cookie it ends.
        "/healthz" | "/readyz" | "/login" | "/logout" | "/api/openapi.json" | "/api/docs" => Access::Open,
        "/metrics" => Access::LocalOrKnown,
        path if path.starts_with("/assets/") => Access::Open,
        path if path == "/api" || path.starts_with("/api/") => Access::Api,
        _ => Access::Page,
    }
}

#[cfg(test)]
mod tests {
    use super::{Access, access};

    #[test]
    fn only_what_is_listed_is_open() {
        for (path, expected) in [
            ("/healthz", Access::Open),
            ("/assets/app-1.js", Access::Open),
            ("/login", Access::Open),
            ("/api/openapi.json", Access::Open),
            ("/metrics", Access::LocalOrKnown),
            ("/api/v1/requests", Access::Api),
            ("/api", Access::Api),
            ("/apis", Access::Page),
            ("/", Access::Page),
            ("/assets", Access::Page),
            ("/healthz/", Access::Page),
            ("/%61ssets/x", Access::Page),
            ("/login/../programs", Access::Page),
            ("//healthz", Access::Page),
        ] {
            assert_eq!(access(path), expected, "{path}");
        }
    }
}
