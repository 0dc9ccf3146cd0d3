//! A line small enough to sit beside a figure. Gaps stay gaps.

use std::fmt::Write as _;

use askama::Template;

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 28.0;
/// Keeps the stroke inside the picture.
const INSET: f64 = 2.0;

/// One sparkline.
#[derive(Debug, Clone, PartialEq, Template)]
#[template(path = "charts/sparkline.svg")]
pub(crate) struct Sparkline {
    /// What it shows, for those who do not see it.
    label: String,
    /// SVG path data; empty if there is nothing to draw.
    path: String,
}

impl Sparkline {
    /// A line through `values` from zero to their largest.
    pub(crate) fn new(label: String, values: &[Option<f64>]) -> Self {
        let top = values.iter().flatten().copied().fold(0.0_f64, f64::max);
        let step = (WIDTH - 2.0 * INSET) / crate::format::float(values.len().saturating_sub(1).max(1) as u64);
        let mut path = String::new();
        let mut x = INSET;
        let mut pen_down = false;
        for value in values {
            if let Some(value) = value {
                let share = if top > 0.0 { value / top } else { 0.0 };
                let y = HEIGHT - INSET - share * (HEIGHT - 2.0 * INSET);
                // A lone point is a line of no length, which a round cap makes visible.
                let _ = if pen_down {
                    write!(path, "L{x:.1} {y:.1}")
                } else {
                    write!(path, "M{x:.1} {y:.1}h0")
                };
            }
            pen_down = value.is_some();
            x += step;
        }
        Self { label, path }
    }
}

#[cfg(test)]
mod tests {
    use super::Sparkline;

    #[test]
    fn a_gap_lifts_the_pen_and_the_largest_value_touches_the_top() {
        let line = Sparkline::new("x".to_owned(), &[Some(1.0), Some(2.0), None, Some(0.0)]);
        assert_eq!(line.path.matches('M').count(), 2);
        assert!(line.path.contains(" 2.0"), "{}", line.path);
        assert!(line.path.ends_with(" 26.0h0"), "{}", line.path);
        assert_eq!(Sparkline::new(String::new(), &[None, None]).path, "");
    }
}
