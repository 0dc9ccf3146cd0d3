//! Axes.

use crate::format::{Micros, float};

/// A logarithmic axis of durations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LogScale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl LogScale {
    /// An axis from the pixel `start` to `end` that shows `low_us` to `high_us`, widened to 1, 2 or 5 times a power
    /// of ten on both sides.
    pub(crate) fn new(low_us: u64, high_us: u64, start: f64, end: f64) -> Self {
        let low = low_us.max(1);
        let high = high_us.max(low.saturating_add(1));
        let below = rounds().take_while(|round| *round <= low).last().unwrap_or(1);
        let above = rounds().find(|round| *round >= high).unwrap_or(high);
        Self {
            low: float(below).log10(),
            high: float(above).log10(),
            start,
            end,
        }
    }

    /// Where a duration is, in pixels; kept within the axis.
    pub(crate) fn at(&self, us: u64) -> f64 {
        let share = (float(us.max(1)).log10() - self.low) / (self.high - self.low);
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// Positions and labels: powers of ten, with 2 and 5 between them while they have room.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        let roomy = self.high - self.low <= 2.5;
        rounds()
            .filter(|round| {
                let position = float(*round).log10();
                position >= self.low - 1e-9 && position <= self.high + 1e-9
            })
            .filter(|round| roomy || is_power_of_ten(*round))
            .map(|round| (self.at(round), Micros(round).round_label()))
            .collect()
    }
}

/// 1, 2, 5, 10, 20, 50 … microseconds, up to weeks.
fn rounds() -> impl Iterator<Item = u64> {
    (0..13).flat_map(|exponent| [1, 2, 5].map(|digit| digit * 10_u64.pow(exponent)))
}

fn is_power_of_ten(value: u64) -> bool {
    10_u64.pow(value.ilog10()) == value
}

#[cfg(test)]
mod tests {
    use super::LogScale;

    #[test]
    fn the_axis_holds_every_value_and_ends_on_round_ones() {
        let axis = LogScale::new(340, 41_000, 0.0, 100.0);
        let ticks = axis.ticks();
        assert_eq!(ticks.first().unwrap().1, "200\u{a0}µs");
        assert_eq!(ticks.last().unwrap().1, "50\u{a0}ms");
        assert!(axis.at(200).abs() < 1e-9 && (axis.at(50_000) - 100.0).abs() < 1e-9);
        assert!(axis.at(340) < axis.at(341));
        assert!(ticks.len() >= 3);
    }

    #[test]
    fn an_axis_of_one_value_or_none_is_still_an_axis() {
        for (low, high) in [(0, 0), (1000, 1000), (u64::MAX, u64::MAX)] {
            let axis = LogScale::new(low, high, 0.0, 100.0);
            assert!(axis.at(low).is_finite() && axis.at(0).is_finite(), "{low}");
        }
    }
}
