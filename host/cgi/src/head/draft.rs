//! From lines to a head: takes each line as it ends, and decides what they amount to at the blank one.

use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::date::http_date;
use super::status::{self, Status};
use super::{HeadError, HeadLimits, HeadStyle, ResponseHead, ResponseKind, X_SENDFILE};
use crate::hop_by_hop;

/// Fields of which a response has one at most.
const SINGLE: [HeaderName; 7] = [
    header::CONTENT_TYPE,
    header::LOCATION,
    header::DATE,
    header::SERVER,
    header::LAST_MODIFIED,
    header::ETAG,
    header::CONTENT_RANGE,
];

/// Characters of a line that a message quotes.
const EXCERPT: usize = 80;

/// What the lines so far have said.
#[derive(Debug, Default)]
pub(super) struct Draft {
    style: HeadStyle,
    /// Lines so far, and so the number of the one at hand. Blank ones do not count.
    lines: usize,
    /// Of these, the lines of interim responses.
    interim: usize,
    status: Option<Status>,
    headers: HeaderMap,
    length: Length,
    chunked: bool,
    dropped: Vec<String>,
}

/// What a blank line ends.
pub(super) enum Block {
    /// An interim response: another block follows.
    Interim(Draft),
    /// The head.
    Final(ResponseHead),
}

/// What Content-Length fields have said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Length {
    #[default]
    Unsaid,
    Stated(u64),
    /// No number, or two: the body is sent as it comes.
    Untrusted,
}

impl Draft {
    pub(super) fn new(style: HeadStyle) -> Self {
        Self {
            style,
            ..Self::default()
        }
    }

    /// Counts a line and holds it against the limits.
    pub(super) fn check_length(&mut self, line: &[u8], limits: HeadLimits) -> Result<(), HeadError> {
        self.lines += 1;
        if line.len() > limits.line {
            return Err(HeadError::OverLimit {
                what: "bytes in a line",
                limit: limits.line,
            });
        }
        if self.lines > limits.lines {
            return Err(HeadError::OverLimit {
                what: "lines",
                limit: limits.lines,
            });
        }
        Ok(())
    }

