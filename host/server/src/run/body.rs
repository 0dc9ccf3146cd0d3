//! A program's output as a response body.
//!
//! An answer that is not whole must not look whole: the body then ends in an error, which breaks the
//! connection (no final chunk, too few bytes, `RST_STREAM`). A stated Content-Length is kept to: what exceeds
//! it is dropped, what falls short of it is an error.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Sleep;
use warmbin_exec::running::OutputError;
use warmbin_exec::{Outcome, StopReason};

use super::exit::{Run, spoils};

/// How long the end of an answer waits for the end of its program, to learn whether it failed. A killed
/// program is reaped at once; one that closes its output and works on is not waited for.
const VERDICT: Duration = Duration::from_millis(100);

/// Why a response body is broken off. The text goes to the log of the HTTP layer only.
#[derive(Debug, thiserror::Error)]
#[error("the answer is incomplete: {0}")]
pub struct Broken(String);

impl From<std::io::Error> for Broken {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// A program's output as a response body.
#[derive(Debug)]
pub struct ProgramBody {
    run: Run,
    /// What came with the header block.
    first: Option<Bytes>,
    /// What is missing of a stated length.
    remaining: Option<u64>,
    /// What may still be sent.
    allowed: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Output is coming.
    Reading,
    /// It has ended; the program's end is awaited.
    Ending(Option<Pin<Box<Sleep>>>),
    /// Nothing more comes.
    Over,
}

impl ProgramBody {
    /// The body that begins with `first`; `length` as stated by the program; at most `allowed` bytes.
    pub fn new(run: Run, first: Bytes, length: Option<u64>, allowed: u64) -> Self {
        let mut body = Self {
            run,
            first: Some(first),
            remaining: length,
            allowed,
            state: State::Reading,
        };
        if length == Some(0) {
            body.complete();
        }
        body
    }

    /// Whether everything has been handed over.
    pub fn is_complete(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// What is missing of a stated length.
    pub fn remaining(&self) -> Option<u64> {
        self.remaining
    }

    /// The next piece.
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Broken>>> {
        loop {
            match &mut self.state {
                State::Over => return Poll::Ready(None),
                State::Reading => {
                    let piece = match self.first.take() {
                        Some(first) => Ok(Some(first)),
                        None => match self.run.parts() {
                            Some((_, output, _)) => ready!(output.poll_chunk(cx)),
                            None => Ok(None),
                        },
                    };
                    match piece {
                        Ok(Some(piece)) if piece.is_empty() => {}
                        Ok(Some(piece)) => return Poll::Ready(Some(self.deliver(piece))),
                        Ok(None) => {
                            if let Some(account) = self.run.account() {
                                account.output_ended();
                            }
                            self.state = State::Ending(None);
                        }
                        Err(error) => return Poll::Ready(Some(Err(self.cut(&error)))),
                    }
                }
                State::Ending(timer) => {
                    if self.run.poll_ended(cx).is_pending() {
                        let timer = timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(VERDICT)));
                        ready!(std::future::Future::poll(timer.as_mut(), cx));
                    }
                    return Poll::Ready(self.judge());
                }
            }
        }
    }

    fn deliver(&mut self, mut piece: Bytes) -> Result<Bytes, Broken> {
        if let Some(remaining) = self.remaining {
            piece.truncate(usize::try_from(remaining).unwrap_or(usize::MAX));
        }
        let bytes = piece.len() as u64;
        let Some(allowed) = self.allowed.checked_sub(bytes) else {
            if let Some((account, _, stopper)) = self.run.parts() {
                stopper.stop(StopReason::Output);
                account.decide(Outcome::OutputLimit, "the response body is larger than its limit");
            }
            return Err(self.broken("it is larger than its limit"));
        };
        self.allowed = allowed;
        if let Some(account) = self.run.account() {
            account.sent(bytes);
        }
        if let Some(remaining) = &mut self.remaining {
            *remaining -= bytes;
            if *remaining == 0 {
                self.complete();
            }
        }
        Ok(piece)
    }

    /// The output broke off.
    fn cut(&mut self, error: &OutputError) -> Broken {
        if let OutputError::Io(error) = error
            && let Some(account) = self.run.account()
        {
            account.decide(Outcome::BadOutput, format!("its output cannot be read: {error}"));
        }
        self.broken(&error.to_string())
    }

    /// The output has ended: whether the answer is whole.
    fn judge(&mut self) -> Option<Result<Bytes, Broken>> {
        if let Some(why) = self.run.end().and_then(spoils) {
            return Some(Err(self.broken(why)));
        }
        if let Some(missing) = self.remaining.filter(|missing| *missing > 0) {
            let why = format!("{missing} bytes of the stated Content-Length are missing");
            let exited_well = self.run.end().is_none_or(|end| end.outcome() == Outcome::Ok);
            if exited_well && let Some(account) = self.run.account() {
                account.decide(Outcome::BadOutput, why.as_str());
            }
            return Some(Err(self.broken(&why)));
        }
        self.complete();
        None
    }

    fn complete(&mut self) {
        self.state = State::Over;
        self.run.settle();
    }

    fn broken(&mut self, why: &str) -> Broken {
        self.complete();
        Broken(why.to_owned())
    }
}
