//! Exact percentiles by nearest rank, and the log-linear buckets of histograms.

use crate::stats::Percentiles;

/// The figures of `values`, which is sorted in place. All zero if there are none.
pub fn percentiles(values: &mut [u64]) -> Percentiles {
    values.sort_unstable();
    let (Some(&max_us), count) = (values.last(), values.len()) else {
        return Percentiles::default();
    };
    let sum: u128 = values.iter().map(|&value| u128::from(value)).sum();
    Percentiles {
        p50_us: nearest_rank(values, 50),
        p90_us: nearest_rank(values, 90),
        p95_us: nearest_rank(values, 95),
        p99_us: nearest_rank(values, 99),
        max_us,
        mean_us: u64::try_from(sum / count as u128).unwrap_or(u64::MAX),
    }
}

/// The value at rank ⌈percent·n/100⌉, counted from one. In whole numbers: a float's rounding would shift ranks.
fn nearest_rank(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

/// The inclusive upper bound of the bucket that holds `us`: 64 linear steps to each power of two, so that a bucket is
/// at most 1.6 % wide. Up to 128 every value has a bucket of its own.
pub fn bucket_le(us: u64) -> u64 {
    // Buckets include their upper bound, so (64, 128] belongs together: the power of two is that of the value before.
    let Some(before) = us.checked_sub(1) else { return 0 };
    let step = 1_u64 << before.checked_ilog2().unwrap_or(0).saturating_sub(6);
    (before / step + 1).saturating_mul(step)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_values_are_all_zero() {
        assert_eq!(percentiles(&mut []), Percentiles::default());
    }

    #[test]
    fn ranks_are_nearest_and_the_mean_is_rounded_down() {
        let mut values: Vec<u64> = (1..=10).rev().collect();
        let expected = Percentiles {
            p50_us: 5,
            p90_us: 9,
            p95_us: 10,
            p99_us: 10,
            max_us: 10,
            mean_us: 5,
        };
        assert_eq!(percentiles(&mut values), expected);
    }

    #[test]
    fn small_values_have_a_bucket_each_and_the_largest_does_not_overflow() {
        for us in 0..=128 {
            assert_eq!(bucket_le(us), us);
        }
        assert_eq!(bucket_le(129), 130);
        assert_eq!(bucket_le(u64::MAX), u64::MAX);
    }

    proptest! {
        #[test]
        fn agrees_with_hdrhistogram(mut values in prop::collection::vec(0_u64..60_000_000, 1..400)) {
            let mut other = Histogram::<u64>::new(3).unwrap();
            for &value in &values {
                other.record(value).unwrap();
            }
            let ours = percentiles(&mut values);
            for (ours, percent) in [(ours.p50_us, 50.0), (ours.p90_us, 90.0), (ours.p95_us, 95.0), (ours.p99_us, 99.0)] {
                prop_assert!(other.equivalent(ours, other.value_at_percentile(percent)), "{}: {}", percent, ours);
            }
        }

        #[test]
        fn a_bucket_holds_its_value_and_is_narrow(us in any::<u64>()) {
            let le = bucket_le(us);
            prop_assert!(le >= us);
            prop_assert_eq!(bucket_le(le), le);
            prop_assert!(u128::from(le - us) * 1000 <= u128::from(us) * 16);
        }

        #[test]
        fn buckets_do_not_overlap(us in 0..u64::MAX) {
            let (le, next) = (bucket_le(us), bucket_le(us + 1));
            prop_assert!(next == le || le == us, "{} {} {}", us, le, next);
            prop_assert!(next >= le);
        }
    }
}
