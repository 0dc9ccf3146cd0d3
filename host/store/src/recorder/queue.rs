//! Records that wait in memory, and the counts of all that wait. No I/O, no waiting: decisions only.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::RecorderStats;
use crate::record::{Record, RecordDetail, ResponseField};

/// Records to a transaction.
pub(super) const BATCH: usize = 512;

/// How long a record waits for company.
const GATHER: Duration = Duration::from_millis(100);

/// How long spilling rests after the file could not be written.
const SPILL_REST: Duration = Duration::from_secs(1);

/// A record as it waits.
pub(super) type Entry = (Arc<Record>, RecordDetail);

/// How much waits in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Records beyond this are lost.
    pub(crate) records: usize,
    /// At this many the queue is moved to the spill file. Below `records`, to give the file time.
    pub(crate) spill_records: usize,
    /// Bytes beyond this are lost: a record can carry much standard error.
    pub(crate) bytes: usize,
    /// At this many the queue is moved to the spill file.
    pub(crate) spill_bytes: usize,
}

impl Limits {
    /// Seconds of full load, and no more memory than a host can spare.
    pub(crate) const DEFAULT: Self = Self {
        records: 65_536,
        spill_records: 49_152,
        bytes: 256 << 20,
        spill_bytes: 64 << 20,
    };
}

/// A record and what the queue must know of it.
#[derive(Debug)]
pub(super) struct Waiting {
    entry: Entry,
    since: Instant,
    bytes: usize,
}

impl Waiting {
    /// As of now.
    pub(super) fn new(record: Arc<Record>, detail: RecordDetail) -> Self {
        let fields = |fields: &[ResponseField]| -> usize {
            fields
                .iter()
                .map(|field| field.name.len() + field.value.len() + 48)
                .sum()
        };
        let bytes = size_of::<Self>()
            + record.path.len()
            + record.query.len()
            + record.error.as_ref().map_or(0, String::len)
            + detail.stderr.len()
            + fields(&detail.response_head)
            + fields(&detail.environment);
        Self {
            entry: (record, detail),
            since: Instant::now(),
            bytes,
        }
    }

    /// The record.
    pub(super) fn entry(&self) -> &Entry {
        &self.entry
    }
}

/// What the writer should do next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Write what is in the spill file: it is older than what is in memory.
    Spill,
    /// Write from memory.
    Memory,
    /// Wait for a record, and no longer than this.
    Wait(Option<Duration>),
}

/// What waits. Order of age: the batch being written, the spill file, memory.
#[derive(Debug)]
pub(super) struct Queue {
    limits: Limits,
    waiting: VecDeque<Waiting>,
    bytes: usize,
    /// Records in the spill file or on their way into it.
    spilled: u64,
    /// Records taken over from callers and from earlier runs.
    accepted: u64,
    written: u64,
    lost: u64,
    /// Of the accepted, how many a flush waits for.
    flush_to: u64,
    /// How many accepted records have left memory for the writer or the file.
    left: u64,
    spill_rest: Option<Instant>,
    closed: bool,
}

impl Queue {
    /// An empty one in front of a spill file that holds `spilled` records.
    pub(super) fn new(limits: Limits, spilled: u64) -> Self {
        Self {
            limits,
            waiting: VecDeque::new(),
            bytes: 0,
            spilled,
            accepted: spilled,
            written: 0,
            lost: 0,
            flush_to: 0,
            left: spilled,
            spill_rest: None,
            closed: false,
        }
    }

    /// Records in memory.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Takes a record over, or counts it as lost if there is no room.
    pub(super) fn push(&mut self, waiting: Waiting) {
        let full =
            self.waiting.len() >= self.limits.records || self.bytes + waiting.bytes > self.limits.bytes;
        if full || self.closed {
            self.lost += 1;
            return;
        }
        self.bytes += waiting.bytes;
        self.accepted += 1;
        self.waiting.push_back(waiting);
    }

    /// Whether memory should be moved to the spill file.
    pub(super) fn is_crowded(&self) -> bool {
        let much = self.waiting.len() >= self.limits.spill_records || self.bytes >= self.limits.spill_bytes;
        much && self.spill_rest.is_none_or(|until| Instant::now() >= until)
    }

    /// What the writer should do next.
    pub(super) fn next(&self) -> Next {
        if self.spilled > 0 {
            return Next::Spill;
        }
        let Some(oldest) = self.waiting.front() else {
            return Next::Wait(None);
        };
        let left = GATHER.saturating_sub(oldest.since.elapsed());
        if self.waiting.len() >= BATCH || self.flush_to > self.left || left.is_zero() {
            Next::Memory
        } else {
            Next::Wait(Some(left))
        }
    }

    /// The oldest in memory, for the writer.
    pub(super) fn take_batch(&mut self) -> Vec<Entry> {
        let taken: Vec<Waiting> = self.waiting.drain(..self.waiting.len().min(BATCH)).collect();
        self.bytes = self
            .bytes
            .saturating_sub(taken.iter().map(|waiting| waiting.bytes).sum());
        self.left += taken.len() as u64;
        taken.into_iter().map(|waiting| waiting.entry).collect()
    }

    /// Gives a batch back that was not written.
    pub(super) fn give_back(&mut self, batch: Vec<Entry>) {
        self.left = self.left.saturating_sub(batch.len() as u64);
        for (record, detail) in batch.into_iter().rev() {
            let waiting = Waiting::new(record, detail);
            self.bytes += waiting.bytes;
            self.waiting.push_front(waiting);
        }
    }

    /// Everything in memory, for the spill file. From now on it counts as being there, so that the writer takes nothing
    /// newer before it.
    pub(super) fn take_for_spill(&mut self) -> VecDeque<Waiting> {
        let count = self.waiting.len() as u64;
        self.spilled += count;
        self.left += count;
        self.bytes = 0;
        std::mem::take(&mut self.waiting)
    }

    /// The spill file did not take it: back into memory, and no other try for a while.
    pub(super) fn spill_failed(&mut self, mut taken: VecDeque<Waiting>) {
        let count = taken.len() as u64;
        self.spilled = self.spilled.saturating_sub(count);
        self.left = self.left.saturating_sub(count);
        self.bytes += taken.iter().map(|waiting| waiting.bytes).sum::<usize>();
        taken.append(&mut self.waiting);
        self.waiting = taken;
        self.spill_rest = Some(Instant::now() + SPILL_REST);
    }

    /// Records of the spill file are done with.
    pub(super) fn spill_done(&mut self, written: u64, lost: u64) {
        self.spilled = self.spilled.saturating_sub(written + lost);
        self.written += written;
        self.lost += lost;
    }

    /// A batch from memory is written.
    pub(super) fn written(&mut self, count: u64) {
        self.written += count;
    }

    /// Takes nothing more.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Asks that nothing handed over so far waits for company, and says how many must be settled for that.
    pub(super) fn flush(&mut self) -> u64 {
        self.flush_to = self.accepted;
        self.accepted
    }

    /// The counts, given how many of the accepted records are done with.
    pub(super) fn stats(&self, settled: u64) -> RecorderStats {
        RecorderStats {
            backlog: self.accepted.saturating_sub(settled),
            spilled: self.spilled,
            written: self.written,
            lost: self.lost,
        }
    }
}
