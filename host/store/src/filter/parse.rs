//! Reading a filter from query pairs. Collects everything that is wrong, so that a caller can be told in one answer.

use super::{Filter, FilterError, StatusFilter};
use crate::{timestamp, words};

impl Filter {
    /// Reads a filter from query pairs. Pairs whose name is not one of [`Self::KEYS`] are the caller's to judge and
    /// skipped here; an empty value counts as absent (forms send those). Times are RFC 3339 or relative to `now_us`
    /// (`-15m`, `-6h`, `-7d`, `-30s`).
    pub fn from_pairs(pairs: &[(String, String)], now_us: i64) -> Result<Self, FilterError> {
        let mut filter = Self::default();
        let mut wrong: Vec<(String, String)> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in pairs {
            if value.is_empty() || !Self::KEYS.contains(&name.as_str()) {
                continue;
            }
            let outcome = if seen.contains(&name.as_str()) {
                Err("is given more than once".to_owned())
            } else {
                filter.set(name, value, now_us)
            };
            seen.push(name);
            if let Err(why) = outcome {
                wrong.push((name.clone(), why));
            }
        }
        if let (Some(from), Some(to)) = (filter.from_us, filter.to_us)
            && from >= to
        {
            wrong.push(("from".to_owned(), "must be before `to`".to_owned()));
        }
        if let (Some(min), Some(max)) = (filter.min_us, filter.max_us)
            && min > max
        {
            wrong.push((
                "min_us".to_owned(),
                "must not be greater than `max_us`".to_owned(),
            ));
        }
        if wrong.is_empty() {
            Ok(filter)
        } else {
            Err(FilterError(wrong))
        }
    }

    fn set(&mut self, name: &str, value: &str, now_us: i64) -> Result<(), String> {
        match name {
            "from" => self.from_us = Some(time(value, now_us)?),
            "to" => self.to_us = Some(time(value, now_us)?),
            "program" => self.program = Some(value.to_owned()),
            "mode" => self.mode = Some(word(value, &words::MODES)?),
            "status" => self.status = Some(status(value)?),
            "outcome" => self.outcome = Some(word(value, &words::OUTCOMES)?),
            "min_us" => self.min_us = Some(number(value)?),
            "max_us" => self.max_us = Some(number(value)?),
            "experiment" => self.experiment = Some(value.to_owned()),
            _ => {}
        }
        Ok(())
    }
}

fn time(value: &str, now_us: i64) -> Result<i64, String> {
    let moment = match value.strip_prefix('-') {
        Some(span) => span_us(span).and_then(|us| now_us.checked_sub(us)),
        None => timestamp::from_rfc3339(value),
    };
    moment.ok_or_else(|| {
        "is neither a time like 2026-01-31T09:05:00Z nor a span like -15m, -6h or -7d".to_owned()
    })
}

/// `15m` in microseconds.
fn span_us(span: &str) -> Option<i64> {
    let unit = span.chars().last()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    let count = span.strip_suffix(unit)?;
    digits(count)?.checked_mul(seconds * 1_000_000)
}

/// A number of plain digits: `parse` alone would take a sign as well.
fn digits(text: &str) -> Option<i64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

fn word(value: &str, known: &[&str]) -> Result<String, String> {
    if known.contains(&value) {
        Ok(value.to_owned())
    } else {
        Err(format!("must be one of {}", known.join(", ")))
    }
}

fn status(value: &str) -> Result<StatusFilter, String> {
    match value.as_bytes() {
        [class @ b'1'..=b'5', b'x' | b'X', b'x' | b'X'] => Some(StatusFilter::Class(u16::from(class - b'0'))),
        [b'1'..=b'9', _, _] => digits(value)
            .and_then(|code| u16::try_from(code).ok())
            .map(StatusFilter::Exact),
        _ => None,
    }
    .ok_or_else(|| "must be a status like 200 or a class like 5xx".to_owned())
}

/// Microseconds. The database's integers are signed, and so is the limit.
fn number(value: &str) -> Result<u64, String> {
    digits(value)
        .and_then(|number| u64::try_from(number).ok())
        .ok_or_else(|| "must be a whole number of microseconds".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_000_000_000_000_000;

    fn read(query: &str) -> Result<Filter, FilterError> {
        let pairs: Vec<(String, String)> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Filter::from_pairs(&pairs, NOW)
    }

    #[test]
    fn reads_what_it_knows_and_skips_the_rest() {
        let some = |text: &str| Some(text.to_owned());
        let none = Filter::default;
        for (query, expected) in [
            ("", none()),
            ("limit=5&mode=&from=", none()),
            (
                "from=-15m",
                Filter {
                    from_us: Some(NOW - 900_000_000),
                    ..none()
                },
            ),
            (
                "from=-7d",
                Filter {
                    from_us: Some(NOW - 604_800_000_000),
                    ..none()
                },
            ),
            (
                "to=1970-01-01T00:00:01Z",
                Filter {
                    to_us: Some(1_000_000),
                    ..none()
                },
            ),
            (
                "to=1970-01-01T01:00:00.5+01:00",
                Filter {
                    to_us: Some(500_000),
                    ..none()
                },
            ),
            (
                "mode=wasm-warm",
                Filter {
                    mode: some("wasm-warm"),
                    ..none()
                },
            ),
            (
                "outcome=client_gone",
                Filter {
                    outcome: some("client_gone"),
                    ..none()
                },
            ),
            (
                "status=404",
                Filter {
                    status: Some(StatusFilter::Exact(404)),
                    ..none()
                },
            ),
            (
                "status=5xx",
                Filter {
                    status: Some(StatusFilter::Class(5)),
                    ..none()
                },
            ),
            (
                "min_us=5&max_us=5",
                Filter {
                    min_us: Some(5),
                    max_us: Some(5),
                    ..none()
                },
            ),
            (
                "program=a%00'&experiment=x",
                Filter {
                    program: some("a%00'"),
                    experiment: some("x"),
                    ..none()
                },
            ),
        ] {
            assert_eq!(read(query), Ok(expected), "{query}");
        }
    }

    #[test]
    fn names_every_parameter_that_is_wrong() {
        for (query, names) in [
            ("mode=cgi", vec!["mode"]),
            ("outcome=OK&status=600x", vec!["outcome", "status"]),
            ("status=0xx", vec!["status"]),
            ("status=+20", vec!["status"]),
            ("from=yesterday&to=-5", vec!["from", "to"]),
            ("from=-99999999999999999d", vec!["from"]),
            ("from=-m", vec!["from"]),
            ("from=--5m", vec!["from"]),
            ("min_us=-1&max_us=1.5", vec!["min_us", "max_us"]),
            ("min_us=9223372036854775808", vec!["min_us"]),
            ("mode=fork&mode=forkd", vec!["mode"]),
            ("from=-5m&to=-5m", vec!["from"]),
            ("from=-5m&to=-6m", vec!["from"]),
            ("min_us=6&max_us=5", vec!["min_us"]),
        ] {
            let FilterError(wrong) = read(query).expect_err(query);
            let found: Vec<&str> = wrong.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(found, names, "{query}");
        }
    }
}
