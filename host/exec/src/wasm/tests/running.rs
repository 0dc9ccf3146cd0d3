//! What a program sees and says.

use tokio::sync::mpsc;

use super::{MODES, Rig, body, drain, guests, limits, request};
use crate::invocation::{Body, BodyError};
use crate::outcome::Outcome;
use crate::running::{Exit, OutputError, StopReason};

#[tokio::test]
async fn a_program_prints_and_is_measured() {
    let rig = Rig::new();
    let program = rig.warm(&guests::hello()).await;
    for mode in MODES {
        let (output, finished) = rig.run(request(&program, mode)).await;
        assert_eq!(output.unwrap(), b"hello\n", "{mode}");
        assert_eq!(finished.exit, Exit::Code(0));
        assert_eq!(finished.outcome(), Outcome::Ok);
        assert_eq!(finished.peak_memory_bytes, Some(4 * 65536));
        assert!(finished.cpu.is_some_and(|cpu| !cpu.is_zero()), "{finished:?}");
    }
}

#[tokio::test]
async fn memory_is_fresh_for_every_request() {
    let rig = Rig::new();
    let program = rig.warm(&guests::counter()).await;
    for mode in MODES {
        for _ in 0..8 {
            assert_eq!(rig.run(request(&program, mode)).await.0.unwrap(), b"1", "{mode}");
        }
    }
}

#[tokio::test]
async fn the_body_arrives_on_standard_input_and_ends() {
    let rig = Rig::new();
    let program = rig.warm(&guests::echo()).await;
    for mode in MODES {
        for (pieces, expected) in [
            (body(vec![Ok(b"one "), Ok(b""), Ok(b"two")]), &b"one two"[..]),
            (body(vec![]), b""),
            (Body::Empty, b""),
        ] {
            let mut invocation = request(&program, mode);
            invocation.body = pieces;
            let (output, finished) = rig.run(invocation).await;
            assert_eq!(output.unwrap(), expected, "{mode}");
            assert_eq!(finished.request_bytes, expected.len() as u64);
        }
    }
}

#[tokio::test]
async fn a_line_arrives_while_the_program_waits_for_more() {
    let rig = Rig::new();
    let program = rig.warm(&guests::echo()).await;
    let (sender, receiver) = mpsc::channel(1);
    let mut invocation = request(&program, MODES[1]);
    invocation.body = Body::Stream(Box::pin(futures_util::stream::unfold(
        receiver,
        |mut receiver| async { receiver.recv().await.map(|piece| (piece, receiver)) },
    )));
    let mut running = rig.start(invocation).await.unwrap();
    for line in [&b"first\n"[..], b"second\n"] {
        sender.send(Ok(bytes::Bytes::from_static(line))).await.unwrap();
        assert_eq!(running.output.chunk().await.unwrap().as_deref(), Some(line));
    }
    drop(sender);
    assert!(running.output.chunk().await.unwrap().is_none());
}

#[tokio::test]
async fn a_body_that_breaks_off_never_looks_complete() {
    let rig = Rig::new();
    let program = rig.warm(&guests::echo()).await;
    let mut invocation = request(&program, MODES[0]);
    invocation.body = body(vec![Ok(b"half"), Err(BodyError::Client("gone".to_owned()))]);
    let (output, finished) = rig.run(invocation).await;
    assert!(
        matches!(output, Err(OutputError::Stopped(StopReason::RequestBody))),
        "{output:?}"
    );
    assert_eq!(finished.stopped, Some(StopReason::RequestBody));
    assert_ne!(finished.exit, Exit::Code(0));
}

#[tokio::test]
async fn variables_and_arguments_arrive_byte_for_byte() {
    let rig = Rig::new();
    let program = rig.warm(&guests::variables()).await;
    for mode in MODES {
        for (name, value) in [(&b"QUERY_STRING"[..], &b"caf\xe9=\xff"[..]), (b"EMPTY", b"")] {
            let mut invocation = request(&program, mode);
            assert!(invocation.environment.set(name, value));
            assert!(invocation.environment.set(b"LAST", b"1"));
            invocation.arguments = vec!["word".into()];
            let expected = [b"program\0word\0", name, b"=", value, b"\0LAST=1\0"].concat();
            assert_eq!(rig.run(invocation).await.0.unwrap(), expected, "{mode}");
        }
    }
}

