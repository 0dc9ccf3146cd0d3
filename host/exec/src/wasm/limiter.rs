//! How much memory one instance may have: the sum over its memories, and the most it ever had.

use wasmtime::ResourceLimiter;

use crate::wasm::engine::MAX_TABLE_ELEMENTS;

/// Counts and limits the linear memory of one instance.
#[derive(Debug)]
pub(super) struct MemoryLimiter {
    /// Most bytes any memory of this engine may have.
    engine_max: usize,
    /// Most bytes all memories of this instance may have together.
    limit: usize,
    used: usize,
    denied: bool,
}

impl MemoryLimiter {
    /// A limiter that allows what the engine allows.
    pub(super) fn new(engine_max: u64) -> Self {
        let engine_max = usize::try_from(engine_max).unwrap_or(usize::MAX);
        Self {
            engine_max,
            limit: engine_max,
            used: 0,
            denied: false,
        }
    }

    /// Sets the limit of a request, in bytes. Memory the instance already has stays; if it is too much, that is a denial.
    pub(super) fn restrict(&mut self, limit: u64) {
        self.limit = usize::try_from(limit).unwrap_or(usize::MAX).min(self.engine_max);
        self.denied |= self.used > self.limit;
    }

    /// Whether the instance has more than its limit, because its initial memory is larger.
    pub(super) fn is_exceeded(&self) -> bool {
        self.used > self.limit
    }

    /// The most bytes there ever were. Linear memory never shrinks, so that is what there is now.
    pub(super) fn peak(&self) -> u64 {
        self.used as u64
    }

    /// Whether the guest asked for more than it may have.
    pub(super) fn denied(&self) -> bool {
        self.denied
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // A module that asks for more than it declared itself meets its own limit, not the host's.
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let total = self.used.saturating_add(desired.saturating_sub(current));
        if desired > self.engine_max || total > self.limit {
            self.denied = true;
            return Ok(false);
        }
        self.used = total;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        // SECURITY: nothing is given back. This is also called for growth that was never counted, and a guest that
        // could lower its count by asking for the impossible could raise its limit.
        self.denied = true;
        Ok(())
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let most = usize::try_from(MAX_TABLE_ELEMENTS).unwrap_or(usize::MAX);
        Ok(desired <= most && maximum.is_none_or(|maximum| desired <= maximum))
    }
}