    /// Takes a line, not blank and without its end.
    pub(super) fn take_line(&mut self, line: &[u8]) -> Result<(), HeadError> {
        if self.lines == self.interim + 1
            && let Some(rest) = status::after_version(line)
        {
            self.checked_value(line, line)?;
            self.status = Some(status::parse(rest)?);
            return Ok(());
        }
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            return Err(self.bad_field("it begins with white space", line));
        }
        let Some((name, value)) = memchr::memchr(b':', line).and_then(|at| line.split_at_checked(at)) else {
            return Err(HeadError::NoColon {
                line: self.lines,
                text: excerpt(line),
            });
        };
        if name.is_empty() {
            return Err(self.bad_field("its name is empty", line));
        }
        if name.iter().any(|b| b.is_ascii_control() || *b == b' ') {
            return Err(self.bad_field("its name holds a space or a control character", line));
        }
        let value = self.checked_value(trim_blanks(value.strip_prefix(b":").unwrap_or(value)), line)?;
        if let Ok(name) = HeaderName::from_bytes(name) {
            return self.take_field(name, value, line);
        }
        self.note("no field has such a name", line);
        Ok(())
    }

    fn take_field(&mut self, name: HeaderName, value: HeaderValue, line: &[u8]) -> Result<(), HeadError> {
        if name.as_str() == "status" {
            self.status = Some(status::parse(value.as_bytes())?);
        } else if name == header::TRANSFER_ENCODING
            && self.style == HeadStyle::WholeResponse
            && value.as_bytes().eq_ignore_ascii_case(b"chunked")
        {
            self.chunked = true;
        } else if name == header::TRANSFER_ENCODING {
            // SECURITY: framing is the server's; two ideas of it on one connection are response splitting.
            return Err(HeadError::TransferEncoding);
        } else if name == header::CONTENT_LENGTH {
            self.take_length(value.as_bytes(), line);
        } else if value.is_empty() && (name == header::CONTENT_TYPE || name == header::LOCATION) {
            self.note("it is empty", line);
        } else if name == header::LAST_MODIFIED || name == header::DATE {
            match http_date(value) {
                Some(date) => {
                    self.headers.insert(name, date);
                }
                None => self.note("it is no date", line),
            }
        } else if SINGLE.contains(&name) {
            self.headers.insert(name, value);
        } else if self.headers.try_append(name, value).is_err() {
            // The map's own limit, if the caller's is above it.
            return Err(HeadError::OverLimit {
                what: "lines",
                limit: self.headers.len(),
            });
        }
        Ok(())
    }

    fn take_length(&mut self, value: &[u8], line: &[u8]) {
        // `parse` alone would take a sign.
        let digits = value.iter().all(u8::is_ascii_digit);
        let number = std::str::from_utf8(value)
            .ok()
            .and_then(|text| text.parse().ok())
            .filter(|_| digits);
        self.length = match (number, self.length) {
            (Some(number), Length::Unsaid) => Length::Stated(number),
            (Some(number), Length::Stated(earlier)) if number == earlier => self.length,
            (Some(_), _) => {
                self.note("it contradicts an earlier one", line);
                Length::Untrusted
            }
            (None, _) => {
                self.note("it is not a number", line);
                Length::Untrusted
            }
        };
    }

    /// A blank line has come: what the lines amount to.
    pub(super) fn finish(mut self) -> Result<Block, HeadError> {
        if let Some((status, _)) = &self.status
            && status.is_informational()
        {
            self.dropped
                .push(format!("an interim response was dropped: {status}"));
            return Ok(Block::Interim(Self {
                style: self.style,
                interim: self.lines,
                lines: self.lines,
                dropped: self.dropped,
                ..Self::default()
            }));
        }
        let location = self.headers.get(header::LOCATION);
        let is_typed =
            self.headers.contains_key(header::CONTENT_TYPE) || self.headers.contains_key(X_SENDFILE);
        if location.is_none() && self.status.is_none() && !is_typed {
            return Err(HeadError::NoRequiredField);
        }
        let is_sole = self.lines == self.interim + 1 && self.style == HeadStyle::Parsed;
        let kind = match (location, &self.status) {
            (None, _) => ResponseKind::Document,
            (Some(_), Some((status, _))) if !status.is_redirection() => ResponseKind::Document,
            (Some(location), _) => match local_target(location) {
                Some(target) if is_sole => ResponseKind::LocalRedirect(target),
                _ => ResponseKind::ClientRedirect,
            },
        };
        let implied = if location.is_some() {
            StatusCode::FOUND
        } else {
            StatusCode::OK
        };
        let (status, reason) = self.status.unwrap_or((implied, None));

        for name in hop_by_hop::named_by_connection(&self.headers) {
            self.headers.remove(name);
        }
        for name in hop_by_hop::NAMES {
            self.headers.remove(name);
        }
        let content_length = match self.length {
            // Of two statements about the same body, chunks are the one to go by (RFC 9112 §6.3).
            Length::Stated(bytes) if !self.chunked => Some(bytes),
            Length::Stated(_) | Length::Unsaid | Length::Untrusted => None,
        };
        Ok(Block::Final(ResponseHead {
            kind,
            status,
            reason,
            headers: self.headers,
            content_length,
            chunked: self.chunked,
            dropped: self.dropped,
        }))
    }

    /// SECURITY: a control character in a value, a bare CR above all, is a second line to some receiver.
    fn checked_value(&self, value: &[u8], line: &[u8]) -> Result<HeaderValue, HeadError> {
        HeaderValue::from_bytes(value)
            .map_err(|_| self.bad_field("its value holds a control character", line))
    }

    fn bad_field(&self, why: &'static str, line: &[u8]) -> HeadError {
        HeadError::BadField {
            line: self.lines,
            why,
            text: excerpt(line),
        }
    }

    fn note(&mut self, why: &str, line: &[u8]) {
        self.dropped.push(format!(
            "line {} was dropped, {why}: {:?}",
            self.lines,
            excerpt(line)
        ));
    }
}

/// The path and query of a redirect within this host: one slash first (two would name another host), nothing that a
/// request target may not hold, and no fragment, which only a client can follow.
fn local_target(location: &HeaderValue) -> Option<String> {
    let target = std::str::from_utf8(location.as_bytes()).ok()?;
    let local = target.starts_with('/') && !target.starts_with("//") && !target.contains('#');
    (local && target.parse::<PathAndQuery>().is_ok()).then(|| target.to_owned())
}

/// The beginning of a line, for a message.
pub(super) fn excerpt(line: &[u8]) -> String {
    // No more bytes than the characters can have: a line may be long.
    let beginning = line.get(..4 * EXCERPT).unwrap_or(line);
    String::from_utf8_lossy(beginning).chars().take(EXCERPT).collect()
}

/// Without the spaces and tabs around it. Not `trim_ascii`: a CR that is no line's end must be found.
fn trim_blanks(value: &[u8]) -> &[u8] {
    let is_text = |b: &u8| !matches!(b, b' ' | b'\t');
    let start = value.iter().position(is_text).unwrap_or(value.len());
    let end = value.iter().rposition(is_text).map_or(start, |last| last + 1);
    value.get(start..end).unwrap_or_default()
}
