//! Answers that no program gave. The only place that makes error bodies for clients of programs: what a
//! client reads is decided here, what the operator reads goes to the record and the log.

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONNECTION, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde_json::json;
use warmbin_exec::{Outcome, StopReason};

use super::answer::Answer;

/// Why a request is not answered by a program.
#[derive(Debug)]
pub struct Refusal {
    /// The status.
    pub status: StatusCode,
    /// What the client reads, beside the status.
    pub detail: String,
    /// What the operator reads.
    pub internal: Option<String>,
    /// The outcome, if there is to be a record.
    pub outcome: Outcome,
    /// A problem document whatever the client accepts: it uses an interface of this host.
    pub problem: bool,
    /// Where the client should go instead.
    pub location: Option<String>,
    /// When it makes sense to ask again, in seconds.
    pub retry_after: Option<u32>,
    /// The methods that would have been right.
    pub allow: Option<&'static str>,
    /// Nobody can tell where this request ends: the connection must not carry another. HTTP/2 can, and drops the header.
    pub close: bool,
}

impl Refusal {
    /// A refusal of a request that reached no program.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            internal: None,
            // The client's doing, completely answered; the status says what.
            outcome: Outcome::Ok,
            problem: false,
            location: None,
            retry_after: None,
            allow: None,
            close: false,
        }
    }

    /// A program failed; `internal` says how, and stays here.
    pub fn failed(status: StatusCode, outcome: Outcome, internal: impl Into<String>) -> Self {
        let detail = match status {
            StatusCode::GATEWAY_TIMEOUT => "The program took too long to answer.",
            StatusCode::SERVICE_UNAVAILABLE => "The host is busy. Try again in a moment.",
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
                "The request has more header data than a program can take."
            }
            StatusCode::INTERNAL_SERVER_ERROR => "The program could not be started.",
            StatusCode::FORBIDDEN => "This may not be run.",
            _ => "The program did not give a usable answer.",
        };
        Self {
            outcome,
            internal: Some(internal.into()),
            retry_after: (status == StatusCode::SERVICE_UNAVAILABLE).then_some(1),
            ..Self::new(status, detail)
        }
    }

    /// The host ended the program before its header block was complete.
    pub fn stopped(reason: StopReason) -> Self {
        let (status, outcome) = match reason {
            StopReason::Wall | StopReason::Idle => (StatusCode::GATEWAY_TIMEOUT, Outcome::Timeout),
            StopReason::Cpu => (StatusCode::GATEWAY_TIMEOUT, Outcome::CpuLimit),
            StopReason::Memory => (StatusCode::BAD_GATEWAY, Outcome::MemoryLimit),
            StopReason::Output => (StatusCode::BAD_GATEWAY, Outcome::OutputLimit),
            StopReason::BadOutput | StopReason::NotNeeded => (StatusCode::BAD_GATEWAY, Outcome::BadOutput),
            StopReason::RequestBody => (StatusCode::BAD_REQUEST, Outcome::ClientGone),
            StopReason::ClientGone | StopReason::Shutdown => {
                (StatusCode::SERVICE_UNAVAILABLE, Outcome::ClientGone)
            }
        };
        let mut refusal = Self::failed(status, outcome, super::exit::stop_text(reason));
        if status == StatusCode::BAD_REQUEST {
            "The request body broke off.".clone_into(&mut refusal.detail);
        }
        refusal
    }

    /// There is nothing at the address.
    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "There is nothing at this address.")
    }

    /// There is something that is not for clients.
    pub fn not_served() -> Self {
        Self::new(StatusCode::FORBIDDEN, "This is not served.")
    }

    /// This refusal as a problem document.
    #[must_use]
    pub fn as_problem(mut self) -> Self {
        self.problem = true;
        self
    }

    /// The response. `headers` are the request's.
    pub fn respond(self, headers: &HeaderMap) -> Response<Answer> {
        let (kind, body) = if self.problem || asks_for_json(headers) {
            ("application/problem+json", self.problem_document())
        } else {
            ("text/html; charset=utf-8", self.page())
        };
        let mut response = Response::new(Answer::whole(body));
        *response.status_mut() = self.status;
        let out = response.headers_mut();
        out.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        out.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
        self.add_headers(out);
        response
    }

    /// Adds what belongs to the status, whoever makes the page.
    pub fn add_headers(&self, out: &mut HeaderMap) {
        if let Some(location) = self
            .location
            .as_deref()
            .and_then(|text| HeaderValue::try_from(text).ok())
        {
            out.insert(LOCATION, location);
        }
        if let Some(seconds) = self.retry_after {
            out.insert(RETRY_AFTER, seconds.into());
        }
        if let Some(methods) = self.allow {
            out.insert(ALLOW, HeaderValue::from_static(methods));
        }
        if self.close {
            out.insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }

    fn title(&self) -> &'static str {
        self.status.canonical_reason().unwrap_or("Error")
    }

    fn problem_document(&self) -> Bytes {
        let document = json!({
            "type": "about:blank",
            "title": self.title(),
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        document.to_string().into()
    }

    fn page(&self) -> Bytes {
        let (status, title) = (self.status.as_u16(), self.title());
        // SECURITY: the detail may name what a client sent; it is text on this page, never markup.
        let detail = self
            .detail
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{status} {title}</title>\
             <h1>{status} {title}</h1><p>{detail}</p></html>\n"
        )
        .into()
    }
}

fn asks_for_json(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("json"))
}

#[cfg(test)]
mod tests {
    use http::header::{ACCEPT, CONTENT_TYPE};
    use http::{HeaderMap, HeaderValue, StatusCode};
    use warmbin_exec::Outcome;

    use super::Refusal;

    #[test]
    fn what_went_wrong_inside_stays_inside() {
        for accept in ["text/html", "application/json"] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            let refusal = Refusal::failed(
                StatusCode::BAD_GATEWAY,
                Outcome::BadOutput,
                "line 1 of /srv/secret: x",
            );
            let response = refusal.respond(&headers);
            let json = response.headers()[CONTENT_TYPE] == "application/problem+json";
            assert_eq!(json, accept == "application/json");
            let body = response.body().text().unwrap();
            assert!(!body.contains("secret") && body.contains("502"), "{body}");
        }
    }

    #[test]
    fn a_detail_is_never_markup() {
        let response = Refusal::new(StatusCode::NOT_FOUND, "<script>").respond(&HeaderMap::new());
        assert!(response.body().text().unwrap().contains("&lt;script&gt;"));
    }
}
