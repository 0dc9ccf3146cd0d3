//! Where instances come from.

use super::{MODES, Rig, guests, request, until};
use crate::error::StartError;
use crate::mode::Mode;
use crate::running::StopReason;
use crate::wasm::PoolSettings;

#[tokio::test]
async fn a_used_instance_is_replaced() {
    let rig = Rig::new();
    let program = rig.warm(&guests::hello()).await;
    assert_eq!(program.pool().ready, 1);
    for round in 1..=5 {
        let (_, finished) = rig.run(request(&program, Mode::WasmWarm)).await;
        assert!(finished.was_warm, "round {round}");
        until("a refill", || program.pool().ready >= 1).await;
        assert_eq!(program.pool().hits, round);
    }
    let status = program.pool();
    assert_eq!((status.misses, status.busy), (0, 0));
    assert!(status.refill.is_some());
}

#[tokio::test]
async fn a_miss_takes_the_cold_path_and_makes_the_pool_grow() {
    let rig = Rig::new();
    let program = rig.warm(&guests::sleep()).await;
    let mut running = Vec::new();
    for _ in 0..3 {
        running.push(rig.start(request(&program, Mode::WasmWarm)).await.unwrap());
    }
    let status = program.pool();
    assert_eq!((status.hits, status.misses, status.busy), (1, 2, 3));
    assert_eq!(status.target, 4, "the peak and some headroom");
    for run in running {
        run.stopper.stop(StopReason::Shutdown);
        run.finished.await.unwrap();
    }
    until("the pool reaches its target", || program.pool().ready == 4).await;
}

#[tokio::test]
async fn a_program_without_a_pool_is_always_a_miss() {
    let rig = Rig::new();
    let wasm = wat::parse_str(guests::hello()).unwrap();
    let program = rig.load_with(wasm, PoolSettings { min: 0, max: 0 }).unwrap();
    program.warm().await;
    let (output, finished) = rig.run(request(&program, Mode::WasmWarm)).await;
    assert_eq!(output.unwrap(), b"hello\n");
    assert!(!finished.was_warm);
    assert_eq!((program.pool().hits, program.pool().misses), (0, 1));
}

#[tokio::test]
async fn more_instances_than_the_host_may_have_are_refused_for_now() {
    let rig = Rig::with_instances(2);
    let program = rig.warm(&guests::sleep()).await;
    for mode in MODES {
        // The waiting instance makes room for a request.
        let runs = [
            rig.start(request(&program, Mode::WasmCold)).await.unwrap(),
            rig.start(request(&program, Mode::WasmCold)).await.unwrap(),
        ];
        let error = rig.start(request(&program, mode)).await.unwrap_err();
        assert!(matches!(error, StartError::Exhausted { .. }), "{error}");
        for run in runs {
            run.stopper.stop(StopReason::Shutdown);
            run.finished.await.unwrap();
        }
        assert!(rig.host.slot().await.is_some(), "the places are free again");
        program.warm().await;
    }
    assert_eq!(
        program.pool().busy,
        0,
        "a refused request is not counted as running"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quick_succession_of_requests_leaves_no_instances_behind() {
    let rig = Rig::with_instances(8);
    let program = rig.warm(&guests::hello()).await;
    // In a task of its own: only there requests follow each other without the executor looking for events in between.
    let runs = tokio::spawn(async move {
        for _ in 0..500 {
            for mode in MODES {
                let mut running = rig.start(request(&program, mode)).await.expect("a place is free");
                assert_eq!(super::drain(&mut running).await.unwrap(), b"hello\n");
            }
        }
    });
    runs.await.unwrap();
}

#[tokio::test]
async fn dropping_a_program_empties_its_pool() {
    let rig = Rig::with_instances(4);
    let wasm = wat::parse_str(guests::hello()).unwrap();
    let program = rig.load_with(wasm, PoolSettings { min: 3, max: 3 }).unwrap();
    program.warm().await;
    assert_eq!(program.pool().ready, 3);
    drop(program);
    let mut slots = Vec::new();
    for _ in 0..4 {
        slots.push(rig.host.slot().await.expect("the places of the pool are free"));
    }
}
