//! Figures over many requests.

use serde::Serialize;

/// A phase of a request, or the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Routed → slot granted.
    Queue,
    /// → program can run.
    Start,
    /// → header block complete.
    Head,
    /// → end of output.
    Body,
    /// → reaped.
    Exit,
    /// The whole.
    Total,
}

impl Phase {
    /// The phases of one request in order, without the total.
    pub const PARTS: [Self; 5] = [Self::Queue, Self::Start, Self::Head, Self::Body, Self::Exit];

    /// The word for this phase.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Start => "start",
            Self::Head => "head",
            Self::Body => "body",
            Self::Exit => "exit",
            Self::Total => "total",
        }
    }
}

/// What requests are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupKey {
    /// By mode.
    Mode,
    /// By program.
    Program,
    /// By version of a program.
    Version,
    /// By status.
    Status,
    /// By outcome.
    Outcome,
    /// By host.
    Host,
    /// By method.
    Method,
}

impl GroupKey {
    /// The word for this key: also the column's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mode => "mode",
            Self::Program => "program",
            Self::Version => "version",
            Self::Status => "status",
            Self::Outcome => "outcome",
            Self::Host => "host",
            Self::Method => "method",
        }
    }
}

/// Percentiles by nearest rank: the value at rank ⌈p·n⌉ of the sorted values. Exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub struct Percentiles {
    /// Half are at most this.
    pub p50_us: u64,
    /// 90 %.
    pub p90_us: u64,
    /// 95 %.
    pub p95_us: u64,
    /// 99 %.
    pub p99_us: u64,
    /// The largest.
    pub max_us: u64,
    /// The arithmetic mean, rounded down.
    pub mean_us: u64,
}

/// One group's figures.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryRow {
    /// Key and value, in the order asked for. The value is `null`-able (a version).
    pub group: Vec<(GroupKey, Option<String>)>,
    /// Requests.
    pub count: u64,
    /// Those whose outcome is neither `ok` nor `client_gone`, or whose status is 5xx.
    pub errors: u64,
    /// Requests per second over a span that all groups share: from `from` to `to`, each replaced by the first or last
    /// start of what the filter selects where it is not given; at least one second.
    pub rps: f64,
    /// Of the total.
    pub total: Percentiles,
    /// Of each phase.
    pub phases: Vec<(Phase, Percentiles)>,
    /// Mean processor time of those that have one.
    pub cpu_us_mean: Option<u64>,
    /// Largest peak memory.
    pub peak_memory_bytes_max: Option<u64>,
}

/// A distribution as log-linear buckets: ascending, empty ones left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    /// The value of the grouping key (a mode); empty if ungrouped.
    pub group: String,
    /// The buckets.
    pub buckets: Vec<Bucket>,
}

/// Values greater than the previous bucket's `le_us` and at most this one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// Upper bound, inclusive.
    pub le_us: u64,
    /// How many.
    pub count: u64,
}
