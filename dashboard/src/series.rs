//! Figures over time for the sparklines: the range cut into windows that stay put while time goes on.

use futures_util::{StreamExt, TryStreamExt, stream};
use warmbin_store::{Filter, Store, StoreError};

use crate::format::float;

/// At most this many windows (one more where the range does not start on a boundary).
const WINDOWS: i64 = 30;
/// How many windows are asked for at once: enough to hide latency, too few to starve others of readers.
const AT_ONCE: usize = 4;
/// Widths of windows in seconds.
const STEPS: [i64; 19] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604_800,
];

/// One window's figures. `None` where there was nothing to measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Requests per second of the part of the window that lies in the range.
    pub(crate) rps: f64,
    /// Errors among them, 0 to 1.
    pub(crate) error_share: Option<f64>,
    /// Microseconds.
    pub(crate) p50_us: Option<u64>,
    /// Microseconds.
    pub(crate) p99_us: Option<u64>,
}

/// The windows of a range, aligned to multiples of their width so that a passed window never changes its bounds.
fn windows(from_us: i64, to_us: i64) -> Vec<(i64, i64)> {
    let span = to_us.saturating_sub(from_us);
    if span <= 0 {
        return Vec::new();
    }
    let least = span / WINDOWS;
    let step = STEPS
        .iter()
        .map(|seconds| seconds * 1_000_000)
        .find(|step| *step >= least)
        .unwrap_or(least);
    let mut bounds = Vec::new();
    let mut start = from_us;
    while start < to_us {
        let end = (start.div_euclid(step) + 1).saturating_mul(step).min(to_us);
        bounds.push((start, end));
        start = end;
    }
    bounds
}

/// The figures of each window of the filter's range; none if the range has no beginning.
pub(crate) async fn series(
    store: &dyn Store,
    filter: &Filter,
    now_us: i64,
) -> Result<Vec<Point>, StoreError> {
    let Some(from_us) = filter.from_us else {
        return Ok(Vec::new());
    };
    let to_us = filter.to_us.map_or(now_us, |to_us| to_us.min(now_us));
    stream::iter(windows(from_us, to_us))
        .map(|(from_us, to_us)| {
            let filter = Filter {
                from_us: Some(from_us),
                to_us: Some(to_us),
                ..filter.clone()
            };
            async move {
                let rows = store.summary(&filter, &[]).await?;
                let row = rows.first().filter(|row| row.count > 0);
                let seconds = float(to_us.abs_diff(from_us)) / 1e6;
                Ok(Point {
                    rps: row.map_or(0.0, |row| float(row.count) / seconds),
                    error_share: row.map(|row| float(row.errors) / float(row.count)),
                    p50_us: row.map(|row| row.total.p50_us),
                    p99_us: row.map(|row| row.total.p99_us),
                })
            }
        })
        .buffered(AT_ONCE)
        .try_collect()
        .await
}

#[cfg(test)]
mod tests {
    use super::windows;

    #[test]
    fn windows_cover_the_range_without_gap_and_keep_their_bounds() {
        let second = 1_000_000;
        for (from, to) in [
            (0, 900 * second),
            (17, 900 * second + 17),
            (-5, 3),
            (123_456, 7 * 86400 * second),
        ] {
            let bounds = windows(from, to);
            assert_eq!(bounds.first().unwrap().0, from);
            assert_eq!(bounds.last().unwrap().1, to);
            assert!(bounds.windows(2).all(|pair| pair[0].1 == pair[1].0));
            assert!(bounds.len() <= 32, "{}", bounds.len());
        }
        let now = windows(0, 900 * second);
        let later = windows(7 * second, 907 * second);
        assert_eq!(now[1..], later[1..now.len()], "a window in the middle moved");
        assert!(windows(5, 5).is_empty());
        assert!(windows(6, 5).is_empty());
    }
}
