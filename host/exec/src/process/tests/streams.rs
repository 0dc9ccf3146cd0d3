//! Bodies and answers: no deadlock, no loss, bounded memory.

use super::*;
use crate::running::{Exit, StopReason};

#[tokio::test]
async fn eight_megabytes_stream_through_in_both_directions() {
    let sent = pattern(8);
    let pieces = sent
        .chunks(100_000)
        .map(|piece| Ok(Bytes::copy_from_slice(piece)))
        .collect();
    let ran = Program::script("exec cat").run(body(pieces)).await;
    assert!(ran.error.is_none());
    assert!(ran.output == sent);
    assert_eq!(ran.finished.request_bytes, sent.len() as u64);
}

#[tokio::test]
async fn no_order_of_reading_and_writing_deadlocks() {
    let cases = [
        (
            "writes all before it reads",
            "head -c 1000000 /dev/zero; cat >/dev/null",
        ),
        ("never reads", "head -c 1000000 /dev/zero"),
        ("closes its input", "exec <&-; head -c 1000000 /dev/zero"),
        (
            "reads a little",
            "head -c 10 >/dev/null; head -c 1000000 /dev/zero",
        ),
        (
            "floods its errors first",
            "head -c 3000000 /dev/zero >&2; head -c 1000000 /dev/zero",
        ),
    ];
    for (what, script) in cases {
        let ran = Program::script(script)
            .run(body(vec![Ok(pattern(4).into())]))
            .await;
        assert!(ran.error.is_none(), "{what}");
        assert_eq!(ran.output.len(), 1_000_000, "{what}");
        assert_eq!(ran.finished.exit, Exit::Code(0), "{what}");
    }
}

#[tokio::test]
async fn only_the_beginning_of_its_errors_is_kept() {
    let program =
        Program::script("echo first >&2; head -c 1000000 /dev/zero >&2").limits(|limits| limits.stderr = 100);
    let finished = program.run(Body::Empty).await.finished;
    assert_eq!(finished.stderr.len(), 100);
    assert!(finished.stderr.starts_with(b"first\n"));
    assert!(finished.stderr_truncated);
}

#[tokio::test]
async fn what_is_in_the_pipe_when_the_program_leaves_is_not_lost() {
    let program = Program::script("head -c 60000 /dev/zero; echo end >&2");
    for _ in 0..200 {
        let ran = program.run(Body::Empty).await;
        assert_eq!((ran.output.len(), &*ran.finished.stderr), (60_000, &b"end\n"[..]));
    }
}

#[tokio::test]
async fn a_slow_reader_slows_the_program() {
    let program = Program::script("head -c 5000000 /dev/zero; echo end >&2");
    let Running {
        mut output,
        mut finished,
        ..
    } = program.start(Body::Empty).await.unwrap();
    let first = output.chunk().await.unwrap().unwrap();
    assert!(
        tokio::time::timeout(Duration::from_millis(200), &mut finished)
            .await
            .is_err()
    );
    let (rest, error) = read(&mut output).await;
    assert!(error.is_none());
    assert_eq!(first.len() + rest.len(), 5_000_000);
    assert_eq!(finished.await.unwrap().exit, Exit::Code(0));
}

#[tokio::test]
async fn a_body_that_breaks_off_does_not_look_complete() {
    let program = Program::script("cat >/dev/null; : >complete");
    let broken = BodyError::Client("reset".to_owned());
    let ran = program.run(body(vec![Ok("half".into()), Err(broken)])).await;
    assert_eq!(ran.finished.stopped, Some(StopReason::RequestBody));
    assert!(matches!(
        ran.error,
        Some(OutputError::Stopped(StopReason::RequestBody))
    ));
    assert!(!program.path("complete").exists());
}

#[tokio::test]
async fn without_a_body_input_is_at_its_end() {
    for nothing in [Body::Empty, body(Vec::new())] {
        let ran = Program::script("wc -c").run(nothing).await;
        assert_eq!(ran.output.trim_ascii(), b"0");
    }
}
