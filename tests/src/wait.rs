//! Waiting for something to become true, without guessing how long that takes.

use std::time::Duration;

use anyhow::{Result, bail};
use tokio::time::Instant;

/// Asks `condition` every few milliseconds until it answers, and fails with `what` once `limit` has passed.
pub async fn wait_until<T>(
    what: &str,
    limit: Duration,
    mut condition: impl AsyncFnMut() -> Result<Option<T>>,
) -> Result<T> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(value) = condition().await? {
            return Ok(value);
        }
        if Instant::now() >= deadline {
            bail!("not within {limit:?}: {what}");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
