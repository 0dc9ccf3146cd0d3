//! How runs end: limits, stops, groups, reaping.

use tokio::time::Instant;

use super::*;
use crate::outcome::Outcome;
use crate::running::{Exit, StopReason};

#[tokio::test]
async fn the_end_is_measured() {
    let finished = Program::script("exit 7").run(Body::Empty).await.finished;
    assert_eq!((finished.exit.clone(), finished.stopped), (Exit::Code(7), None));
    assert_eq!(finished.outcome(), Outcome::ExitNonzero);
    // A shell takes less than the process that spawned it, so its peak cannot be told from that one's.
    assert_eq!(finished.peak_memory_bytes, None);
    assert!(finished.cpu.unwrap() < Duration::from_secs(1));

    let large = Program::script("perl -e '$x = \"x\" x (200 << 20)'");
    let memory = large.run(Body::Empty).await.finished.peak_memory_bytes;
    assert!(memory.is_some_and(|bytes| bytes >= 200 << 20), "{memory:?}");

    let finished = Program::script("kill -SEGV $$").run(Body::Empty).await.finished;
    assert_eq!((finished.exit, finished.stopped), (Exit::Signal(11), None));
}

#[tokio::test]
async fn a_program_and_its_children_that_ignore_term_are_killed_after_grace() {
    let program = Program::script("trap '' TERM; sleep 60 & echo $$ $!; wait; wait");
    let Running {
        mut output,
        stopper,
        finished,
    } = program.start(Body::Empty).await.unwrap();
    let line = read_line(&mut output).await;
    let (leader, grandchild) = line.split_once(' ').unwrap();
    let stopped = Instant::now();
    stopper.stop(StopReason::Shutdown);
    // The reader need not wait for a program that does not listen.
    let error = output.chunk().await.unwrap_err();
    assert!(matches!(error, OutputError::Stopped(StopReason::Shutdown)));
    let finished = tokio::time::timeout(LONG, finished).await.unwrap().unwrap();
    assert!(stopped.elapsed() >= program.limits.grace);
    assert_eq!(
        (finished.exit, finished.stopped),
        (Exit::Signal(9), Some(StopReason::Shutdown))
    );
    ended(leader).await;
    ended(grandchild).await;
}

