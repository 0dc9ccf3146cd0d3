//! The part of the overview that is replaced while the page is open: figures, modes, distribution, what is slow.

use askama::Template;
use futures_util::future;
use warmbin_store::{GroupKey, Order, Page, Percentiles, Phase, Record, Store, StoreError, SummaryRow};

use crate::Dashboard;
use crate::charts::distribution::Distribution;
use crate::charts::sparkline::Sparkline;
use crate::format::{Count, Micros, Moment, float, share, three_digits};
use crate::query::Query;
use crate::series::{Point, series};

/// Below this many values a median says little, and modes are not compared.
const ENOUGH: u64 = 30;
/// Below this many values the 99th percentile is just the largest of them.
const ENOUGH_FOR_P99: u64 = 100;
/// A mode that fails more often than this is not called fast.
const TOLERATED_ERRORS: f64 = 0.01;
/// How many of the slowest requests are named.
const SLOWEST: u32 = 5;

/// The replaceable part of the overview.
#[derive(Debug, Template)]
#[template(path = "parts/summary.html")]
pub(crate) struct Summary {
    figures: Vec<Figure>,
    modes: Vec<ModeRow>,
    verdict: String,
    mixed: bool,
    distribution: Option<Distribution>,
    slowest: Vec<Slow>,
    as_of: Moment,
}

#[derive(Debug)]
struct Figure {
    key: &'static str,
    label: &'static str,
    value: String,
    exact: String,
    /// Too few values for the figure to mean much.
    weak: bool,
    sparkline: Option<Sparkline>,
}

#[derive(Debug)]
struct ModeRow {
    mode: String,
    count: u64,
    rps: String,
    p50: Micros,
    p95: Micros,
    p99: Micros,
    weak: bool,
    weak_p99: bool,
    errors: u64,
    error_share: String,
    cpu: Option<Micros>,
    /// How many times the median of the fastest.
    ratio: Option<String>,
    fastest: bool,
    link: String,
}

impl ModeRow {
    fn shown_count(&self) -> Count {
        Count(self.count)
    }
}

#[derive(Debug)]
struct Slow {
    id: String,
    program: String,
    mode: String,
    path: String,
    total: Micros,
    started: Moment,
}

impl Summary {
    /// Reads everything for a query.
    pub(crate) async fn read(dashboard: &Dashboard, query: &Query, now_us: i64) -> Result<Self, StoreError> {
        let store: &dyn Store = &*dashboard.store;
        let filter = &query.filter;
        let slowest_page = Page {
            limit: SLOWEST,
            cursor: None,
            order: Order::Total,
        };
        let (overall, by_mode, histograms, points, slowest) = future::try_join5(
            store.summary(filter, &[]),
            store.summary(filter, &[GroupKey::Mode]),
            store.histogram(filter, Phase::Total, Some(GroupKey::Mode)),
            series(store, filter, now_us),
            store.requests(filter, &slowest_page),
        )
        .await?;
        let (modes, verdict) = compare(&by_mode, &dashboard.facts.modes, query);
        Ok(Self {
            figures: figures(overall.first(), &points),
            modes,
            verdict,
            mixed: filter.program.is_none(),
            distribution: Distribution::new(&histograms),
            slowest: slowest.items.into_iter().map(Slow::from).collect(),
            as_of: Moment(now_us),
        })
    }

    /// Whether the filter matched nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.modes.is_empty()
    }

    /// Whether a figure is shown that means little.
    fn has_weak(&self) -> bool {
        self.figures.iter().any(|figure| figure.weak) || self.modes.iter().any(|row| row.weak_p99)
    }

    /// Errors among all requests shown.
    pub(crate) fn errors(&self) -> (u64, u64) {
        self.modes.iter().fold((0, 0), |(errors, count), row| {
            (errors + row.errors, count + row.count)
        })
    }
}

impl From<Record> for Slow {
    fn from(record: Record) -> Self {
        Self {
            id: record.id,
            program: record.program,
            mode: record.mode,
            path: record.path,
            total: Micros(record.total_us),
            started: Moment(record.started_at),
        }
    }
}

