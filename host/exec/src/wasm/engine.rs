//! The settings of the engine, each with its reason, and the fall-back for hosts that cannot reserve the address
//! space the pooling allocator wants.
//!
//! Owns the configuration. Must not know programs, pools or requests.

use std::fs;

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

use crate::wasm::artifact::ArtifactError;
use crate::wasm::host::{EngineFacts, WasmHostConfig};

/// Entries one table may have. Interpreters have tens of thousands; the pool only reserves address space for them.
pub(super) const MAX_TABLE_ELEMENTS: u32 = 100_000;

/// Address space per memory, and the unmapped space behind it. Together they let compiled code skip nearly every
/// bounds check: a 32-bit address plus a 32-bit offset cannot leave them.
const MEMORY_RESERVATION: u64 = 4 << 30;
const MEMORY_GUARD: u64 = 2 << 30;

/// The engine's release; it has no constant for that, so a test compares this with the lock file.
const VERSION: &str = "48.0.8";

/// Starts an engine: with the pooling allocator if the host has the address space for it, else without.
pub(super) fn start(config: &WasmHostConfig) -> Result<(Engine, EngineFacts), ArtifactError> {
    let reuse = swap_is_off();
    match Engine::new(&pooling(config, reuse)?) {
        Ok(engine) => {
            let allocator = format!(
                "pooling, {} instances of up to {} MiB{}",
                config.max_instances,
                config.max_memory_bytes >> 20,
                if reuse {
                    ""
                } else {
                    ", without page scanning because swap is on"
                },
            );
            Ok((
                engine,
                EngineFacts {
                    allocator,
                    version: VERSION,
                },
            ))
        }
        Err(refused) => {
            let allocator = format!("on-demand, because the pool could not be reserved: {refused:#}");
            tracing::warn!(engine.allocator = %allocator, "the pooling allocator is not available");
            let engine =
                Engine::new(&on_demand()).map_err(|error| ArtifactError::Engine(format!("{error:#}")))?;
            Ok((
                engine,
                EngineFacts {
                    allocator,
                    version: VERSION,
                },
            ))
        }
    }
}

/// What holds for both allocators.
fn common() -> Config {
    let mut config = Config::new();
    config
        // Guests give way to others at every tick, and their processor time is counted; fuel would cost more.
        .epoch_interruption(true)
        .memory_init_cow(true)
        .cranelift_opt_level(OptLevel::Speed)
        // Interpreters recurse deeply. Stacks are address space until they are touched.
        .max_wasm_stack(2 << 20)
        .async_stack_size(4 << 20)
        // Spares each store the tables of component-model concurrency, which preview1 modules cannot use.
        .concurrency_support(false)
        // Every `proc_exit` unwinds as an error; walking the stack for a backtrace nobody reads would cost each run.
        .wasm_backtrace_max_frames(None)
        // SECURITY: the resource limiter never hears of shared memories, so modules may not have any.
        .wasm_threads(false)
        .shared_memory(false);
    config
}

fn pooling(host: &WasmHostConfig, page_scan: bool) -> Result<Config, ArtifactError> {
    let instances = host.max_instances;
    let memory = usize::try_from(host.max_memory_bytes)
        .map_err(|_| ArtifactError::OverLimit("the memory limit is larger than an address".to_owned()))?;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_core_instances(instances)
        .total_component_instances(0)
        .total_memories(instances)
        .total_tables(instances.saturating_mul(2))
        .total_stacks(instances)
        .total_gc_heaps(instances)
        .max_memories_per_module(1)
        .max_tables_per_module(2)
        .max_memory_size(memory)
        .table_elements(usize::try_from(MAX_TABLE_ELEMENTS).unwrap_or(usize::MAX))
        // A check, not a reservation; large interpreters have many functions and globals.
        .max_core_instance_size(10 << 20)
        // A slot keeps the image of the module it ran last, so that the next instance of it maps nothing.
        .max_unused_warm_slots(instances);
    if page_scan {
        // Only the pages a guest has dirtied are reset, in place, instead of being given back and faulted in again.
        // SECURITY: this release of the engine overlooks dirty pages that are in swap: they would show one request's
        // data to the next. Only without swap.
        pool.pagemap_scan(Enabled::Auto)
            .linear_memory_keep_resident(1 << 20)
            .table_keep_resident(64 << 10);
    }
    let mut config = common();
    config
        .memory_reservation(MEMORY_RESERVATION)
        .memory_guard_size(MEMORY_GUARD)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Ok(config)
}

/// For hosts with little address space (`ulimit -v`, some containers): nothing is reserved ahead, accesses are checked.
fn on_demand() -> Config {
    let mut config = common();
    config
        .memory_reservation(0)
        .memory_reservation_for_growth(1 << 20)
        .memory_guard_size(64 << 10)
        .allocation_strategy(InstanceAllocationStrategy::OnDemand);
    config
}

/// Whether the kernel lists no swap space. Unknown counts as on.
fn swap_is_off() -> bool {
    // The first line is the table's head.
    fs::read_to_string("/proc/swaps")
        .is_ok_and(|table| table.lines().skip(1).all(|line| line.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_one_that_is_linked() {
        let lock = include_str!("../../../../Cargo.lock");
        let entry = format!("name = \"wasmtime\"\nversion = \"{VERSION}\"");
        assert!(lock.contains(&entry), "{VERSION} is not what the lock file has");
    }

    #[test]
    fn a_host_without_the_address_space_gets_an_engine_that_says_so() {
        let config = WasmHostConfig {
            cache_dir: "unused".into(),
            max_memory_bytes: 64 << 20,
            max_instances: 100_000,
        };
        let (_, facts) = start(&config).unwrap();
        assert!(
            facts.allocator.starts_with("on-demand, because"),
            "{}",
            facts.allocator
        );
    }
}
