//! Logged-in browsers. Only the SHA-256 of a session's id is stored.

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// SHA-256 of the cookie's value, hexadecimal.
    pub id_hash: String,
    /// Who logged in: a token's name.
    pub name: String,
    /// "viewer", "operator" or "admin".
    pub role: String,
    /// When it was made, microseconds since the epoch.
    pub created_at: i64,
    /// When it was last used.
    pub used_at: i64,
    /// When it ends whatever happens.
    pub expires_at: i64,
}
