//! A started program until it is reaped, and what its end says about the answer.

use std::time::Duration;

use tokio::sync::oneshot;
use warmbin_exec::running::Cut;
use warmbin_exec::{Exit, Finished, Outcome, Output, Running, StopReason, Stopper};

use super::record::Account;
use super::refuse::Refusal;
use crate::catalog::Entry;

/// How long the end of an answer waits for that of its program where it matters little. A killed program is reaped at
/// once; one that closes its output and works on is not waited for.
const VERDICT: Duration = Duration::from_millis(100);

/// A started program with its account. Dropping it at any point is right: a client that left is noted, the
/// program is stopped, its end is awaited in the background and recorded.
#[derive(Debug)]
pub struct Run {
    parts: Option<Parts>,
}

#[derive(Debug)]
struct Parts {
    account: Account,
    output: Output,
    stopper: Stopper,
    end: End,
    /// The answer is decided: what is left of the output is of no use, and the client's leaving changes
    /// nothing.
    settled: bool,
}

#[derive(Debug)]
enum End {
    Awaited(oneshot::Receiver<Finished>),
    Known,
}

impl Run {
    /// A program that has just been started.
    pub fn new(mut account: Account, running: Running) -> Self {
        account.started();
        let Running {
            output,
            stopper,
            finished,
        } = running;
        Self {
            parts: Some(Parts {
                account,
                output,
                stopper,
                end: End::Awaited(finished),
                settled: false,
            }),
        }
    }

    /// Its account, output and stopper; `None` once it has been let go.
    pub fn parts(&mut self) -> Option<(&mut Account, &mut Output, &Stopper)> {
        self.parts
            .as_mut()
            .map(|parts| (&mut parts.account, &mut parts.output, &parts.stopper))
    }

    /// Its account.
    pub fn account(&mut self) -> Option<&mut Account> {
        self.parts.as_mut().map(|parts| &mut parts.account)
    }

    /// Waits for the program's end, at most for `patience`; says how it ended, if it did.
    pub async fn ended_within(&mut self, patience: Duration) -> Option<&Finished> {
        let _ = tokio::time::timeout(patience, std::future::poll_fn(|cx| self.poll_ended(cx))).await;
        self.parts.as_ref()?.account.end()
    }

    /// Polls for the program's end.
    pub fn poll_ended(&mut self, cx: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        let Some(parts) = &mut self.parts else {
            return std::task::Poll::Ready(());
        };
        if let End::Awaited(receiver) = &mut parts.end {
            let finished = std::task::ready!(std::future::Future::poll(std::pin::Pin::new(receiver), cx));
            parts.account.finished(finished.ok());
            parts.end = End::Known;
        }
        std::task::Poll::Ready(())
    }

    /// How the program ended, if it has.
    pub fn end(&self) -> Option<&Finished> {
        self.parts.as_ref()?.account.end()
    }

    /// Why the program's end, as far as it is known, spoils an answer that looked complete.
    pub fn spoilt(&self) -> Option<&'static str> {
        let account = &self.parts.as_ref()?.account;
        spoils(account.end()?, account.entry().policy.strict_exit)
    }

    /// How long the end of an answer waits for the end of its program, to learn whether it failed.
    pub fn verdict_within(&self) -> Duration {
        match &self.parts {
            Some(parts) if parts.account.entry().policy.strict_exit => {
                parts.account.entry().policy.exec.grace
            }
            _ => VERDICT,
        }
    }

    /// The request is refused although the program ran, which decides the answer.
    pub fn refuse(&mut self, refusal: Refusal) -> Refusal {
        let refusal = match self.account() {
            Some(account) => account.refuse(refusal),
            None => refusal,
        };
        self.settle();
        refusal
    }

    /// The answer is decided. Dropping the run no longer means that the client left.
    pub fn settle(&mut self) {
        if let Some(parts) = &mut self.parts {
            parts.account.delivered();
            parts.settled = true;
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let Some(mut parts) = self.parts.take() else {
            return;
        };
        if !parts.settled {
            let why = match parts.stopper.get() {
                Some(Cut::Stopped(reason)) => stop_text(reason),
                Some(Cut::LeaderGone) | None => "the client left before the answer was complete".to_owned(),
            };
            parts.account.decide(Outcome::ClientGone, why);
            parts.account.output_ended();
            parts.account.delivered();
        }
        if matches!(parts.end, End::Known) {
            return;
        }
        // Outside a runtime nothing can be awaited; the account is closed with what is known.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(parts.see_out());
        }
    }
}

