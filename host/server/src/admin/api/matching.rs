//! Whether a record that was just finished is one that a filter asks for: the store's question, answered in
//! memory.

use warmbin_store::{Filter, Record, StatusFilter};

/// Whether `record` meets every condition of `filter`.
pub(super) fn matches(filter: &Filter, record: &Record) -> bool {
    let word = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|wanted| wanted == is);
    filter.from_us.is_none_or(|from| record.started_at >= from)
        && filter.to_us.is_none_or(|to| record.started_at < to)
        && word(&filter.program, &record.program)
        && word(&filter.mode, &record.mode)
        && word(&filter.outcome, &record.outcome)
        && filter.status.is_none_or(|status| match status {
            StatusFilter::Exact(status) => record.status == status,
            StatusFilter::Class(class) => record.status / 100 == class,
        })
        && filter.min_us.is_none_or(|min| record.total_us >= min)
        && filter.max_us.is_none_or(|max| record.total_us <= max)
        && filter
            .experiment
            .as_deref()
            .is_none_or(|wanted| record.experiment.as_deref() == Some(wanted))
}

#[cfg(test)]
mod tests {
    use warmbin_store::Filter;

    use super::super::record::tests::sample;
    use super::matches;

    #[test]
    fn each_condition_restricts_as_the_store_does() {
        let record = sample();
        for (query, expected) in [
            (("program", "printenv"), true),
            (("program", "print"), false),
            (("mode", "fork"), true),
            (("mode", "wasm-warm"), false),
            (("status", "200"), true),
            (("status", "2xx"), true),
            (("status", "5xx"), false),
            (("outcome", "ok"), true),
            (("outcome", "trap"), false),
            (("min_us", "15"), true),
            (("min_us", "16"), false),
            (("max_us", "15"), true),
            (("max_us", "14"), false),
            (("from", "2026-01-31T09:05:00.000250Z"), true),
            (("to", "2026-01-31T09:05:00.000250Z"), false),
            (("experiment", "e"), false),
        ] {
            let pairs = [(query.0.to_owned(), query.1.to_owned())];
            let filter = Filter::from_pairs(&pairs, 0).unwrap();
            assert_eq!(matches(&filter, &record), expected, "{query:?}");
        }
    }
}
