//! Request paths: decoding once, normalising, and splitting into script and extra path (RFC 3875 §3.2, §3.3, §4.1.5).

/// What to do with `%2F` (an encoded slash) in the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EncodedSlashes {
    /// Refuse the request (404), as RFC 3875 §4.1.5 advises: the extra path could not be told from a real one.
    #[default]
    Reject,
    /// Decode it like any other character.
    Decode,
    /// Leave it as `%2F`.
    Keep,
}

/// Why a path is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It does not begin with a slash.
    #[error("the path does not begin with a slash")]
    NotAbsolute,
    /// A `%` not followed by two hexadecimal digits.
    #[error("the path has a malformed percent-encoding")]
    BadEncoding,
    /// It holds an encoded NUL.
    #[error("the path holds a NUL byte")]
    Nul,
    /// It holds an encoded slash and those are refused.
    #[error("the path holds an encoded slash")]
    EncodedSlash,
    /// Its `..` segments climb above the root.
    #[error("the path climbs above the root")]
    AboveRoot,
}

/// Decodes a raw request path (no query) once and removes its `.` and `..` segments (also encoded ones). Repeated slashes are kept: in
/// the extra path they are data. The result begins with a slash and holds no NUL and no `..` segment.
pub fn decode(_raw: &str, _slashes: EncodedSlashes) -> Result<Vec<u8>, PathError> {
    todo!()
}

/// Splits `path` at a mount prefix (`/cgi-bin/printenv`): `Some(rest)` where rest is empty or begins with a slash. Repeated slashes
/// *inside the part matched by the prefix* count as one (documented rule: the script part is normalised, the extra path is kept).
/// A prefix of `/` or the empty string matches everything and leaves the whole path as rest.
pub fn strip_mount<'a>(_path: &'a [u8], _prefix: &str) -> Option<&'a [u8]> {
    todo!()
}

/// The ways to cut `rest` (begins with a slash) into a file's path and the extra path, shortest script first: for `/a/b/c`:
/// (`/a`, `/b/c`), (`/a/b`, `/c`), (`/a/b/c`, ``). A caller walks them, descending while the file part is a folder and
/// stopping at the first that is a file: the classic search. Repeated slashes in the file part count as one.
pub fn script_splits(_rest: &[u8]) -> Vec<(Vec<u8>, &[u8])> {
    todo!()
}
