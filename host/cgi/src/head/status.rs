//! Status values: `404 Not here`, and the `HTTP/1.1 404 Not here` of programs that mean to speak HTTP.

use http::StatusCode;

use super::HeadError;
use super::draft::excerpt;

/// A status and the reason phrase, if there is one.
pub(super) type Status = (StatusCode, Option<String>);

/// Reads a Status value, trimmed: three digits from 100 to 599 but for 101, then nothing, or white space and a reason.
pub(super) fn parse(value: &[u8]) -> Result<Status, HeadError> {
    let bad = || HeadError::BadStatus(excerpt(value));
    let (digits, reason) = value.split_at_checked(3).ok_or_else(bad)?;
    if !reason.is_empty() && !reason.starts_with(b" ") && !reason.starts_with(b"\t") {
        return Err(bad());
    }
    let status = StatusCode::from_bytes(digits).map_err(|_| bad())?;
    if status == StatusCode::SWITCHING_PROTOCOLS || status.as_u16() > 599 {
        return Err(bad());
    }
    let reason = String::from_utf8_lossy(reason.trim_ascii());
    Ok((status, (!reason.is_empty()).then(|| reason.into_owned())))
}

/// What follows the version, if this is an HTTP status line. Nothing else begins like one: a name holds no slash.
pub(super) fn after_version(line: &[u8]) -> Option<&[u8]> {
    let version_and_rest = line.strip_prefix(b"HTTP/")?;
    let space = memchr::memchr2(b' ', b'\t', version_and_rest).unwrap_or(version_and_rest.len());
    version_and_rest.get(space..).map(<[u8]>::trim_ascii)
}
