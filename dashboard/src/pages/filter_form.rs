//! The filter bar: a GET form, so that what it says is in the URL.

use askama::Template;
use warmbin_store::words::OUTCOMES;

use crate::query::Query;

/// Ranges to choose from; the empty one is everything that is kept.
const RANGES: [(&str, &str); 7] = [
    ("-5m", "Last 5 minutes"),
    ("-15m", "Last 15 minutes"),
    ("-1h", "Last hour"),
    ("-6h", "Last 6 hours"),
    ("-24h", "Last 24 hours"),
    ("-7d", "Last 7 days"),
    ("", "All that is kept"),
];

/// The form over a page's query.
#[derive(Debug, Template)]
#[template(path = "parts/filter_form.html")]
pub(crate) struct FilterForm<'a> {
    action: &'static str,
    query: &'a Query,
    modes: &'a [&'static str],
    programs: Vec<String>,
    sortable: bool,
    always_ranged: bool,
}

impl<'a> FilterForm<'a> {
    /// A form for the page at `action`. With `always_ranged` the page has a default range, so that "everything" is not
    /// among the choices.
    pub(crate) fn new(
        action: &'static str,
        query: &'a Query,
        modes: &'a [&'static str],
        programs: Vec<String>,
        always_ranged: bool,
    ) -> Self {
        Self {
            action,
            query,
            modes,
            programs,
            sortable: action == "/requests",
            always_ranged,
        }
    }

    /// The choices of ranges: value, words, whether it is the current one.
    fn ranges(&self) -> Vec<(&str, &str, bool)> {
        let current = self.query.get("from");
        let mut ranges: Vec<(&str, &str, bool)> = RANGES
            .iter()
            .filter(|(value, _)| !(self.always_ranged && value.is_empty()))
            .map(|(value, words)| (*value, *words, *value == current))
            .collect();
        if !ranges.iter().any(|(_, _, selected)| *selected) {
            ranges.push((
                current,
                if current.is_empty() {
                    "Until the end given"
                } else {
                    current
                },
                true,
            ));
        }
        ranges
    }

    /// The outcomes: the word and whether it is the current one.
    fn outcomes(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let current = self.query.get("outcome");
        OUTCOMES.into_iter().map(move |word| (word, word == current))
    }

    /// The modes: the word and whether it is the current one.
    fn mode_choices(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let current = self.query.get("mode");
        self.modes.iter().map(move |word| (*word, *word == current))
    }
}
