//! `GET /api/v1/summary`: figures per group.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use warmbin_store::{GroupKey, Percentiles, SummaryRow};

use super::super::extract::Pairs;
use super::super::problem::{Document, Problem};
use super::super::query::Parameters;
use super::super::state::Admin;

/// What requests can be grouped by.
pub(super) const KEYS: [GroupKey; 7] = [
    GroupKey::Mode,
    GroupKey::Program,
    GroupKey::Version,
    GroupKey::Status,
    GroupKey::Outcome,
    GroupKey::Host,
    GroupKey::Method,
];

/// Beside the filter.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes parameters")]
pub(in super::super) struct SummaryParameters {
    /// `mode` if absent; any of `mode`, `program`, `version`, `status`, `outcome`, `host`, `method`, joined
    /// by commas
    group_by: Option<String>,
}

/// Every group, the largest first.
#[derive(Debug, Serialize, ToSchema)]
pub(in super::super) struct Summary {
    items: Vec<Group>,
    /// Always null: groups come in one piece.
    next: Option<String>,
}

/// The figures of one group.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the name is the API's")]
pub(in super::super) struct Group {
    /// The group's keys and their values.
    #[schema(value_type = BTreeMap<String, Value>)]
    group: Map<String, Value>,
    /// Requests.
    count: u64,
    /// Those whose outcome is neither `ok` nor `client_gone`, or whose status is 5xx.
    errors: u64,
    /// Requests per second over the range.
    rps: f64,
    /// Of `total_us`, like the percentiles beside it.
    mean_us: u64,
    p50_us: u64,
    p90_us: u64,
    p95_us: u64,
    p99_us: u64,
    max_us: u64,
    /// Mean processor time of those that have one.
    cpu_us_mean: Option<u64>,
    /// Largest peak memory.
    peak_memory_bytes_max: Option<u64>,
    /// The same figures of each phase: `queue`, `start`, `head`, `body`, `exit`.
    phases: BTreeMap<&'static str, PhaseFigures>,
}

/// The figures of a phase.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the unit is part of the name")]
pub(in super::super) struct PhaseFigures {
    mean_us: u64,
    p50_us: u64,
    p90_us: u64,
    p95_us: u64,
    p99_us: u64,
    max_us: u64,
}

impl From<Percentiles> for PhaseFigures {
    fn from(figures: Percentiles) -> Self {
        Self {
            mean_us: figures.mean_us,
            p50_us: figures.p50_us,
            p90_us: figures.p90_us,
            p95_us: figures.p95_us,
            p99_us: figures.p99_us,
            max_us: figures.max_us,
        }
    }
}

impl From<SummaryRow> for Group {
    fn from(row: SummaryRow) -> Self {
        let group = row
            .group
            .into_iter()
            .map(|(key, value)| (key.as_str().to_owned(), group_value(key, value)))
            .collect();
        Self {
            group,
            count: row.count,
            errors: row.errors,
            rps: row.rps,
            mean_us: row.total.mean_us,
            p50_us: row.total.p50_us,
            p90_us: row.total.p90_us,
            p95_us: row.total.p95_us,
            p99_us: row.total.p99_us,
            max_us: row.total.max_us,
            cpu_us_mean: row.cpu_us_mean,
            peak_memory_bytes_max: row.peak_memory_bytes_max,
            phases: row
                .phases
                .into_iter()
                .map(|(phase, figures)| (phase.as_str(), figures.into()))
                .collect(),
        }
    }
}

/// Summarise requests
#[utoipa::path(get, path = "/api/v1/summary", tag = "requests", operation_id = "summary",
    params(super::FilterParameters, SummaryParameters),
    responses(
        (status = OK, description = "Figures per group; percentiles are exact, by nearest rank", body = Summary),
        (status = BAD_REQUEST, description = "Unknown or wrong parameters, each named", body = Document, content_type = "application/problem+json")
    ))]
pub(in super::super) async fn get(
    State(admin): State<Arc<Admin>>,
    Pairs(pairs): Pairs,
) -> Result<Json<Summary>, Problem> {
    let mut parameters = Parameters::new(pairs, &["group_by"], true);
    let filter = parameters.filter();
    let keys = parameters
        .read("group_by", keys)
        .unwrap_or_else(|| vec![GroupKey::Mode]);
    parameters.check()?;
    let rows = admin.host.store.summary(&filter, &keys).await?;
    Ok(Json(Summary {
        items: rows.into_iter().map(Group::from).collect(),
        next: None,
    }))
}

/// A group's value as the record has it: numbers for versions and statuses.
pub(super) fn group_value(key: GroupKey, value: Option<String>) -> Value {
    match (key, value) {
        (_, None) => Value::Null,
        (GroupKey::Version | GroupKey::Status, Some(text)) => {
            text.parse::<u64>().map_or(Value::String(text), Value::from)
        }
        (_, Some(text)) => Value::String(text),
    }
}

/// One key by its word.
pub(super) fn key(word: &str) -> Result<GroupKey, String> {
    KEYS.into_iter().find(|key| key.as_str() == word).ok_or_else(|| {
        let words: Vec<&str> = KEYS.iter().map(|key| key.as_str()).collect();
        format!("{word:?} is not one of {}", words.join(", "))
    })
}

fn keys(text: &str) -> Result<Vec<GroupKey>, String> {
    let mut keys = Vec::new();
    for word in text.split(',') {
        let key = key(word.trim())?;
        if keys.contains(&key) {
            return Err(format!("{word:?} is given twice"));
        }
        keys.push(key);
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use warmbin_store::GroupKey;

    use super::keys;

    #[test]
    fn groups_are_distinct_words_joined_by_commas() {
        assert_eq!(keys("mode,program"), Ok(vec![GroupKey::Mode, GroupKey::Program]));
        for text in ["", "mode,", "mode,mode", "colour"] {
            assert!(keys(text).is_err(), "{text:?}");
        }
    }
}
