//! Query parameters: those a call knows, and a refusal that names every other.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use warmbin_store::Filter;

use super::problem::Problem;
use crate::host::now_us;

/// Everything but what RFC 3986 calls unreserved.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The parameters of one call.
#[derive(Debug)]
pub(super) struct Parameters {
    pairs: Vec<(String, String)>,
    wrong: Vec<(String, String)>,
}

impl Parameters {
    /// Takes the pairs of a query. Names that are neither in `known` nor, where `filtered`, a filter's, are
    /// wrong, and so is a name that comes twice.
    pub(super) fn new(pairs: Vec<(String, String)>, known: &[&str], filtered: bool) -> Self {
        let is_known = |name: &str| known.contains(&name) || (filtered && Filter::KEYS.contains(&name));
        let mut wrong: Vec<(String, String)> = Vec::new();
        for (position, (name, _)) in pairs.iter().enumerate() {
            let why = if !is_known(name) {
                let filters: &[&str] = if filtered { &Filter::KEYS } else { &[] };
                let names: Vec<&str> = known.iter().chain(filters).copied().collect();
                match names.as_slice() {
                    [] => "is not a parameter of this call, which takes none".to_owned(),
                    names => format!("is not a parameter of this call; those are {}", names.join(", ")),
                }
            } else if pairs.iter().take(position).any(|(earlier, _)| earlier == name) {
                "is given twice".to_owned()
            } else {
                continue;
            };
            wrong.push((name.clone(), why));
        }
        Self { pairs, wrong }
    }

    /// The value of a parameter; an empty one counts as absent, as forms send those.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.pairs
            .iter()
            .find(|(known, value)| known == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }

    /// Reads a parameter with `read`; a refusal is remembered and the default taken meanwhile.
    pub(super) fn read<T: Default>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        match read(self.get(name)?) {
            Ok(value) => Some(value),
            Err(why) => {
                self.wrong.push((name.to_owned(), why));
                None
            }
        }
    }

    /// The filter among the parameters.
    pub(super) fn filter(&mut self) -> Filter {
        Filter::from_pairs(&self.pairs, now_us()).unwrap_or_else(|error| {
            self.wrong.extend(error.0);
            Filter::default()
        })
    }

    /// Refuses the call if any parameter was wrong.
    pub(super) fn check(&self) -> Result<(), Problem> {
        if self.wrong.is_empty() {
            return Ok(());
        }
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in &self.wrong {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let detail = format!("wrong parameters: {}", names.join(", "));
        Err(Problem::bad_request(detail).with_errors(self.wrong.iter().cloned()))
    }

    /// The same query with some values replaced or added.
    pub(super) fn with(&self, replaced: &[(&str, String)]) -> String {
        let kept = self
            .pairs
            .iter()
            .filter(|(name, value)| !value.is_empty() && !replaced.iter().any(|(other, _)| other == name))
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let added = replaced.iter().map(|(name, value)| (*name, value.as_str()));
        let pairs: Vec<String> = kept
            .chain(added)
            .map(|(name, value)| format!("{}={}", escape(name), escape(value)))
            .collect();
        pairs.join("&")
    }
}

/// Percent-encodes what may not stand in a query value or path segment.
pub(super) fn escape(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// Reads `true` or `false`.
pub(super) fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(format!("{other:?} is neither true nor false")),
    }
}

#[cfg(test)]
mod tests {
    use super::Parameters;

    fn parameters(pairs: &[(&str, &str)]) -> Parameters {
        let pairs = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Parameters::new(pairs, &["limit"], true)
    }

    #[test]
    fn every_unknown_or_repeated_parameter_is_named() {
        let refusal = parameters(&[
            ("limit", "1"),
            ("limt", "2"),
            ("mode", "fork"),
            ("mode", "x"),
            ("a", ""),
        ])
        .check()
        .unwrap_err();
        assert_eq!(refusal.detail(), "wrong parameters: limt, mode, a");
        assert!(parameters(&[("limit", "1"), ("mode", "fork")]).check().is_ok());
    }

    #[test]
    fn a_replaced_query_keeps_the_rest_and_escapes_it() {
        let parameters = parameters(&[("program", "a b&c"), ("from", "-1m"), ("status", "")]);
        assert_eq!(
            parameters.with(&[
                ("from", "2026-01-01T00:00:00Z".to_owned()),
                ("cursor", "x=".to_owned())
            ]),
            "program=a%20b%26c&from=2026-01-01T00%3A00%3A00Z&cursor=x%3D"
        );
    }
}
