//! Downloads: everything that a filter matches, page by page, so that memory does not grow with it.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_DISPOSITION, CONTENT_TYPE, VARY};
use serde_json::{Map, Value};
use warmbin_store::{Filter, Page, Record, Store, StoreError};

use super::super::problem::Problem;
use super::record::{FIELDS, Holds};

/// A format of downloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// RFC 4180, with a header line.
    Csv,
    /// A JSON document per line.
    NdJson,
}

impl Format {
    /// The format that the parameter `format` names.
    pub(super) fn from_word(word: &str) -> Result<Option<Self>, String> {
        match word {
            "csv" => Ok(Some(Self::Csv)),
            "ndjson" => Ok(Some(Self::NdJson)),
            other => Err(format!("{other:?} is neither csv nor ndjson")),
        }
    }

    const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv",
            Self::NdJson => "application/x-ndjson",
        }
    }

    const fn file_name(self) -> &'static str {
        match self {
            Self::Csv => "attachment; filename=\"requests.csv\"",
            Self::NdJson => "attachment; filename=\"requests.ndjson\"",
        }
    }
}

/// The format of the first media type in `Accept` that is one of a download's, unless JSON comes before it.
pub(super) fn format(headers: &HeaderMap) -> Option<Format> {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|range| {
            range
                .split(';')
                .next()
                .unwrap_or_default()
                .trim()
                .to_ascii_lowercase()
        })
        .find_map(|media_type| match media_type.as_str() {
            "text/csv" => Some(Some(Format::Csv)),
            "application/x-ndjson" => Some(Some(Format::NdJson)),
            "application/json" => Some(None),
            _ => None,
        })
        .flatten()
}

/// A download.
#[derive(Debug)]
pub(super) struct Export {
    pub(super) format: Format,
    pub(super) filter: Filter,
    /// The first page.
    pub(super) page: Page,
    /// How many items at most.
    pub(super) left: Option<u32>,
}

impl Export {
    /// The download as a response. The first page is read before its head is sent, so that what is wrong with
    /// the call is still a status; a failure after that breaks the transfer off visibly.
    pub(super) async fn into_response(mut self, store: Arc<dyn Store>) -> Result<Response, Problem> {
        let head = match self.format {
            Format::Csv => Bytes::from(csv_head()),
            Format::NdJson => Bytes::new(),
        };
        let format = self.format;
        let (first, more) = self.step(&*store).await?;
        let start = stream::iter([Ok(head), Ok(first)]);
        let rest = stream::try_unfold((self, store, more), |(mut export, store, more)| async move {
            if !more {
                return Ok::<_, StoreError>(None);
            }
            let (piece, more) = export.step(&*store).await.inspect_err(|error| {
                tracing::error!(target: "http", "a download broke off: {error}");
            })?;
            Ok(Some((piece, (export, store, more))))
        });
        let body = Body::from_stream(futures_util::StreamExt::chain(start, rest));
        let headers = [
            (CONTENT_TYPE, format.media_type()),
            (CONTENT_DISPOSITION, format.file_name()),
            (VARY, "accept"),
        ];
        Ok((headers, body).into_response())
    }

    /// The next page as text, and whether there are more.
    async fn step(&mut self, store: &dyn Store) -> Result<(Bytes, bool), StoreError> {
        if let Some(left) = self.left {
            self.page.limit = self.page.limit.min(left);
        }
        let slice = store.requests(&self.filter, &self.page).await?;
        let mut text = String::new();
        for record in &slice.items {
            match self.format {
                Format::Csv => csv_row(record, &mut text),
                Format::NdJson => {
                    text.push_str(&serde_json::to_string(record).unwrap_or_default());
                    text.push('\n');
                }
            }
        }
        self.left = self
            .left
            .map(|left| left.saturating_sub(u32::try_from(slice.items.len()).unwrap_or(u32::MAX)));
        self.page.cursor = slice.next;
        let more = self.page.cursor.is_some() && self.left != Some(0);
        Ok((text.into(), more))
    }
}

fn csv_head() -> String {
    let names: Vec<&str> = FIELDS.iter().map(|field| field.0).collect();
    format!("{}\r\n", names.join(","))
}

fn csv_row(record: &Record, text: &mut String) {
    let fields = match serde_json::to_value(record) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    for (position, (name, holds, ..)) in FIELDS.iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        match fields.get(*name) {
            Some(Value::String(value)) => csv_text(value, *holds == Holds::FreeText, text),
            Some(Value::Null) | None => {}
            Some(value) => text.push_str(&value.to_string()),
        }
    }
    text.push_str("\r\n");
}

fn csv_text(value: &str, free: bool, text: &mut String) {
    // SECURITY: spreadsheets run a cell that begins like a formula, and clients choose these. The apostrophe
    // makes it text; the line-delimited JSON is exact.
    let guard = free && value.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !guard && !value.contains([',', '"', '\r', '\n']) {
        text.push_str(value);
        return;
    }
    text.push('"');
    if guard {
        text.push('\'');
    }
    text.push_str(&value.replace('"', "\"\""));
    text.push('"');
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::super::record::tests::sample;
    use super::{Format, csv_row, format};

    #[test]
    fn a_row_is_quoted_and_never_a_formula() {
        let mut record = sample();
        record.path = "=cmd()".to_owned();
        let mut text = String::new();
        csv_row(&record, &mut text);
        assert_eq!(
            text,
            "0193b8a0-0000-7000-8000-000000000001,2026-01-31T09:05:00.000250Z,here,printenv,3,fork,GET,\"'=cmd()\",\"a=1,2\",\
             200,ok,1,2,3,4,5,15,7,8,9,10,0,,\"said \"\"no\"\"\nand left\",127.0.0.1,1,\r\n"
        );
    }

    #[test]
    fn the_first_known_media_type_decides() {
        for (accept, expected) in [
            ("text/csv", Some(Format::Csv)),
            ("application/x-ndjson;q=1", Some(Format::NdJson)),
            ("text/html, TEXT/CSV", Some(Format::Csv)),
            ("application/json, text/csv", None),
            ("*/*", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("accept", HeaderValue::from_static(accept));
            assert_eq!(format(&headers), expected, "{accept}");
        }
    }
}
