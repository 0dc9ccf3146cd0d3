//! How often one client may try to log in: a bucket of attempts that refills slowly. A successful attempt
//! costs nothing.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Attempts in a row.
const BURST: f64 = 10.0;
/// Then one more per this long.
const REFILL: Duration = Duration::from_secs(10);
/// Clients remembered. Beyond it those whose bucket is full again are forgotten, and if none is, all are.
const REMEMBERED: usize = 4096;

/// The buckets of all clients.
#[derive(Debug, Default)]
pub(in super::super) struct LoginLimiter {
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    attempts: f64,
    at: Instant,
}

impl Bucket {
    fn refilled(self, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.at);
        (self.attempts + passed.as_secs_f64() / REFILL.as_secs_f64()).min(BURST)
    }
}

impl LoginLimiter {
    /// Takes an attempt; the error is how many seconds to wait for the next. Taken before the token is looked
    /// at, so that attempts made at the same time count as well.
    pub(super) fn take(&self, client: IpAddr, now: Instant) -> Result<(), u64> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= REMEMBERED && !buckets.contains_key(&client) {
            buckets.retain(|_, bucket| bucket.refilled(now) < BURST);
            if buckets.len() >= REMEMBERED {
                buckets.clear();
            }
        }
        let full = Bucket {
            attempts: BURST,
            at: now,
        };
        let bucket = buckets.entry(client).or_insert(full);
        bucket.attempts = bucket.refilled(now);
        bucket.at = now;
        if bucket.attempts < 1.0 {
            let missing = REFILL.mul_f64(1.0 - bucket.attempts);
            return Err(missing.as_secs() + 1);
        }
        bucket.attempts -= 1.0;
        Ok(())
    }

    /// Gives an attempt back that succeeded.
    pub(super) fn give_back(&self, client: IpAddr) {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(&client) {
            bucket.attempts = (bucket.attempts + 1.0).min(BURST);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::{Duration, Instant};

    use super::LoginLimiter;

    #[test]
    fn failed_attempts_run_out_per_client_and_come_back_with_time() {
        let limiter = LoginLimiter::default();
        let (a, b) = (
            IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
            IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
        );
        let start = Instant::now();
        for _ in 0..10 {
            assert_eq!(limiter.take(a, start), Ok(()));
        }
        assert_eq!(limiter.take(a, start), Err(11));
        assert_eq!(limiter.take(b, start), Ok(()), "another client is not affected");
        assert_eq!(limiter.take(a, start + Duration::from_secs(10)), Ok(()));
        assert!(limiter.take(a, start + Duration::from_secs(10)).is_err());
    }

    #[test]
    fn a_successful_login_costs_nothing() {
        let limiter = LoginLimiter::default();
        let client = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let now = Instant::now();
        for _ in 0..100 {
            assert_eq!(limiter.take(client, now), Ok(()));
            limiter.give_back(client);
        }
    }
}
