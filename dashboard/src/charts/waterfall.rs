//! One request's phases, each starting where the one before it ended.

use askama::Template;
use warmbin_store::Record;

use crate::format::{Micros, float, share};

/// The picture's width in its own units.
const WIDTH: f64 = 1000.0;
/// The narrowest bar that can still be seen.
const HAIR: f64 = 3.0;

/// The phases of a request as bars and numbers.
#[derive(Debug, Clone, PartialEq, Template)]
#[template(path = "charts/waterfall.html")]
pub(crate) struct Waterfall {
    bars: Vec<Bar>,
    total: Micros,
}

#[derive(Debug, Clone, PartialEq)]
struct Bar {
    phase: &'static str,
    meaning: &'static str,
    took: Micros,
    share: String,
    x: f64,
    width: f64,
}

impl Waterfall {
    /// The waterfall of a record.
    pub(crate) fn new(record: &Record) -> Self {
        let phases = [
            ("queue", "waiting for a slot", record.queue_us),
            ("start", "until the program can run", record.start_us),
            ("head", "until its header block is complete", record.head_us),
            ("body", "until the end of its output", record.body_us),
            ("exit", "until it is reaped or finished", record.exit_us),
        ];
        let sum: u64 = phases.iter().map(|(_, _, us)| us).sum();
        // The last byte may leave before the program has been reaped: then the phases outlast the total.
        let scale = WIDTH / float(sum.max(record.total_us).max(1));
        let mut before = 0;
        let bars = phases
            .into_iter()
            .map(|(phase, meaning, us)| {
                let width = if us == 0 {
                    0.0
                } else {
                    (float(us) * scale).max(HAIR)
                };
                let bar = Bar {
                    phase,
                    meaning,
                    took: Micros(us),
                    share: share(us, record.total_us.max(us)),
                    x: (float(before) * scale).min(WIDTH - width),
                    width,
                };
                before += us;
                bar
            })
            .collect();
        Self {
            bars,
            total: Micros(record.total_us),
        }
    }
}
