//! What is accepted, what is refused and why, and the cache.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use super::{MODES, Rig, guests, host_in, request};
use crate::wasm::{ArtifactError, PoolSettings};

#[test]
fn a_module_that_cannot_be_run_is_refused_with_the_reason() {
    let rig = Rig::new();
    let start = r#"(func (export "_start"))"#;
    let refused = |text: &str| rig.load(wat::parse_str(text).unwrap()).unwrap_err();

    let error = refused(&format!(
        r#"(module (import "env" "log" (func)) (import "env" "abort" (func))
           (import "wasi_snapshot_preview1" "sched_yield" (func (result i32))) {start})"#
    ));
    assert!(
        matches!(&error, ArtifactError::UnknownImports(names) if names == &["env::abort", "env::log"]),
        "{error}"
    );
    let error = refused(&format!(
        r#"(module (import "wasi_snapshot_preview1" "sched_yield" (func (param i64))) {start})"#
    ));
    assert!(
        matches!(&error, ArtifactError::Invalid(why) if why.contains("sched_yield")),
        "{error}"
    );
    let error = refused(&format!(r#"(module (import "env" "memory" (memory 1)) {start})"#));
    assert!(
        matches!(&error, ArtifactError::UnknownImports(names) if names == &["env::memory"]),
        "{error}"
    );

    let error = refused(r#"(module (func (export "main")))"#);
    assert!(matches!(error, ArtifactError::NoStart), "{error}");
    let error = refused(r#"(module (func (export "_start") (param i32)))"#);
    assert!(
        matches!(&error, ArtifactError::Invalid(why) if why.contains("_start")),
        "{error}"
    );

    let error = refused("(component)");
    assert!(matches!(error, ArtifactError::Component), "{error}");
    let error = refused(&format!("(module (memory 1025) {start})"));
    assert!(
        matches!(&error, ArtifactError::OverLimit(why) if why.contains("65536 KiB")),
        "{error}"
    );
    let error = refused(&format!("(module (table 200000 funcref) {start})"));
    assert!(
        matches!(&error, ArtifactError::OverLimit(why) if why.contains("200000")),
        "{error}"
    );
    let error = refused(&format!("(module (memory 1 2 shared) {start})"));
    assert!(
        matches!(error, ArtifactError::Invalid(_)),
        "a shared memory escapes the limiter: {error}"
    );

    for garbage in [&b""[..], b"#!/bin/sh\n", b"\0asm\x01\0\0\0\x01"] {
        let error = rig.load(garbage).unwrap_err();
        assert!(matches!(error, ArtifactError::Invalid(_)), "{error}");
    }
}

#[test]
fn a_precompiled_artifact_is_never_loaded_as_a_module() {
    let rig = Rig::new();
    rig.load(wat::parse_str(guests::hello()).unwrap()).unwrap();
    let compiled = fs::read(compiled_file(&rig)).unwrap();
    let error = rig.load(compiled).unwrap_err();
    assert!(matches!(error, ArtifactError::Precompiled), "{error}");
}

#[tokio::test]
async fn the_cache_is_private_reused_and_never_trusted_when_damaged() {
    let rig = Rig::new();
    let wasm = wat::parse_str(guests::hello()).unwrap();
    rig.load(&wasm).unwrap();
    let folder = rig.folder.path().join("cache");
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);

    let entry = compiled_file(&rig);
    let inode = || fs::metadata(&entry).unwrap().ino();
    let first = inode();
    // A host of its own, so that nothing but the folder is shared.
    let host = host_in(folder.clone(), 4);
    let path = rig.folder.path().join("module.wasm");
    let load = || host.load("program", &path, PoolSettings::default()).unwrap();
    load();
    assert_eq!(inode(), first, "a good entry is reused");

    let good = fs::read(&entry).unwrap();
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    for damaged in [&flipped[..], &good[..good.len() / 3], b""] {
        fs::remove_file(&entry).unwrap();
        fs::write(&entry, damaged).unwrap();
        let program = load();
        assert_eq!(
            fs::read(&entry).unwrap().len(),
            good.len(),
            "it was compiled again"
        );
        assert_eq!(rig.run(request(&program, MODES[0])).await.0.unwrap(), b"hello\n");
    }
}

fn compiled_file(rig: &Rig) -> PathBuf {
    fs::read_dir(rig.folder.path().join("cache"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "cwasm"))
        .unwrap()
}
