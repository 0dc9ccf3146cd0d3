//! How many ready instances a program should have, as a function of what was asked of it.

use std::time::{Duration, Instant};

use crate::wasm::warm::PoolSettings;

/// How long a peak is remembered: at least this, at most twice.
pub(super) const WINDOW: Duration = Duration::from_secs(30);

/// How many to keep ready for a peak of `peak` requests at once: a quarter more, within the settings. What is running
/// does not count as ready, so a repeated peak finds an instance for every request.
pub(super) fn target(peak: u32, settings: PoolSettings) -> u32 {
    let headroom = if peak == 0 { 0 } else { (peak / 4).max(1) };
    peak.saturating_add(headroom).max(settings.min).min(settings.max)
}

/// The most requests at once, in this window and the one before.
#[derive(Debug)]
pub(super) struct Demand {
    window_started: Instant,
    current: u32,
    previous: u32,
}

impl Demand {
    /// Nothing has been asked yet.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            window_started: now,
            current: 0,
            previous: 0,
        }
    }

    /// `at_once` requests run at `now`.
    pub(super) fn observe(&mut self, now: Instant, at_once: u32) {
        self.advance(now);
        self.current = self.current.max(at_once);
    }

    /// The remembered peak.
    pub(super) fn peak(&mut self, now: Instant) -> u32 {
        self.advance(now);
        self.current.max(self.previous)
    }

    fn advance(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.window_started);
        if passed >= WINDOW {
            self.previous = if passed < WINDOW * 2 { self.current } else { 0 };
            self.current = 0;
            self.window_started = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_follows_the_peak_within_the_settings() {
        let settings = PoolSettings { min: 2, max: 64 };
        for (peak, expected) in [
            (0, 2),
            (1, 2),
            (2, 3),
            (8, 10),
            (50, 62),
            (60, 64),
            (u32::MAX, 64),
        ] {
            assert_eq!(target(peak, settings), expected, "peak {peak}");
        }
        assert_eq!(target(9, PoolSettings { min: 5, max: 0 }), 0, "the maximum wins");
    }

    #[test]
    fn a_peak_is_forgotten_after_one_to_two_windows() {
        let start = Instant::now();
        let mut demand = Demand::new(start);
        demand.observe(start + WINDOW / 2, 40);
        assert_eq!(demand.peak(start + WINDOW / 2), 40);
        demand.observe(start + WINDOW, 3);
        assert_eq!(demand.peak(start + WINDOW), 40, "the window before still counts");
        assert_eq!(demand.peak(start + WINDOW * 2), 3);
        assert_eq!(
            demand.peak(start + WINDOW * 5),
            0,
            "long silence forgets everything"
        );
    }
}
