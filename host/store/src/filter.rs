//! Which requests a question is about. The same filter serves the API, the dashboard and exports.

mod parse;

/// A conjunction of conditions; an absent one does not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Started at or after this many microseconds since the epoch.
    pub from_us: Option<i64>,
    /// Started before.
    pub to_us: Option<i64>,
    /// The program's name.
    pub program: Option<String>,
    /// The mode's word.
    pub mode: Option<String>,
    /// A status or a class of statuses.
    pub status: Option<StatusFilter>,
    /// The outcome's word.
    pub outcome: Option<String>,
    /// `total_us` at least.
    pub min_us: Option<u64>,
    /// `total_us` at most.
    pub max_us: Option<u64>,
    /// The experiment's id.
    pub experiment: Option<String>,
}

/// `200` or `5xx`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusFilter {
    /// Exactly this status.
    Exact(u16),
    /// 1 to 5: the first digit.
    Class(u16),
}

/// How a list is ordered; always descending, with the id as the tie-breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Newest first.
    #[default]
    StartedAt,
    /// Slowest first.
    Total,
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// At most this many items, 1 to 1000.
    pub limit: u32,
    /// Where the previous page ended.
    pub cursor: Option<String>,
    /// The order.
    pub order: Order,
}

/// A page of results. `next` is an opaque keyset cursor: stable while rows are being inserted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice<T> {
    /// The items.
    pub items: Vec<T>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

/// A filter that cannot be understood; names every parameter that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(|(name, why)| format!("{name}: {why}")).collect::<Vec<_>>().join("; "))]
pub struct FilterError(pub Vec<(String, String)>);

impl Filter {
    /// The parameters of a filter, the same in the API and in the dashboard's URLs.
    pub const KEYS: [&'static str; 9] = [
        "from",
        "to",
        "program",
        "mode",
        "status",
        "outcome",
        "min_us",
        "max_us",
        "experiment",
    ];
}
