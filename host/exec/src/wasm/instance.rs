//! One instance: made without a request, bound to one, called once, dropped.

use std::fmt;
use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use warmbin_cgi::Environment;
use wasmtime::{InstancePre, Store, TypedFunc, UpdateDeadline};

use crate::invocation::Body;
use crate::limits::Limits;
use crate::wasm::guest::Guest;
use crate::wasm::limiter::MemoryLimiter;
use crate::wasm::stdio::Stdio;

/// Epochs a guest may run before it gives way to others. Far from the largest number: the engine adds it to the
/// current epoch without a check.
const TURN: u64 = 1;

/// What instances of one program are made from.
pub(super) struct Blueprint {
    pub(super) pre: InstancePre<Guest>,
    /// Instantiating runs the module's code, so that must wait for a request and its limits.
    pub(super) runs_at_instantiation: bool,
    /// Most bytes of memory an instance may have in this engine.
    pub(super) max_memory: u64,
}

/// An instance that has not been called.
pub(super) struct Instance {
    // Fields are dropped in this order: the store gives its memory back before the slot is free for another.
    store: Store<Guest>,
    entry: Entry,
    pub(super) stdio: Arc<Stdio>,
    _slot: OwnedSemaphorePermit,
}

enum Entry {
    Ready(TypedFunc<(), ()>),
    Uninstantiated(InstancePre<Guest>),
}

/// What a request brings to its instance.
pub(super) struct Request {
    pub(super) environment: Environment,
    pub(super) arguments: Vec<Vec<u8>>,
    pub(super) body: Body,
}

impl Instance {
    /// Instantiates `blueprint`. No code of the module runs.
    pub(super) async fn make(blueprint: &Blueprint, slot: OwnedSemaphorePermit) -> wasmtime::Result<Self> {
        let stdio = Arc::new(Stdio::new());
        let guest = Guest::unbound(&stdio, MemoryLimiter::new(blueprint.max_memory));
        let mut store = Store::new(blueprint.pre.module().engine(), guest);
        store.limiter(|guest| &mut guest.limiter);
        store.epoch_deadline_callback(|_| {
            // Behind every other task that is ready: the engine's own way of yielding would be polled next again.
            Ok(UpdateDeadline::YieldCustom(
                TURN,
                Box::pin(tokio::task::yield_now()),
            ))
        });
        store.set_epoch_deadline(TURN);
        let entry = if blueprint.runs_at_instantiation {
            Entry::Uninstantiated(blueprint.pre.clone())
        } else {
            let instance = blueprint.pre.instantiate_async(&mut store).await?;
            Entry::Ready(instance.get_typed_func(&mut store, "_start")?)
        };
        Ok(Self {
            store,
            entry,
            stdio,
            _slot: slot,
        })
    }

    /// Binds the instance to a request. Everything that derives from a request enters here.
    pub(super) fn bind(&mut self, request: Request, limits: &Limits) {
        let guest = self.store.data_mut();
        guest.environment = request.environment;
        guest.arguments = request.arguments;
        guest.limiter.restrict(limits.memory);
        self.stdio.bind(request.body, limits.stderr);
        // Epochs have passed since the instance was made.
        self.store.set_epoch_deadline(TURN);
    }

    /// Runs the program to its end.
    pub(super) async fn call(&mut self) -> wasmtime::Result<()> {
        let start = match &self.entry {
            Entry::Ready(start) => start.clone(),
            Entry::Uninstantiated(pre) => {
                let instance = pre.instantiate_async(&mut self.store).await?;
                instance.get_typed_func(&mut self.store, "_start")?
            }
        };
        start.call_async(&mut self.store, ()).await
    }

    /// What the limiter saw.
    pub(super) fn memory(&self) -> &MemoryLimiter {
        &self.store.data().limiter
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("guest", self.store.data())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Blueprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blueprint")
            .field("runs_at_instantiation", &self.runs_at_instantiation)
            .field("max_memory", &self.max_memory)
            .finish_non_exhaustive()
    }
}
