//! How durations are distributed, one curve per mode: the share of requests that took at most x, x logarithmic. Curves
//! differ by dash as well as colour and carry their name.

use std::fmt::Write as _;

use askama::Template;
use warmbin_store::Histogram;

use crate::charts::scale::LogScale;
use crate::format::{Count, Micros, float};

const LEFT: f64 = 44.0;
const RIGHT: f64 = 690.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 252.0;
/// Points nearer than this in both directions cannot be told apart.
const NEAR: f64 = 0.7;
/// Labels that start right of this are written to the left of their curve.
const LABELS_TURN: f64 = 560.0;
/// The columns of the table beside the chart.
const QUANTILES: [(&str, f64); 7] = [
    ("p10", 0.10),
    ("p25", 0.25),
    ("p50", 0.50),
    ("p75", 0.75),
    ("p90", 0.90),
    ("p99", 0.99),
    ("max", 1.0),
];

/// The chart and the table that says the same.
#[derive(Debug, Clone, PartialEq, Template)]
#[template(path = "charts/distribution.html")]
pub(crate) struct Distribution {
    curves: Vec<Curve>,
    x_ticks: Vec<(f64, String)>,
    y_ticks: Vec<(f64, &'static str)>,
}

#[derive(Debug, Clone, PartialEq)]
struct Curve {
    mode: String,
    n: Count,
    points: String,
    label_x: f64,
    label_y: f64,
    dot_x: f64,
    anchor: &'static str,
    quantiles: Vec<Micros>,
}

impl Distribution {
    /// The columns of the table.
    fn columns() -> impl Iterator<Item = &'static str> {
        QUANTILES.into_iter().map(|(name, _)| name)
    }

    /// A chart of histograms grouped by mode; `None` if they are all empty.
    pub(crate) fn new(histograms: &[Histogram]) -> Option<Self> {
        let buckets = || histograms.iter().flat_map(|histogram| &histogram.buckets);
        let low = buckets().map(|bucket| bucket.le_us).min()?;
        let high = buckets().map(|bucket| bucket.le_us).max()?;
        let x = LogScale::new(low, high, LEFT, RIGHT);
        let mut shown: Vec<&Histogram> = histograms
            .iter()
            .filter(|histogram| !histogram.buckets.is_empty())
            .collect();
        // The quickest first, so that labels, each on a line of its own, descend from left to right.
        shown.sort_by_key(|histogram| quantile(histogram, 0.5));
        let lines = float(shown.len() as u64) + 1.0;
        let curves = shown
            .iter()
            .zip(1_u32..)
            .map(|(histogram, line)| curve(histogram, &x, 1.0 - f64::from(line) / lines))
            .collect();
        let y_ticks = [
            (0.0, "0"),
            (0.25, "25"),
            (0.5, "50"),
            (0.75, "75"),
            (0.95, "95"),
            (1.0, ""),
        ]
        .map(|(share, label)| (height(share), label))
        .to_vec();
        Some(Self {
            curves,
            x_ticks: x.ticks(),
            y_ticks,
        })
    }
}

fn height(share: f64) -> f64 {
    BOTTOM - share * (BOTTOM - TOP)
}

fn total(histogram: &Histogram) -> u64 {
    histogram.buckets.iter().map(|bucket| bucket.count).sum()
}

/// The upper bound of the bucket that holds the value of this rank.
fn quantile(histogram: &Histogram, share: f64) -> u64 {
    let wanted = share * float(total(histogram));
    let mut seen = 0;
    for bucket in &histogram.buckets {
        seen += bucket.count;
        if float(seen) >= wanted - 1e-9 {
            return bucket.le_us;
        }
    }
    histogram.buckets.last().map_or(0, |bucket| bucket.le_us)
}

fn curve(histogram: &Histogram, x: &LogScale, label_share: f64) -> Curve {
    let n = total(histogram);
    let mut points = String::new();
    let mut seen = 0;
    let mut previous = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for (index, bucket) in histogram.buckets.iter().enumerate() {
        if index == 0 {
            // From nothing, straight up to the first bucket.
            let _ = write!(points, "{:.1},{BOTTOM:.1}", x.at(bucket.le_us));
        }
        seen += bucket.count;
        let point = (x.at(bucket.le_us), height(float(seen) / float(n)));
        let last = index + 1 == histogram.buckets.len();
        if last || (point.0 - previous.0).abs() >= NEAR || (point.1 - previous.1).abs() >= NEAR {
            let _ = write!(points, " {:.1},{:.1}", point.0, point.1);
            previous = point;
        }
    }
    let _ = write!(points, " {RIGHT:.1},{TOP:.1}");
    let dot_x = x.at(quantile(histogram, label_share));
    let turned = dot_x > LABELS_TURN;
    Curve {
        mode: histogram.group.clone(),
        n: Count(n),
        points,
        label_x: if turned { dot_x - 8.0 } else { dot_x + 8.0 },
        label_y: height(label_share),
        dot_x,
        anchor: if turned { "end" } else { "start" },
        quantiles: QUANTILES
            .iter()
            .map(|(_, share)| Micros(quantile(histogram, *share)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use warmbin_store::{Bucket, Histogram};

    use super::{Distribution, quantile};

    fn histogram(mode: &str, buckets: &[(u64, u64)]) -> Histogram {
        Histogram {
            group: mode.to_owned(),
            buckets: buckets
                .iter()
                .map(|&(le_us, count)| Bucket { le_us, count })
                .collect(),
        }
    }

    #[test]
    fn quantiles_are_by_nearest_rank() {
        let one_to_four = histogram("fork", &[(100, 1), (200, 2), (900, 1)]);
        for (share, value) in [
            (0.0, 100),
            (0.25, 100),
            (0.26, 200),
            (0.75, 200),
            (0.76, 900),
            (1.0, 900),
        ] {
            assert_eq!(quantile(&one_to_four, share), value, "{share}");
        }
    }

    #[test]
    fn curves_rise_from_nothing_to_everything_and_never_fall() {
        let chart = Distribution::new(&[
            histogram("fork", &[(4000, 10), (5000, 50), (90_000, 1)]),
            histogram("wasm-warm", &[(300, 200), (310, 700)]),
            histogram("wasm-cold", &[]),
        ])
        .unwrap();
        let modes: Vec<&str> = chart.curves.iter().map(|curve| curve.mode.as_str()).collect();
        assert_eq!(modes, ["wasm-warm", "fork"]);
        for curve in &chart.curves {
            let points: Vec<(f64, f64)> = curve
                .points
                .split(' ')
                .map(|point| {
                    let (x, y) = point.split_once(',').unwrap();
                    (x.parse().unwrap(), y.parse().unwrap())
                })
                .collect();
            assert!((points[0].1 - super::BOTTOM).abs() < 0.1);
            assert!((points.last().unwrap().1 - super::TOP).abs() < 0.1);
            assert!(
                points
                    .windows(2)
                    .all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 >= pair[1].1)
            );
        }
    }

    #[test]
    fn nothing_measured_is_no_chart() {
        assert_eq!(Distribution::new(&[]), None);
        assert_eq!(Distribution::new(&[histogram("fork", &[])]), None);
    }
}
