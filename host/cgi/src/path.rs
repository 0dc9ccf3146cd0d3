//! Request paths: decoding once, normalising, and splitting into script and extra path (RFC 3875 §3.2, §3.3, §4.1.5).
//!
//! Owns: what a path means as text. Must not know: whether any file is there.

/// What to do with `%2F` (an encoded slash) in the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EncodedSlashes {
    /// Refuse the request (404), as RFC 3875 §4.1.5 advises: the extra path could not be told from a real one.
    #[default]
    Reject,
    /// Decode it like any other character.
    Decode,
    /// Leave it as it was sent, `%2F` or `%2f`.
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
    /// It holds a control character that is not encoded.
    #[error("the path holds a raw control character")]
    Control,
    /// It holds an encoded slash and those are refused.
    #[error("the path holds an encoded slash")]
    EncodedSlash,
    /// Its `..` segments climb above the root.
    #[error("the path climbs above the root")]
    AboveRoot,
}

/// Decodes a raw request path (no query) once and removes its `.` and `..` segments, encoded ones too. Repeated
/// slashes are kept: in the extra path they are data. Only `..` takes them for one, as a file system does: `/a//../b`
/// is `/b`, and `//..` is above the root. The result begins with a slash and holds no NUL and no `.` or `..` segment.
pub fn decode(raw: &str, slashes: EncodedSlashes) -> Result<Vec<u8>, PathError> {
    if !raw.starts_with('/') {
        return Err(PathError::NotAbsolute);
    }
    let decoded = decode_percent(raw.as_bytes(), slashes)?;
    // Only a segment that begins with a dot needs work, and hardly any path has one.
    if memchr::memmem::find(&decoded, b"/.").is_none() {
        return Ok(decoded);
    }
    // SECURITY: after decoding, never before it: `%2e%2e` is a `..` too, and nothing decodes the result again.
    remove_dot_segments(&decoded)
}

fn decode_percent(raw: &[u8], slashes: EncodedSlashes) -> Result<Vec<u8>, PathError> {
    let mut decoded = Vec::with_capacity(raw.len());
    let mut left = raw;
    while let Some((&byte, after)) = left.split_first() {
        left = after;
        match byte {
            b'%' => {
                let [high, low, after @ ..] = after else {
                    return Err(PathError::BadEncoding);
                };
                left = after;
                match (hex_digit(*high)? << 4) | hex_digit(*low)? {
                    // SECURITY: a NUL ends a path early for every C program and system call.
                    0 => return Err(PathError::Nul),
                    b'/' => match slashes {
                        EncodedSlashes::Reject => return Err(PathError::EncodedSlash),
                        EncodedSlashes::Decode => decoded.push(b'/'),
                        EncodedSlashes::Keep => decoded.extend_from_slice(&[b'%', *high, *low]),
                    },
                    other => decoded.push(other),
                }
            }
            0 => return Err(PathError::Nul),
            control if control.is_ascii_control() => return Err(PathError::Control),
            plain => decoded.push(plain),
        }
    }
    Ok(decoded)
}

fn hex_digit(byte: u8) -> Result<u8, PathError> {
    match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        b'A'..=b'F' => Ok(byte - b'A' + 10),
        _ => Err(PathError::BadEncoding),
    }
}

fn remove_dot_segments(path: &[u8]) -> Result<Vec<u8>, PathError> {
    let mut kept: Vec<u8> = Vec::with_capacity(path.len());
    let mut segments = path
        .strip_prefix(b"/")
        .unwrap_or(path)
        .split(|&b| b == b'/')
        .peekable();
    while let Some(segment) = segments.next() {
        let is_dots = match segment {
            b"." => true,
            b".." => {
                let end = kept
                    .iter()
                    .rposition(|&b| b != b'/')
                    .ok_or(PathError::AboveRoot)?;
                kept.truncate(end);
                kept.truncate(memchr::memrchr(b'/', &kept).unwrap_or(0));
                true
            }
            _ => false,
        };
        // Dots in last place name a folder: what is left ends in a slash.
        if !is_dots || segments.peek().is_none() {
            kept.push(b'/');
        }
        if !is_dots {
            kept.extend_from_slice(segment);
        }
    }
    Ok(kept)
}

/// Splits `path` at a mount prefix (`/cgi-bin/printenv`): `Some(rest)` where rest is empty or begins with a slash.
/// Repeated slashes *inside the part matched by the prefix* count as one (documented rule: the script part is
/// normalised, the extra path is kept). A prefix of `/` or the empty string matches everything and leaves the whole
/// path as rest.
pub fn strip_mount<'a>(path: &'a [u8], prefix: &str) -> Option<&'a [u8]> {
    let mut rest = path;
    for wanted in prefix.split('/').filter(|segment| !segment.is_empty()) {
        let (segment, after) = first_segment(rest)?;
        if segment != wanted.as_bytes() {
            return None;
        }
        rest = after;
    }
    (rest.is_empty() || rest.starts_with(b"/")).then_some(rest)
}

/// The ways to cut `rest` (begins with a slash) into a file's path and the extra path, shortest script first: for
/// `/a/b/c`: (`/a`, `/b/c`), (`/a/b`, `/c`), (`/a/b/c`, nothing). A caller walks them, descending while the file part is a
/// folder and stopping at the first that is a file: the classic search. Repeated slashes in the file part count as one.
///
/// Lazy, because a long path has thousands of cuts and a caller soon stops.
pub fn script_splits(rest: &[u8]) -> impl Iterator<Item = (Vec<u8>, &[u8])> + '_ {
    let mut file = Vec::new();
    let mut extra = rest;
    std::iter::from_fn(move || {
        let (segment, after) = first_segment(extra)?;
        file.push(b'/');
        file.extend_from_slice(segment);
        extra = after;
        Some((file.clone(), extra))
    })
}

/// The first segment that is not empty, without its slashes, and what follows it. `None` for a path of slashes only,
/// an empty one, and one that does not begin with a slash.
fn first_segment(path: &[u8]) -> Option<(&[u8], &[u8])> {
    if !path.starts_with(b"/") {
        return None;
    }
    let start = path.iter().position(|&b| b != b'/')?;
    let (_, named) = path.split_at_checked(start)?;
    named.split_at_checked(memchr::memchr(b'/', named).unwrap_or(named.len()))
}

#[cfg(test)]
mod tests;