#[tokio::test]
async fn code_that_runs_at_instantiation_sees_its_request() {
    let rig = Rig::new();
    let text = guests::module(
        "",
        "",
        &format!(
            r#"(func $init {}) (start $init) (func (export "_start"))"#,
            guests::PRINT_VARIABLES
        ),
    );
    let program = rig.warm(&text).await;
    for mode in MODES {
        let mut invocation = request(&program, mode);
        assert!(invocation.environment.set(b"A", b"1"));
        let (output, finished) = rig.run(invocation).await;
        assert_eq!(output.unwrap(), b"program\0A=1\0", "{mode}");
        assert!(
            !finished.was_warm,
            "it cannot have been made ahead of its request"
        );
    }
}

#[tokio::test]
async fn exit_codes_are_those_of_a_process() {
    let rig = Rig::new();
    for (given, seen) in [
        ("0", 0),
        ("3", 3),
        ("125", 125),
        ("126", 126),
        ("200", 200),
        ("-1", 255),
        ("256", 0),
    ] {
        let text = guests::command("", &format!("(call $proc_exit (i32.const {given})) unreachable"));
        let program = rig.warm(&text).await;
        for mode in MODES {
            let (output, finished) = rig.run(request(&program, mode)).await;
            assert_eq!(output.unwrap(), b"");
            assert_eq!(finished.exit, Exit::Code(seen), "{mode} {given}");
            assert_eq!(finished.stopped, None);
        }
    }
}

#[tokio::test]
async fn traps_are_named() {
    let rig = Rig::new();
    for (code, name) in [
        ("unreachable", "unreachable"),
        ("(drop (i32.load (i32.const -4)))", "out of bounds"),
        ("(drop (i32.div_u (i32.const 1) (i32.const 0)))", "divide by zero"),
        (
            "(drop (call $args_get (i32.const -1) (i32.const 0)))",
            "out of bounds",
        ),
    ] {
        let program = rig.warm(&guests::command("", code)).await;
        let (_, finished) = rig.run(request(&program, MODES[0])).await;
        let Exit::Trap(text) = &finished.exit else {
            panic!("{finished:?}")
        };
        assert!(text.contains(name), "{code}: {text}");
        assert_eq!(finished.outcome(), Outcome::Trap);
    }
}

#[tokio::test]
async fn standard_error_is_kept_up_to_its_limit() {
    let rig = Rig::new();
    let text = guests::command(
        "complaint",
        "(call $write (i32.const 2) (i32.const 1024) (i32.const 9))",
    );
    let program = rig.warm(&text).await;
    for (limit, kept, truncated) in [
        (64, &b"complaint"[..], false),
        (9, b"complaint", false),
        (4, b"comp", true),
    ] {
        let mut invocation = request(&program, MODES[1]);
        invocation.limits = limits(|limits| limits.stderr = limit);
        let (output, finished) = rig.run(invocation).await;
        assert_eq!(output.unwrap(), b"");
        assert_eq!(
            (&finished.stderr[..], finished.stderr_truncated),
            (kept, truncated)
        );
    }
}

#[tokio::test]
async fn a_large_output_arrives_whole() {
    let rig = Rig::new();
    let program = rig.warm(&guests::flood(1600)).await;
    let mut running = rig.start(request(&program, MODES[1])).await.unwrap();
    let mut total = 0;
    while let Some(chunk) = running.output.chunk().await.unwrap() {
        assert!(
            chunk.len() <= crate::wasm::stdout::BUDGET,
            "a chunk of {} bytes was in memory",
            chunk.len()
        );
        total += chunk.len();
    }
    assert_eq!(total, 100 << 20);
    assert!(
        drain(&mut running).await.unwrap().is_empty(),
        "the end stays the end"
    );
}