fn figures(row: Option<&SummaryRow>, points: &[Point]) -> Vec<Figure> {
    let row = row.filter(|row| row.count > 0);
    let count = row.map_or(0, |row| row.count);
    let line = |label: &str, values: Vec<Option<f64>>| {
        (!points.is_empty()).then(|| Sparkline::new(format!("{label} over the range"), &values))
    };
    let micros = |of: fn(&Percentiles) -> u64| row.map(|row| Micros(of(&row.total)));
    let shown = |value: Option<Micros>| value.map_or_else(|| "–".to_owned(), |value| value.to_string());
    let exact = |value: Option<Micros>| {
        value.map_or_else(String::new, |value| {
            format!("{}, n = {}", value.exact(), Count(count))
        })
    };
    let (p50, p99) = (micros(|total| total.p50_us), micros(|total| total.p99_us));
    vec![
        Figure {
            key: "rps",
            label: "Requests per second",
            value: row.map_or_else(|| "0".to_owned(), |row| three_digits(row.rps)),
            exact: format!("{} requests", Count(count)),
            weak: false,
            sparkline: line(
                "Requests per second",
                points.iter().map(|point| Some(point.rps)).collect(),
            ),
        },
        Figure {
            key: "errors",
            label: "Errors",
            value: row.map_or_else(|| "–".to_owned(), |row| share(row.errors, row.count)),
            exact: row.map_or_else(String::new, |row| {
                format!("{} of {} requests", Count(row.errors), Count(row.count))
            }),
            weak: count < ENOUGH,
            sparkline: line(
                "Error share",
                points.iter().map(|point| point.error_share).collect(),
            ),
        },
        Figure {
            key: "p50",
            label: "Median (p50)",
            value: shown(p50),
            exact: exact(p50),
            weak: count < ENOUGH,
            sparkline: line(
                "Median",
                points.iter().map(|point| point.p50_us.map(float)).collect(),
            ),
        },
        Figure {
            key: "p99",
            label: "99th percentile (p99)",
            value: shown(p99),
            exact: exact(p99),
            weak: count < ENOUGH_FOR_P99,
            sparkline: line(
                "99th percentile",
                points.iter().map(|point| point.p99_us.map(float)).collect(),
            ),
        },
    ]
}

/// The modes in display order, and which of them wins, or why none can be named.
fn compare(rows: &[SummaryRow], order: &[&str], query: &Query) -> (Vec<ModeRow>, String) {
    let mut rows: Vec<(&str, &SummaryRow)> = rows
        .iter()
        .filter(|row| row.count > 0)
        .map(|row| (mode_of(row), row))
        .collect();
    rows.sort_by_key(|(mode, _)| order.iter().position(|known| known == mode).unwrap_or(usize::MAX));
    let eligible =
        |row: &SummaryRow| row.count >= ENOUGH && float(row.errors) <= TOLERATED_ERRORS * float(row.count);
    let fair: Vec<&(&str, &SummaryRow)> = rows.iter().filter(|(_, row)| eligible(row)).collect();
    let fastest = fair
        .iter()
        .min_by_key(|(_, row)| row.total.p50_us)
        .filter(|_| fair.len() > 1)
        .copied();
    let verdict = verdict(&rows, &fair, fastest);
    let shown = rows
        .iter()
        .map(|(mode, row)| ModeRow {
            mode: (*mode).to_owned(),
            count: row.count,
            rps: three_digits(row.rps),
            p50: Micros(row.total.p50_us),
            p95: Micros(row.total.p95_us),
            p99: Micros(row.total.p99_us),
            weak: row.count < ENOUGH,
            weak_p99: row.count < ENOUGH_FOR_P99,
            errors: row.errors,
            error_share: share(row.errors, row.count),
            cpu: row.cpu_us_mean.map(Micros),
            ratio: fastest
                .filter(|_| eligible(row))
                .map(|(_, best)| times(row, best)),
            fastest: fastest.is_some_and(|(best, _)| best == mode),
            link: format!("/requests?{}", query.with(&[("mode", mode)])),
        })
        .collect();
    (shown, verdict)
}

