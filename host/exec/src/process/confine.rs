//! Resource limits of a child.
//!
//! Set from outside right after the spawn, so that the spawn itself needs no code between fork and exec. The program
//! already runs then: what it starts in the first moment is not limited, which only a program that is out to harm
//! makes use of.

use std::io;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use crate::limits::Limits;

/// Limits `pid` and what it will start. A program that changes its user on exec can refuse (`EPERM`) unless the host
/// is root.
pub(super) fn confine(pid: Pid, limits: &Limits) -> io::Result<()> {
    set(pid, Resource::Core, 0, 0)?;
    // SIGXCPU at the limit; the second more is for programs that catch it.
    let cpu = cpu_seconds(limits);
    set(pid, Resource::Cpu, cpu, cpu.saturating_add(1))?;
    // Private writable memory, not address space (RLIMIT_AS): a mapped 30 MB pack file, shared libraries and the
    // reserves of thread stacks, malloc arenas and managed heaps take address space but no memory, and would make git,
    // node or java fail at limits they are far from.
    set(pid, Resource::Data, limits.memory, limits.memory)
}

/// The limit the kernel counts in: whole seconds, at least one.
pub(super) fn cpu_seconds(limits: &Limits) -> u64 {
    let seconds = limits.cpu.as_secs();
    let rounded = if limits.cpu.subsec_nanos() > 0 {
        seconds.saturating_add(1)
    } else {
        seconds
    };
    rounded.max(1)
}

fn set(pid: Pid, resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    // Raising a hard limit takes privilege: the host's own stays the ceiling.
    let ceiling = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let limit = Rlimit {
        current: Some(soft.min(ceiling)),
        maximum: Some(hard.min(ceiling)),
    };
    prlimit(Some(pid), resource, limit)?;
    Ok(())
}
