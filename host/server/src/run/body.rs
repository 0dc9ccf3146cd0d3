//! A program's output as a response body.
//!
//! An answer that is not whole must not look whole: the body then ends in an error, which breaks the
//! connection (no final chunk, too few bytes, `RST_STREAM`). A stated Content-Length is kept to: what exceeds
//! it is dropped, what falls short of it is an error. Chunks of a program that frames its own body are taken apart; the
//! host makes its own, or none, as the client's version of HTTP has it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Sleep;
use warmbin_cgi::ChunkDecoder;
use warmbin_exec::running::OutputError;
use warmbin_exec::{Outcome, StopReason};

use super::exit::Run;

/// How long what was handed over has to leave before the transfer is broken off: the connection's task drops what it
/// has not written yet, even the head, as soon as it learns of the end.
const LEAVE: Duration = Duration::from_millis(20);

/// How a program marks the end of its body.
#[derive(Debug)]
pub enum Framing {
    /// It ends with the output.
    End,
    /// It has this many bytes more.
    Length(u64),
    /// It comes in chunks.
    Chunks(ChunkDecoder),
}

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
    /// Output that has been read and not been looked at: at first what came with the header block.
    held: Bytes,
    framing: Framing,
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
    /// It is not whole; what was handed over before is given time to leave.
    Breaking(Pin<Box<Sleep>>, String),
    /// Nothing more comes.
    Over,
}

impl ProgramBody {
    /// The body that begins with `first`, of at most `allowed` bytes.
    pub fn new(run: Run, first: Bytes, framing: Framing, allowed: u64) -> Self {
        let is_empty = matches!(framing, Framing::Length(0));
        let mut body = Self {
            run,
            held: first,
            framing,
            allowed,
            state: State::Reading,
        };
        if is_empty {
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
        match self.framing {
            Framing::Length(missing) => Some(missing),
            Framing::End | Framing::Chunks(_) => None,
        }
    }

    /// The next piece.
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Broken>>> {
        loop {
            match &mut self.state {
                State::Over => return Poll::Ready(None),
                State::Reading => match ready!(self.poll_output(cx)) {
                    Ok(Some(piece)) => {
                        if let Some(data) = self.unframed(piece)
                            && let Some(data) = self.deliver(data)
                        {
                            return Poll::Ready(Some(Ok(data)));
                        }
                    }
                    Ok(None) => self.output_ended(),
                    Err(error) => self.cut(&error),
                },
                State::Ending(timer) => {
                    if self.run.poll_ended(cx).is_pending() {
                        let patience = self.run.verdict_within();
                        let timer = timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
                        ready!(std::future::Future::poll(timer.as_mut(), cx));
                    }
                    self.judge();
                }
                State::Breaking(timer, why) => {
                    ready!(std::future::Future::poll(timer.as_mut(), cx));
                    let broken = Broken(std::mem::take(why));
                    self.state = State::Over;
                    return Poll::Ready(Some(Err(broken)));
                }
            }
        }
    }

    /// The next piece of output.
    fn poll_output(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, OutputError>> {
        if !self.held.is_empty() {
            return Poll::Ready(Ok(Some(std::mem::take(&mut self.held))));
        }
        match self.run.parts() {
            Some((_, output, _)) => output.poll_chunk(cx),
            None => Poll::Ready(Ok(None)),
        }
    }

    /// What of `piece` belongs to the body and can be handed over now.
    fn unframed(&mut self, mut piece: Bytes) -> Option<Bytes> {
        match &mut self.framing {
            Framing::End => {}
            Framing::Length(missing) => piece.truncate(usize::try_from(*missing).unwrap_or(usize::MAX)),
            Framing::Chunks(decoder) => match decoder.next(&mut piece) {
                Ok(Some(data)) => {
                    self.held = piece;
                    return Some(data);
                }
                Ok(None) => {
                    if decoder.is_complete() {
                        self.output_ended();
                    }
                    return None;
                }
                Err(error) => {
                    self.spoilt(&format!("its chunks cannot be read: {error}"));
                    return None;
                }
            },
        }
        Some(piece)
    }

    fn deliver(&mut self, data: Bytes) -> Option<Bytes> {
        let bytes = data.len() as u64;
        let Some(allowed) = self.allowed.checked_sub(bytes) else {
            if let Some((account, _, stopper)) = self.run.parts() {
                stopper.stop(StopReason::Output);
                account.decide(Outcome::OutputLimit, "the response body is larger than its limit");
            }
            self.break_off("it is larger than its limit");
            return None;
        };
        self.allowed = allowed;
        if let Some(account) = self.run.account() {
            account.sent(bytes);
        }
        if let Framing::Length(missing) = &mut self.framing {
            *missing -= bytes;
            if *missing == 0 {
                self.complete();
            }
        }
        Some(data)
    }

    fn output_ended(&mut self) {
        if let Some(account) = self.run.account() {
            account.output_ended();
        }
        self.state = State::Ending(None);
    }

    /// The output broke off.
    fn cut(&mut self, error: &OutputError) {
        if let OutputError::Io(error) = error
            && let Some(account) = self.run.account()
        {
            account.decide(Outcome::BadOutput, format!("its output cannot be read: {error}"));
        }
        self.break_off(&error.to_string());
    }

    /// The output has ended: whether the answer is whole.
    fn judge(&mut self) {
        if let Some(why) = self.run.spoilt() {
            return self.break_off(why);
        }
        match &self.framing {
            Framing::Length(missing) if *missing > 0 => {
                let why = format!("{missing} bytes of the stated Content-Length are missing");
                self.spoilt(&why);
            }
            Framing::Chunks(decoder) if !decoder.is_complete() => self.spoilt("the last chunk is missing"),
            _ => self.complete(),
        }
    }

    /// The program's framing does not hold. A program that failed did that because it failed.
    fn spoilt(&mut self, why: &str) {
        let exited_well = self.run.end().is_none_or(|end| end.outcome() == Outcome::Ok);
        if exited_well && let Some(account) = self.run.account() {
            account.decide(Outcome::BadOutput, why);
        }
        self.break_off(why);
    }

    fn complete(&mut self) {
        self.state = State::Over;
        self.run.settle();
    }

    fn break_off(&mut self, why: &str) {
        self.run.settle();
        self.state = State::Breaking(Box::pin(tokio::time::sleep(LEAVE)), why.to_owned());
    }
}