impl Parts {
    /// Lets the program finish, or stops it, and waits for its end.
    async fn see_out(self) {
        let Self {
            mut account,
            mut output,
            stopper,
            end,
            settled,
        } = self;
        if settled {
            // A program that has only a little more to write, or to do after its output, is not killed for
            // it.
            let grace = account.entry().policy.exec.grace;
            let rest = tokio::time::timeout(grace, async { while let Ok(Some(_)) = output.chunk().await {} });
            if rest.await.is_err() {
                stopper.stop(StopReason::NotNeeded);
            }
        }
        account.output_ended();
        drop(output);
        if let End::Awaited(receiver) = end {
            let finished = receiver.await.ok();
            account.finished(finished);
        }
    }
}

/// Why a program's end spoils an answer that looked complete, if it does. Unless `strict`, an exit code does not:
/// programs that print all they have and then fail are common, and their answers are kept.
fn spoils(finished: &Finished, strict: bool) -> Option<&'static str> {
    match (&finished.stopped, &finished.exit) {
        (None, Exit::Code(0)) | (Some(StopReason::NotNeeded), _) => None,
        (None, Exit::Code(_) | Exit::Unknown(_)) => strict.then_some("the program failed"),
        (Some(_), _) => Some("the program was stopped"),
        (None, Exit::Signal(_)) => Some("a signal ended the program"),
        (None, Exit::Trap(_)) => Some("the module trapped"),
    }
}

/// The host's reason for ending a program, in words.
pub fn stop_text(reason: StopReason) -> String {
    match reason {
        StopReason::ClientGone => "the client left",
        StopReason::Wall => "the wall-clock limit passed",
        StopReason::Idle => "nothing moved for longer than the idle limit",
        StopReason::Cpu => "the processor-time limit passed",
        StopReason::Memory => "the memory limit was met",
        StopReason::Output => "the output limit was met",
        StopReason::BadOutput => "its output could not be used",
        StopReason::RequestBody => "the request body broke off",
        StopReason::NotNeeded => "the rest of its output was not needed",
        StopReason::Shutdown => "the host was stopped",
    }
    .to_owned()
}

/// What went wrong, for the record; `None` if nothing did.
pub fn error_text(finished: &Finished, entry: &Entry) -> Option<String> {
    let limits = &entry.policy.limits;
    if let Some(reason) = finished.stopped {
        let limit = match reason {
            StopReason::NotNeeded => return None,
            StopReason::Wall => Some(limits.wall.to_string()),
            StopReason::Idle => Some(limits.idle.to_string()),
            StopReason::Cpu => Some(limits.cpu.to_string()),
            StopReason::Memory => Some(limits.memory.to_string()),
            StopReason::Output => Some(limits.response_body.to_string()),
            _ => None,
        };
        let why = stop_text(reason);
        return Some(limit.map_or_else(|| why.clone(), |limit| format!("{why} ({limit})")));
    }
    match &finished.exit {
        Exit::Code(0) => None,
        Exit::Code(code) => Some(format!("it exited with code {code}")),
        Exit::Signal(signal) => Some(format!("signal {signal} ended it")),
        Exit::Trap(text) => Some(format!("it trapped: {text}")),
        Exit::Unknown(text) => Some(text.clone()),
    }
}
