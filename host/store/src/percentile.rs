//! Exact percentiles by nearest rank, and the log-linear buckets of histograms.

use crate::stats::Percentiles;

/// The figures of `values`, which is sorted in place. All zero if there are none.
pub fn percentiles(_values: &mut [u64]) -> Percentiles {
    todo!()
}

/// The inclusive upper bound of the bucket that holds `us`: 64 linear steps to each power of two, so that a bucket is
/// at most 1.6 % wide.
pub fn bucket_le(_us: u64) -> u64 {
    todo!()
}
