//! One request, as it is remembered. Durations are microseconds here, at the database's edge.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::timestamp;

/// One finished request. Field names are the API's and the columns'.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// A UUID of version 7, sortable by start.
    pub id: String,
    /// When it was routed: microseconds since the Unix epoch. The API shows RFC 3339.
    #[serde(serialize_with = "rfc3339", deserialize_with = "from_rfc3339")]
    pub started_at: i64,
    /// The host that served it.
    pub host: String,
    /// The program's name.
    pub program: String,
    /// Its version; none for drop-in files.
    pub version: Option<u32>,
    /// The mode's word.
    pub mode: String,
    /// The request method.
    pub method: String,
    /// The request path, without the query.
    pub path: String,
    /// The query string.
    pub query: String,
    /// The status sent to the client.
    pub status: u16,
    /// The outcome's word.
    pub outcome: String,
    /// Routed → slot granted.
    pub queue_us: u64,
    /// Slot granted → program can run.
    pub start_us: u64,
    /// → header block complete.
    pub head_us: u64,
    /// → end of output.
    pub body_us: u64,
    /// → process reaped or instance finished.
    pub exit_us: u64,
    /// Routed → last byte handed to the connection.
    pub total_us: u64,
    /// User and system time of the program.
    pub cpu_us: Option<u64>,
    /// Peak memory of the program.
    pub peak_memory_bytes: Option<u64>,
    /// Bytes of the request body given to the program.
    pub request_bytes: u64,
    /// Bytes of the response body.
    pub response_bytes: u64,
    /// The exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// What went wrong, in the host's words.
    pub error: Option<String>,
    /// The client's address.
    pub remote_addr: String,
    /// Requests of this program that were running when it started, itself included.
    pub concurrency: u32,
    /// The experiment it belongs to.
    pub experiment: Option<String>,
}

/// What stands for a secret's value.
pub const MASKED: &str = "…";

/// What is kept of a request beside its figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct RecordDetail {
    /// What it wrote to standard error (lossily decoded), up to the limit.
    pub stderr: String,
    /// Whether it wrote more.
    pub stderr_truncated: bool,
    /// The response head as sent.
    pub response_head: Vec<ResponseField>,
    /// The environment it was given; values of secrets are [`MASKED`].
    pub environment: Vec<ResponseField>,
}

/// A name and a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseField {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// Writes microseconds since the epoch as RFC 3339 with `Z` and six decimals.
pub fn rfc3339<S: Serializer>(us: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&timestamp::to_rfc3339(*us))
}

/// Reads what [`rfc3339`] wrote, without loss.
pub fn from_rfc3339<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let text = String::deserialize(deserializer)?;
    timestamp::from_rfc3339(&text).ok_or_else(|| serde::de::Error::custom("expected an RFC 3339 time"))
}
