//! A page's URL as its whole state: the filter it was asked for, and links that keep it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use warmbin_store::{Filter, FilterError};

/// What stays readable in a query or a path segment; everything else is percent-encoded.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b':');

/// Percent-encodes a query value or a path segment.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// The query of a page: the pairs as given, and the filter they mean.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
    /// Which requests the page is about.
    pub(crate) filter: Filter,
}

impl Query {
    /// Reads a page's query. Without `from` and `to`, `default_from` applies (empty: no limit).
    pub(crate) fn read(
        mut pairs: Vec<(String, String)>,
        default_from: &str,
        now_us: i64,
    ) -> Result<Self, FilterError> {
        pairs.retain(|(_, value)| !value.is_empty());
        let ranged = pairs.iter().any(|(name, _)| name == "from" || name == "to");
        if !ranged && !default_from.is_empty() {
            pairs.push(("from".to_owned(), default_from.to_owned()));
        }
        let filter = Filter::from_pairs(&pairs, now_us)?;
        Ok(Self { pairs, filter })
    }

    /// The value of a parameter; empty if it is absent.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.pairs
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value.as_str())
    }

    /// Whether the less common conditions are in use, so that the form shows them.
    pub(crate) fn has_more(&self) -> bool {
        ["to", "outcome", "min_us", "max_us", "experiment"]
            .iter()
            .any(|name| !self.get(name).is_empty())
    }

    /// The filter as a query string without `?`, with `changes` made; an empty value removes. Parameters that are
    /// no filter (a cursor, a sort order) do not come along unless they are among the changes.
    pub(crate) fn with(&self, changes: &[(&str, &str)]) -> String {
        let kept = self
            .pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .filter(|(name, _)| Filter::KEYS.contains(name) && !changes.iter().any(|(key, _)| key == name));
        kept.chain(changes.iter().copied().filter(|(_, value)| !value.is_empty()))
            .map(|(name, value)| format!("{name}={}", encoded(value)))
            .collect::<Vec<_>>()
            .join("&")
    }
}
