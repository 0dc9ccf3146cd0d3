//! Programs that do not end by themselves.

use std::time::Duration;

use super::{MODES, Rig, drain, guests, limits, request};
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::running::{Exit, OutputError, StopReason};

const SHORT: Duration = Duration::from_millis(150);

/// A guest, the limit it meets, and what is then said.
type Case = (String, fn(&mut Limits), StopReason, Outcome);

#[tokio::test]
async fn a_program_ends_at_the_limit_it_meets() {
    let cases: [Case; 6] = [
        (
            guests::spin(),
            |l| l.cpu = SHORT,
            StopReason::Cpu,
            Outcome::CpuLimit,
        ),
        (
            guests::spin(),
            |l| l.wall = SHORT,
            StopReason::Wall,
            Outcome::Timeout,
        ),
        (
            guests::sleep(),
            |l| l.wall = SHORT,
            StopReason::Wall,
            Outcome::Timeout,
        ),
        (
            guests::sleep(),
            |l| l.idle = SHORT,
            StopReason::Idle,
            Outcome::Timeout,
        ),
        (
            guests::greedy("unreachable"),
            |l| l.memory = 8 << 20,
            StopReason::Memory,
            Outcome::MemoryLimit,
        ),
        (
            guests::hello(),
            |l| l.memory = 65536,
            StopReason::Memory,
            Outcome::MemoryLimit,
        ),
    ];
    let rig = Rig::new();
    for (text, change, reason, outcome) in cases {
        let program = rig.warm(&text).await;
        for mode in MODES {
            let mut invocation = request(&program, mode);
            invocation.limits = limits(change);
            let (output, finished) = rig.run(invocation).await;
            assert!(
                matches!(output, Err(OutputError::Stopped(stopped)) if stopped == reason),
                "{mode} {reason:?}: {output:?}"
            );
            assert_eq!(finished.stopped, Some(reason), "{mode} {finished:?}");
            assert_eq!(finished.outcome(), outcome);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_spinning_program_lets_others_answer() {
    let rig = Rig::new();
    let (spin, hello) = (rig.warm(&guests::spin()).await, rig.warm(&guests::hello()).await);
    let mut spinning = rig.start(request(&spin, MODES[0])).await.unwrap();
    for mode in MODES {
        let (output, _) = rig.run(request(&hello, mode)).await;
        assert_eq!(output.unwrap(), b"hello\n", "{mode}");
    }
    assert!(spinning.finished.try_recv().is_err(), "it is still spinning");
    spinning.stopper.stop(StopReason::Shutdown);
    let finished = spinning.finished.await.unwrap();
    assert_eq!(finished.stopped, Some(StopReason::Shutdown));
    assert!(finished.cpu.is_some_and(|cpu| cpu > Duration::ZERO));
}

#[tokio::test]
async fn memory_is_limited_in_sum_and_its_peak_is_known() {
    let rig = Rig::new();
    let limit = 8 << 20;
    for (at_the_end, exit, stopped) in [
        (
            "(call $proc_exit (i32.const 7))",
            Exit::Code(7),
            Some(StopReason::Memory),
        ),
        // A program that copes with less memory than it wanted has done nothing wrong.
        ("", Exit::Code(0), None),
    ] {
        let program = rig.warm(&guests::greedy(at_the_end)).await;
        let mut invocation = request(&program, MODES[1]);
        invocation.limits = limits(|l| l.memory = limit);
        let (_, finished) = rig.run(invocation).await;
        assert_eq!((finished.exit, finished.stopped), (exit, stopped));
        let peak = finished.peak_memory_bytes.unwrap();
        assert!((limit - (1 << 20)..=limit).contains(&peak), "{peak}");
    }
}

#[tokio::test]
async fn a_program_whose_output_is_dropped_is_stopped() {
    let rig = Rig::new();
    for text in [guests::spin(), guests::sleep(), guests::flood(1 << 30)] {
        let program = rig.warm(&text).await;
        for mode in MODES {
            let running = rig.start(request(&program, mode)).await.unwrap();
            drop(running.output);
            let finished = running.finished.await.unwrap();
            assert_eq!(finished.stopped, Some(StopReason::ClientGone), "{mode}");
        }
    }
}

#[tokio::test]
async fn a_program_nobody_reads_waits_and_holds_a_bounded_amount() {
    let rig = Rig::new();
    let program = rig.warm(&guests::flood(1 << 30)).await;
    let mut invocation = request(&program, MODES[0]);
    invocation.limits = limits(|l| l.idle = SHORT);
    let mut running = rig.start(invocation).await.unwrap();
    let finished = (&mut running.finished).await.unwrap();
    assert_eq!(finished.stopped, Some(StopReason::Idle));
    let mut held = 0;
    while let Ok(Some(chunk)) = running.output.chunk().await {
        held += chunk.len();
    }
    assert_eq!(held, crate::wasm::stdout::BUDGET);
    assert!(
        drain(&mut running).await.is_err(),
        "what was read is not a complete answer"
    );
}