#[tokio::test]
async fn children_are_given_grace_too() {
    let program = Program::script(
        "(trap 'echo tidy >tidied; exit' TERM; echo ready; while :; do sleep 0.01; done) & wait",
    )
    .limits(|limits| limits.grace = Duration::from_secs(10));
    let Running {
        mut output, finished, ..
    } = program.start(Body::Empty).await.unwrap();
    read_line(&mut output).await;
    drop(output);
    let finished = tokio::time::timeout(LONG, finished).await.unwrap().unwrap();
    assert_eq!(
        (finished.exit, finished.stopped),
        (Exit::Signal(15), Some(StopReason::ClientGone))
    );
    let tidied = async {
        while !program.path("tidied").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(9), tidied)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_whole_group() {
    let program = Program::script("sleep 60 & echo $$ $!; while :; do echo line; done");
    let Running {
        mut output, finished, ..
    } = program.start(Body::Empty).await.unwrap();
    let text = read_line(&mut output).await;
    drop(output);
    let finished = tokio::time::timeout(LONG, finished).await.unwrap().unwrap();
    assert_eq!(finished.outcome(), Outcome::ClientGone);
    for pid in text.lines().next().unwrap().split(' ') {
        ended(pid).await;
    }
}

#[tokio::test]
async fn each_limit_ends_a_program_under_its_own_name() {
    type Change = fn(&mut Limits);
    let short = Duration::from_millis(300);
    let cases: [(&str, Change, StopReason); 4] = [
        (
            "sleep 60",
            |limits| limits.wall = Duration::from_millis(300),
            StopReason::Wall,
        ),
        (
            "sleep 60",
            |limits| limits.idle = Duration::from_millis(300),
            StopReason::Idle,
        ),
        (
            "while :; do :; done",
            |limits| limits.cpu = Duration::from_millis(100),
            StopReason::Cpu,
        ),
        (
            "x=xxxxxxxx; while :; do x=$x$x; done",
            |limits| limits.memory = 64 << 20,
            StopReason::Memory,
        ),
    ];
    for (script, change, reason) in cases {
        let started = Instant::now();
        let ran = Program::script(script).limits(change).run(Body::Empty).await;
        assert_eq!(ran.finished.stopped, Some(reason), "{ran:?}");
        assert!(started.elapsed() >= short || reason == StopReason::Memory);
        assert!(started.elapsed() < Duration::from_secs(20), "{reason:?}");
    }
}

#[tokio::test]
async fn progress_defers_the_idle_limit() {
    let program = Program::script("for i in 1 2 3 4 5; do echo $i; sleep 1; done; sleep 60")
        .limits(|limits| limits.idle = Duration::from_secs(4));
    let ran = program.run(Body::Empty).await;
    assert_eq!(
        (&*ran.output, ran.finished.stopped),
        (&b"1\n2\n3\n4\n5\n"[..], Some(StopReason::Idle))
    );
}

#[tokio::test]
async fn a_program_that_closed_its_output_may_work_on() {
    let program = Program::script("echo done; exec >&-; sleep 0.5; echo late >&2; exit 3")
        .limits(|limits| limits.idle = Duration::from_millis(200));
    let started = Instant::now();
    let Running {
        mut output, finished, ..
    } = program.start(Body::Empty).await.unwrap();
    assert_eq!(read(&mut output).await.0, b"done\n");
    let answered = started.elapsed();
    let finished = finished.await.unwrap();
    assert_eq!((finished.exit, finished.stopped), (Exit::Code(3), None));
    assert_eq!(&*finished.stderr, b"late\n");
    assert!(
        started.elapsed() >= answered + Duration::from_millis(300),
        "answered after {answered:?}"
    );
}

#[tokio::test]
async fn a_child_that_keeps_the_output_open_delays_the_answer_by_grace_only() {
    let program = Program::script("sleep 60 & echo $!");
    let started = Instant::now();
    let ran = program.run(Body::Empty).await;
    assert!(ran.error.is_none());
    assert!((program.limits.grace..Duration::from_secs(10)).contains(&started.elapsed()));
    assert_eq!((ran.finished.exit, ran.finished.stopped), (Exit::Code(0), None));
    ended(String::from_utf8(ran.output).unwrap().trim()).await;
}

#[tokio::test]
async fn a_child_may_finish_the_answer_within_grace() {
    let program =
        Program::script("(sleep 0.2; echo child) & echo parent").limits(|limits| limits.grace = LONG);
    let ran = program.run(Body::Empty).await;
    assert!(ran.error.is_none());
    assert_eq!(ran.output, b"parent\nchild\n");
}

#[tokio::test]
async fn a_background_child_ends_with_its_request_and_does_not_delay_it() {
    let program = Program::script("sleep 60 >/dev/null 2>&1 & echo $!").limits(|limits| limits.grace = LONG);
    let ran = program.run(Body::Empty).await;
    assert_eq!(ran.finished.exit, Exit::Code(0));
    ended(String::from_utf8(ran.output).unwrap().trim()).await;
}

#[tokio::test]
async fn three_hundred_runs_leave_no_descriptor_and_no_zombie() {
    let zombies = || {
        let me = format!("PPid:\t{}\n", std::process::id());
        let status =
            |entry: fs::DirEntry| fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        let statuses = fs::read_dir("/proc").unwrap().flatten().map(status);
        statuses
            .filter(|status| status.contains("State:\tZ") && status.contains(&me))
            .count()
    };
    let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
    let program = Program::script("echo hello");
    let before = descriptors();
    for _ in 0..300 {
        program.run(Body::Empty).await;
    }
    // Other tests run beside this one; a leak of one per run would show as 300.
    assert!(
        descriptors() < before + 100,
        "{before} before, {} after",
        descriptors()
    );
    assert!(zombies() < 30, "{}", zombies());
}
