//! A file as the answer to a GET or a HEAD: its type, its ranges, conditions on its age.

use std::fmt;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{IF_RANGE, RANGE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body::{Body, Frame, SizeHint};
use tower_http::services::ServeFile;

use super::answer::Answer;
use super::body::Broken;

/// A file's content, as it is read.
pub struct FileBody(Pin<Box<dyn Body<Data = Bytes, Error = io::Error> + Send>>);

impl fmt::Debug for FileBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileBody")
    }
}

impl FileBody {
    pub(super) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        self.0
            .as_mut()
            .poll_frame(cx)
            .map(|frame| frame.map(|frame| frame.map_err(Broken::from)))
    }

    pub(super) fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

/// Whether a Range is one of bytes. Others are to be ignored (RFC 9110 §14.2), as are malformed ones, which
/// [`ServeFile`] answers with 416.
fn is_byte_range(range: &HeaderValue) -> bool {
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let is_range = |part: &str| match part.trim().split_once('-') {
        Some(("", last)) => is_number(last),
        Some((first, "")) => is_number(first),
        Some((first, last)) => {
            is_number(first) && is_number(last) && first.parse::<u64>().ok() <= last.parse::<u64>().ok()
        }
        None => false,
    };
    range
        .to_str()
        .ok()
        .and_then(|text| text.split_once('='))
        .is_some_and(|(unit, parts)| unit.eq_ignore_ascii_case("bytes") && parts.split(',').all(is_range))
}

/// Answers with the file at `path`, which the caller has found to be a regular one that may be sent. `method` is GET or
/// HEAD; `headers` are the request's. An error means that it cannot be opened.
pub async fn answer(path: &Path, method: &Method, headers: &HeaderMap) -> io::Result<Response<Answer>> {
    let mut request = Request::new(());
    *request.method_mut() = method.clone();
    headers.clone_into(request.headers_mut());
    // Whether the file is still the one that If-Range means is not looked into: all of it is always right.
    if headers.contains_key(IF_RANGE) || !headers.get(RANGE).is_some_and(is_byte_range) {
        request.headers_mut().remove(RANGE);
    }
    let mut response = ServeFile::new(path)
        .ignore_multi_range_requests(true)
        .try_call(request)
        .await?
        .map(|body| Answer::File(FileBody(Box::pin(body))));
    response
        .headers_mut()
        .insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::is_byte_range;

    #[test]
    fn only_well_formed_ranges_of_bytes_count() {
        for range in ["bytes=0-3", "bytes=-2", "bytes=5-", "BYTES=9-9", "bytes=0-1, 3-4"] {
            assert!(is_byte_range(&HeaderValue::from_static(range)), "{range}");
        }
        for range in [
            "",
            "bytes",
            "bytes=",
            "bytes=x",
            "bytes=3-1",
            "bytes=-",
            "bytes=1-2-3",
            "bytes=+1-2",
            "lines=1-2",
            "bytes 0-3",
        ] {
            assert!(!is_byte_range(&HeaderValue::from_static(range)), "{range}");
        }
    }
}
