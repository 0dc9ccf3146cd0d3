//! Reading the header block of a program's output.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use warmbin_cgi::{HeadError, HeadParser, Progress, ResponseHead};
use warmbin_exec::running::OutputError;
use warmbin_exec::{Exit, Finished, Outcome, StopReason};

use super::exit::{Run, error_text};
use super::refuse::Refusal;
use super::request_body::Awaited;

/// How long the end of a program that closed its output without an answer is awaited: it says why.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Reads output until the header block is complete. On failure the run is settled and the refusal says what
/// the client gets, who may be the one that was `awaited`.
pub async fn read(run: &mut Run, awaited: &Awaited) -> Result<(ResponseHead, Bytes), Refusal> {
    let failure = match parse(run).await {
        Ok(complete) => {
            if let Some(account) = run.account() {
                account.head();
            }
            return Ok(complete);
        }
        Err(Failure::Cut(OutputError::Stopped(reason))) => awaited.explain(reason),
        Err(Failure::Cut(OutputError::Io(error))) => Refusal::failed(
            StatusCode::BAD_GATEWAY,
            Outcome::BadOutput,
            format!("its output cannot be read: {error}"),
        ),
        Err(Failure::Malformed(error)) => {
            // One that floods is stopped; any other is given the time to say on standard error what is wrong.
            if matches!(error, HeadError::OverLimit { .. })
                && let Some((_, _, stopper)) = run.parts()
            {
                stopper.stop(StopReason::BadOutput);
            }
            Refusal::failed(StatusCode::BAD_GATEWAY, Outcome::BadOutput, error.to_string())
        }
        Err(Failure::Ended(error)) => no_answer(run, awaited, &error).await,
    };
    Err(run.refuse(failure))
}

enum Failure {
    Malformed(HeadError),
    Ended(HeadError),
    Cut(OutputError),
}

async fn parse(run: &mut Run) -> Result<(ResponseHead, Bytes), Failure> {
    let Some((account, output, _)) = run.parts() else {
        return Err(Failure::Ended(HeadError::Empty));
    };
    let entry = account.entry();
    if let Some(kind) = &entry.policy.body_only {
        let head = ResponseHead::document(kind.clone());
        return body_only(run, head).await;
    }
    let mut parser = HeadParser::new(entry.policy.head, entry.head_style());
    loop {
        match output.chunk().await.map_err(Failure::Cut)? {
            Some(piece) => match parser.push(piece).map_err(Failure::Malformed)? {
                Progress::More => {}
                Progress::Complete { head, rest } => return Ok((head, rest)),
            },
            None => return Err(Failure::Ended(parser.finish())),
        }
    }
}

/// The head of a program that prints none. It waits for the first output: with an end that is a failure, and no output,
/// there is no answer.
async fn body_only(run: &mut Run, head: ResponseHead) -> Result<(ResponseHead, Bytes), Failure> {
    let first = match run.parts() {
        Some((_, output, _)) => output.chunk().await.map_err(Failure::Cut)?,
        None => None,
    };
    match first {
        Some(first) => Ok((head, first)),
        None if run
            .ended_within(LAST_WORDS)
            .await
            .is_some_and(|end| end.outcome() == Outcome::Ok) =>
        {
            Ok((head, Bytes::new()))
        }
        None => Err(Failure::Ended(HeadError::Empty)),
    }
}

/// The output ended before the header block was complete: how the program ended explains it better than the
/// parser can.
async fn no_answer(run: &mut Run, awaited: &Awaited, error: &HeadError) -> Refusal {
    let entry = run.account().map(|account| Arc::clone(account.entry()));
    let (Some(entry), Some(finished)) = (entry, run.ended_within(LAST_WORDS).await) else {
        return Refusal::failed(StatusCode::BAD_GATEWAY, Outcome::BadOutput, error.to_string());
    };
    if let Some(reason) = finished.stopped {
        return awaited.explain(reason);
    }
    let text = match error_text(finished, &entry) {
        Some(end) => format!("{error}; {end}"),
        None => error.to_string(),
    };
    Refusal::failed(StatusCode::BAD_GATEWAY, outcome_without_answer(finished), text)
}

fn outcome_without_answer(finished: &Finished) -> Outcome {
    match finished.exit {
        Exit::Code(0) | Exit::Unknown(_) => Outcome::BadOutput,
        Exit::Code(_) => Outcome::ExitNonzero,
        Exit::Signal(_) => Outcome::Signalled,
        Exit::Trap(_) => Outcome::Trap,
    }
}
