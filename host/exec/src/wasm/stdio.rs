//! The three standard streams of one instance, shared between the guest, the reader of its output and the run.
//!
//! They are made with the instance, before there is a request, and are given the request's body at checkout.
//! No stream has a task of its own: the guest's side is polled by the run, the other side by the reader.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::invocation::Body;
use crate::running::Stopper;
use crate::wasm::movement::Movement;
use crate::wasm::stderr::Stderr;
use crate::wasm::stdin::Stdin;
use crate::wasm::stdout::Pipe;

/// The streams of one instance.
#[derive(Debug)]
pub(super) struct Stdio {
    pub(super) stdin: Stdin,
    pub(super) stdout: Pipe,
    pub(super) stderr: Stderr,
    pub(super) movement: Movement,
    pub(super) stopper: Stopper,
}

impl Stdio {
    /// Streams without a request.
    pub(super) fn new() -> Self {
        Self {
            stdin: Stdin::default(),
            stdout: Pipe::default(),
            stderr: Stderr::default(),
            movement: Movement::new(),
            stopper: Stopper::new(),
        }
    }

    /// Gives the streams a request: its body, and how much of standard error is kept.
    pub(super) fn bind(&self, body: Body, stderr_limit: usize) {
        self.stdin.bind(body);
        self.stderr.bind(stderr_limit);
        self.movement.touch();
    }
}

/// Locks `mutex`. A panic elsewhere leaves bytes in it, never a broken invariant.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
