//! `GET /api/v1/histogram`: the distribution of a phase, one or one per group.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use warmbin_store::{Bucket, Phase};

use super::super::extract::Pairs;
use super::super::problem::{Document, Problem};
use super::super::query::Parameters;
use super::super::state::Admin;
use super::summary::{group_value, key};

/// Beside the filter.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes parameters")]
pub(in super::super) struct HistogramParameters {
    /// `queue`, `start`, `head`, `body`, `exit` or `total`, which is taken if absent
    phase: Option<String>,
    /// One distribution per value of this key, as for the summary
    group_by: Option<String>,
}

/// Buckets, or groups of buckets.
#[derive(Debug, Serialize, ToSchema)]
pub(in super::super) struct Histogram {
    items: Vec<Item>,
    /// Always null: distributions come in one piece.
    next: Option<String>,
}

/// With `group_by` a group, else a bucket.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum Item {
    /// A bucket of the only distribution.
    Bucket(BucketBody),
    /// The distribution of a group.
    Group {
        /// The key and its value.
        #[schema(value_type = BTreeMap<String, Value>)]
        group: Map<String, Value>,
        /// Its buckets.
        buckets: Vec<BucketBody>,
    },
}

/// Values above the bucket before and at most `le_us`. Empty buckets are left out.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Bucket)]
pub(in super::super) struct BucketBody {
    le_us: u64,
    count: u64,
}

impl From<Bucket> for BucketBody {
    fn from(Bucket { le_us, count }: Bucket) -> Self {
        Self { le_us, count }
    }
}

/// Show a distribution
#[utoipa::path(get, path = "/api/v1/histogram", tag = "requests", operation_id = "histogram",
    params(super::FilterParameters, HistogramParameters),
    responses(
        (status = OK, description = "Log-linear buckets, ascending", body = Histogram),
        (status = BAD_REQUEST, description = "Unknown or wrong parameters, each named", body = Document, content_type = "application/problem+json")
    ))]
pub(in super::super) async fn get(
    State(admin): State<Arc<Admin>>,
    Pairs(pairs): Pairs,
) -> Result<Json<Histogram>, Problem> {
    let mut parameters = Parameters::new(pairs, &["phase", "group_by"], true);
    let filter = parameters.filter();
    let wanted = parameters.read("phase", |word| phase(word).map(Some)).flatten();
    let by = parameters.read("group_by", |word| key(word).map(Some)).flatten();
    parameters.check()?;
    let found = admin
        .host
        .store
        .histogram(&filter, wanted.unwrap_or(Phase::Total), by)
        .await?;
    let items = match by {
        None => found
            .into_iter()
            .flat_map(|histogram| histogram.buckets)
            .map(|bucket| Item::Bucket(bucket.into()))
            .collect(),
        Some(by) => found
            .into_iter()
            .map(|histogram| Item::Group {
                group: Map::from_iter([(by.as_str().to_owned(), group_value(by, Some(histogram.group)))]),
                buckets: histogram.buckets.into_iter().map(BucketBody::from).collect(),
            })
            .collect(),
    };
    Ok(Json(Histogram { items, next: None }))
}

fn phase(word: &str) -> Result<Phase, String> {
    Phase::PARTS
        .into_iter()
        .chain([Phase::Total])
        .find(|phase| phase.as_str() == word)
        .ok_or_else(|| format!("{word:?} is not one of queue, start, head, body, exit, total"))
}
