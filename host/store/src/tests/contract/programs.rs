use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::StoreError;
use crate::program::{Artifact, NewVersion, Source};
use crate::store::Store;
use crate::tests::{detail, record};

fn version(program: &str, activate: bool) -> NewVersion {
    let artifact = |path: &str| Artifact {
        path: path.to_owned(),
        sha256: format!("sum of {path}"),
        bytes: 5_000_000_000,
        kind: "script (#!/bin/sh)".to_owned(),
    };
    NewVersion {
        program: program.to_owned(),
        source: Source::Upload,
        native: Some(artifact("a")),
        wasm: activate.then(|| artifact("b")),
        settings: r#"{"mode":"fork"}"#.to_owned(),
        created_by: "admin".to_owned(),
        activate,
    }
}

pub(super) async fn versions_are_numbered_from_one(store: &dyn Store) {
    let new = version("a", true);
    assert_eq!(store.add_version(&new).await.unwrap(), 1);
    assert_eq!(store.add_version(&version("a", false)).await.unwrap(), 2);
    assert_eq!(store.add_version(&version("b", false)).await.unwrap(), 1);

    let program = store.program("a").await.unwrap().unwrap();
    assert_eq!(program.active, Some(1));
    assert_eq!(
        program
            .versions
            .iter()
            .map(|version| version.number)
            .collect::<Vec<_>>(),
        [2, 1]
    );
    assert_eq!(program.versions[0].wasm, None);
    let first = &program.versions[1];
    assert_eq!(
        (first.source, &first.native, &first.wasm),
        (new.source, &new.native, &new.wasm)
    );
    assert_eq!(
        (&first.settings, &first.created_by),
        (&new.settings, &new.created_by)
    );
    assert!(program.created_at > 0 && first.created_at >= program.created_at);

    let programs = store.programs().await.unwrap();
    assert_eq!(
        programs
            .iter()
            .map(|program| program.name.as_str())
            .collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(programs[1].active, None);
    assert_eq!(programs[0], program);
    assert_eq!(store.program("c").await.unwrap(), None);
}

pub(super) async fn versions_added_at_once_get_different_numbers(store: &dyn Store) {
    let new = version("a", true);
    let numbers = futures_util::future::join_all((0..20).map(|_| store.add_version(&new))).await;
    let numbers: BTreeSet<u32> = numbers.into_iter().map(Result::unwrap).collect();
    assert_eq!(numbers, (1..=20).collect());
}

pub(super) async fn only_existing_versions_become_active(store: &dyn Store) {
    store.add_version(&version("a", true)).await.unwrap();
    store.add_version(&version("a", true)).await.unwrap();
    store.activate("a", 1).await.unwrap();
    for (program, number) in [("a", 3), ("b", 1)] {
        let answer = store.activate(program, number).await;
        assert!(matches!(answer, Err(StoreError::NotFound(_))), "{answer:?}");
    }
    assert_eq!(store.program("a").await.unwrap().unwrap().active, Some(1));
}

pub(super) async fn removing_a_program_leaves_its_requests(store: &dyn Store) {
    store
        .insert_requests(&[(Arc::new(record(1)), detail(1))])
        .await
        .unwrap();
    store.add_version(&version("printenv", true)).await.unwrap();
    store.add_version(&version("printenv", true)).await.unwrap();
    let before = store.program("printenv").await.unwrap().unwrap();
    assert_eq!(store.remove_program("printenv").await.unwrap(), before);
    assert_eq!(store.programs().await.unwrap(), []);
    assert!(matches!(
        store.remove_program("printenv").await,
        Err(StoreError::NotFound(_))
    ));
    assert!(store.request(&record(1).id).await.unwrap().is_some());
    assert_eq!(store.add_version(&version("printenv", true)).await.unwrap(), 1);
}

pub(super) async fn every_change_moves_the_generation(store: &dyn Store) {
    let mut last = store.programs_generation().await.unwrap();
    for change in 0..4 {
        match change {
            0 => drop(store.add_version(&version("a", false)).await.unwrap()),
            1 => store.activate("a", 1).await.unwrap(),
            2 => drop(store.remove_program("a").await.unwrap()),
            // What changes nothing moves nothing.
            _ => assert!(store.activate("a", 1).await.is_err()),
        }
        let now = store.programs_generation().await.unwrap();
        assert_eq!(now > last, change < 3, "{change}");
        last = now;
    }
}