fn mode_of(row: &SummaryRow) -> &str {
    row.group
        .iter()
        .find(|(key, _)| *key == GroupKey::Mode)
        .and_then(|(_, value)| value.as_deref())
        .unwrap_or("unknown")
}

fn times(row: &SummaryRow, best: &SummaryRow) -> String {
    format!(
        "{}×",
        three_digits(float(row.total.p50_us) / float(best.total.p50_us.max(1)))
    )
}

fn verdict(
    rows: &[(&str, &SummaryRow)],
    fair: &[&(&str, &SummaryRow)],
    fastest: Option<&(&str, &SummaryRow)>,
) -> String {
    let Some((mode, best)) = fastest else {
        return format!(
            "Not enough data to name the fastest: it takes two modes with at least {ENOUGH} requests each and at most \
             1 % errors."
        );
    };
    let mut text = format!(
        "{mode} has the lowest median: {} over {} requests.",
        Micros(best.total.p50_us),
        Count(best.count)
    );
    if let Some((other, row)) = fair
        .iter()
        .filter(|(other, _)| other != mode)
        .max_by_key(|(_, row)| row.total.p50_us)
    {
        let addition = format!(
            " {other} takes {} as long ({} over {}).",
            times(row, best),
            Micros(row.total.p50_us),
            Count(row.count)
        );
        text.push_str(&addition);
    }
    let left_out: Vec<&str> = rows
        .iter()
        .map(|(other, _)| *other)
        .filter(|other| !fair.iter().any(|(kept, _)| kept == other))
        .collect();
    if !left_out.is_empty() {
        let addition = format!(
            " Left out for too few requests or too many errors: {}.",
            left_out.join(", ")
        );
        text.push_str(&addition);
    }
    text
}

#[cfg(test)]
mod tests {
    use warmbin_store::{Filter, GroupKey, Percentiles, SummaryRow};

    use super::compare;
    use crate::query::Query;

    fn row(mode: &str, count: u64, errors: u64, p50_us: u64) -> SummaryRow {
        SummaryRow {
            group: vec![(GroupKey::Mode, Some(mode.to_owned()))],
            count,
            errors,
            rps: 1.0,
            total: Percentiles {
                p50_us,
                ..Percentiles::default()
            },
            phases: Vec::new(),
            cpu_us_mean: None,
            peak_memory_bytes_max: None,
        }
    }

    fn fastest(rows: &[SummaryRow]) -> (Option<String>, String) {
        let query = Query::read(vec![("to".to_owned(), "2026-01-01T00:00:00Z".to_owned())], "", 0).unwrap();
        assert_eq!(query.filter.from_us, Filter::default().from_us);
        let (rows, verdict) = compare(rows, &["fork", "wasm-cold", "wasm-warm"], &query);
        (
            rows.into_iter().find(|row| row.fastest).map(|row| row.mode),
            verdict,
        )
    }

    #[test]
    fn the_fastest_needs_a_rival_enough_requests_and_few_errors() {
        let (winner, verdict) = fastest(&[row("fork", 500, 0, 4000), row("wasm-warm", 500, 5, 400)]);
        assert_eq!(winner.as_deref(), Some("wasm-warm"));
        assert!(verdict.contains("fork takes 10.0× as long"), "{verdict}");

        let (winner, verdict) = fastest(&[row("fork", 500, 0, 4000)]);
        assert_eq!(winner, None);
        assert!(verdict.starts_with("Not enough data"), "{verdict}");

        let (winner, _) = fastest(&[row("fork", 500, 0, 4000), row("wasm-warm", 29, 0, 400)]);
        assert_eq!(winner, None, "29 requests were enough");

        let (winner, verdict) = fastest(&[
            row("fork", 500, 0, 4000),
            row("wasm-cold", 99, 0, 5000),
            row("wasm-warm", 500, 6, 4),
        ]);
        assert_eq!(winner.as_deref(), Some("fork"), "a mode that fails quickly won");
        assert!(verdict.ends_with("too many errors: wasm-warm."), "{verdict}");
    }
}
