//! What a program's end means. Pure.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use crate::limits::Limits;
use crate::process::confine::cpu_seconds;
use crate::process::sys::Reaped;
use crate::running::{Exit, StopReason};

/// The kernel's count for the limit and its count for the report may differ by ticks.
const CPU_SLACK: Duration = Duration::from_millis(50);

/// What runtimes say when an allocation fails, in lower case: C and shells; C++; Rust; Python; others.
const OUT_OF_MEMORY: [&[u8]; 5] = [
    b"cannot allocate memory",
    b"bad_alloc",
    b"memory allocation of",
    b"memoryerror",
    b"out of memory",
];

/// How the program left.
pub(super) fn exit(reaped: &Reaped) -> Exit {
    let status = ExitStatus::from_raw(reaped.status);
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown(format!("wait status {:#x}", reaped.status)),
    }
}

/// The limit that ended a program which the host did not stop, if one did. The kernel does not say; an abnormal end is
/// read so:
///
/// * processor time, if a process got the signal for it or the time is used up;
/// * memory, if half of it was resident at some time (a buffer that doubles fails at half) or standard error names a
///   failed allocation (one that was far too large is never resident). Where the peak is not known and may have been
///   that large, a crash is taken for it and an exit is not.
pub(super) fn limit_met(exit: &Exit, reaped: &Reaped, stderr: &[u8], limits: &Limits) -> Option<StopReason> {
    if *exit == Exit::Code(0) {
        return None;
    }
    let cpu = Duration::from_secs(cpu_seconds(limits));
    if *exit == Exit::Signal(libc::SIGXCPU) || reaped.cpu.saturating_add(CPU_SLACK) >= cpu {
        return Some(StopReason::Cpu);
    }
    let half = limits.memory / 2;
    let half_resident = match reaped.peak_memory_bytes {
        Some(bytes) => bytes >= half,
        None => reaped.peak_bound_bytes >= half && crashed(exit),
    };
    (half_resident || names_failed_allocation(stderr)).then_some(StopReason::Memory)
}

/// Whether it ended as programs do that do not expect an allocation to fail.
fn crashed(exit: &Exit) -> bool {
    matches!(exit, Exit::Signal(libc::SIGSEGV | libc::SIGABRT | libc::SIGBUS))
}

fn names_failed_allocation(stderr: &[u8]) -> bool {
    let lower = stderr.to_ascii_lowercase();
    OUT_OF_MEMORY
        .iter()
        .any(|phrase| lower.windows(phrase.len()).any(|window| window == *phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 256 << 20;

    /// What, wait status, processor seconds, peak memory, standard error, and the limit to blame.
    type Case = (&'static str, i32, u64, u64, &'static str, Option<StopReason>);

    #[test]
    fn an_abnormal_end_is_blamed_on_the_limit_it_met() {
        let killed = libc::SIGKILL;
        let cases: [Case; 10] = [
            ("success", 0, 0, 1, "", None),
            (
                "success with much memory and time",
                0,
                60,
                LIMIT,
                "out of memory",
                None,
            ),
            ("plain failure", 1 << 8, 0, 4 << 20, "usage: x", None),
            ("plain crash", libc::SIGSEGV, 0, 4 << 20, "", None),
            (
                "signal for the time",
                libc::SIGXCPU,
                9,
                4 << 20,
                "",
                Some(StopReason::Cpu),
            ),
            (
                "a shell reports its child's signal",
                (128 + 24) << 8,
                10,
                1,
                "",
                Some(StopReason::Cpu),
            ),
            (
                "killed at the hard limit",
                killed,
                11,
                1,
                "",
                Some(StopReason::Cpu),
            ),
            (
                "abort, all memory resident",
                libc::SIGABRT,
                1,
                LIMIT - 1,
                "",
                Some(StopReason::Memory),
            ),
            (
                "abort, one huge allocation",
                libc::SIGABRT,
                0,
                1,
                "memory allocation of 9",
                Some(StopReason::Memory),
            ),
            (
                "Python",
                1 << 8,
                0,
                1,
                "Traceback\nMemoryError\n",
                Some(StopReason::Memory),
            ),
        ];
        for (what, status, cpu, peak_memory_bytes, stderr, expected) in cases {
            let reaped = Reaped {
                status,
                cpu: Duration::from_secs(cpu),
                peak_memory_bytes: Some(peak_memory_bytes),
                peak_bound_bytes: peak_memory_bytes,
            };
            let found = limit_met(&exit(&reaped), &reaped, stderr.as_bytes(), &Limits::default());
            assert_eq!(found, expected, "{what}");
        }
    }

    #[test]
    fn an_unknown_peak_is_held_against_a_crash_alone() {
        let cases = [
            (libc::SIGSEGV, LIMIT, Some(StopReason::Memory)),
            (libc::SIGSEGV, LIMIT / 2 - 1, None),
            (1 << 8, LIMIT, None),
        ];
        for (status, peak_bound_bytes, expected) in cases {
            let reaped = Reaped {
                status,
                cpu: Duration::ZERO,
                peak_memory_bytes: None,
                peak_bound_bytes,
            };
            let found = limit_met(&exit(&reaped), &reaped, b"", &Limits::default());
            assert_eq!(found, expected, "{status} {peak_bound_bytes}");
        }
    }
}
