//! Counts the processor time of a guest and stops it when it has used up its share.
//!
//! A guest runs only while its future is polled, and gives way at every epoch, so the sum of the thread's time
//! over all polls is what the guest used, and the check after each poll comes at most a tick late.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::wasm::stdout::Pipe;

/// The limit was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exhausted;

/// Runs `guest` to its end or until it has used `limit`; adds what it uses to `spent`. Each time the guest gives its
/// thread away, what it wrote to `output` is handed over.
pub(super) async fn metered<T>(
    guest: impl Future<Output = T>,
    limit: Duration,
    spent: &mut Duration,
    output: &Pipe,
) -> Result<T, Exhausted> {
    let mut guest = pin!(guest);
    std::future::poll_fn(|cx| {
        let before = thread_time();
        let polled = guest.as_mut().poll(cx);
        *spent += thread_time().saturating_sub(before);
        match polled {
            // At the end the pipe is closed, which hands over the rest.
            Poll::Ready(ended) => Poll::Ready(Ok(ended)),
            Poll::Pending => {
                output.hand_over();
                if *spent >= limit {
                    Poll::Ready(Err(Exhausted))
                } else {
                    Poll::Pending
                }
            }
        }
    })
    .await
}

/// Processor time of this thread: a preempted thread is not charged for what others did.
fn thread_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
