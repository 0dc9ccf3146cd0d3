//! The modules the tests run.

/// A command whose `_start` is `body`, with the usual imports and helpers, and `data` at address 1024.
pub(super) fn command(data: &str, body: &str) -> String {
    module("", data, &format!(r#"(func (export "_start") {body})"#))
}

/// The same with extra fields.
pub(super) fn module(fields: &str, data: &str, functions: &str) -> String {
    format!(
        r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ_sizes_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_get" (func $environ_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 4)
  (data (i32.const 1024) "{data}")
  {fields}
  (func $write (param $fd i32) (param $at i32) (param $length i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $length))
    (if (call $fd_write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 8))
      (then (call $proc_exit (i32.const 99)))))
  (func $read (param $at i32) (param $length i32) (result i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $length))
    (if (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8))
      (then (call $proc_exit (i32.const 98))))
    (i32.load (i32.const 8)))
  (func $sleep_for_ever
    ;; One subscription: a relative timer on the monotonic clock, a century long.
    (i32.store8 (i32.const 520) (i32.const 0))
    (i32.store (i32.const 528) (i32.const 1))
    (i64.store (i32.const 536) (i64.const 3153600000000000000))
    (drop (call $poll_oneoff (i32.const 512) (i32.const 600) (i32.const 1) (i32.const 700))))
  {functions})"#
    )
}

pub(super) fn hello() -> String {
    command(
        "hello\\n",
        "(call $write (i32.const 1) (i32.const 1024) (i32.const 6))",
    )
}

/// Counts in its memory and prints the count.
pub(super) fn counter() -> String {
    command(
        "0",
        "(i32.store8 (i32.const 1024) (i32.add (i32.load8_u (i32.const 1024)) (i32.const 1)))
         (call $write (i32.const 1) (i32.const 1024) (i32.const 1))",
    )
}

/// Copies its input to its output, piece by piece.
pub(super) fn echo() -> String {
    command(
        "",
        "(local $n i32)
         (loop $again
           (local.set $n (call $read (i32.const 2048) (i32.const 65536)))
           (if (local.get $n) (then
             (call $write (i32.const 1) (i32.const 2048) (local.get $n))
             (br $again))))",
    )
}

/// Prints its arguments, then its variables, each with its NUL.
pub(super) fn variables() -> String {
    command("", PRINT_VARIABLES)
}

pub(super) const PRINT_VARIABLES: &str = "
    (drop (call $args_sizes_get (i32.const 16) (i32.const 20)))
    (drop (call $args_get (i32.const 4096) (i32.const 8192)))
    (call $write (i32.const 1) (i32.const 8192) (i32.load (i32.const 20)))
    (drop (call $environ_sizes_get (i32.const 16) (i32.const 20)))
    (drop (call $environ_get (i32.const 4096) (i32.const 8192)))
    (call $write (i32.const 1) (i32.const 8192) (i32.load (i32.const 20)))";

pub(super) fn spin() -> String {
    command("", "(loop $again (br $again))")
}

pub(super) fn sleep() -> String {
    command("", "(call $sleep_for_ever)")
}

/// Grows its memory by a mebibyte at a time until it cannot, then does `at_the_end`.
pub(super) fn greedy(at_the_end: &str) -> String {
    command(
        "",
        &format!(
            "(loop $again
               (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
             {at_the_end}"
        ),
    )
}

/// Writes `times` pieces of 64 KiB.
pub(super) fn flood(times: u32) -> String {
    command(
        "",
        &format!(
            "(local $left i32)
             (local.set $left (i32.const {times}))
             (loop $again
               (call $write (i32.const 1) (i32.const 4096) (i32.const 65536))
               (local.set $left (i32.sub (local.get $left) (i32.const 1)))
               (br_if $again (local.get $left)))"
        ),
    )
}
