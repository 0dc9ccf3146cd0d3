//! The calls that no safe crate offers: `posix_spawn` with every attribute a CGI program needs, `wait4`, the one
//! wait that reports what a child used, and watching a descriptor that is neither socket nor pipe.
//!
//! Owns: unsafe code of native modes. Must not know: requests, limits, policy.
#![expect(
    unsafe_code,
    reason = "posix_spawn, wait4 and AsyncFd have no safe form that covers what is needed"
)]

use std::ffi::{CStr, CString, c_char, c_int, c_short};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::time::Duration;

use rustix::process::Pid;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// What to spawn. The child leads a process group of its own; signals have their default dispositions and none is
/// blocked; descriptors above 2 are closed.
#[derive(Debug)]
pub(super) struct Spawn<'a> {
    /// The executable; absolute, because the child changes its folder first.
    pub(super) program: &'a CStr,
    pub(super) argv: &'a [CString],
    pub(super) envp: &'a [&'a CStr],
    pub(super) working_dir: &'a CStr,
    pub(super) stdin: BorrowedFd<'a>,
    pub(super) stdout: BorrowedFd<'a>,
    pub(super) stderr: BorrowedFd<'a>,
}

/// Spawns, and returns once the child runs the new program: errors are those of `execve` itself. glibc does this
/// without copying the host's page tables (`CLONE_VM | CLONE_VFORK`).
pub(super) fn spawn(spawn: &Spawn<'_>) -> io::Result<Pid> {
    let mut actions = FileActions::new()?;
    actions.working_dir(spawn.working_dir)?;
    for (from, to) in [(spawn.stdin, 0), (spawn.stdout, 1), (spawn.stderr, 2)] {
        actions.duplicate(from, to)?;
    }
    // SECURITY: descriptors the host itself was started with need not be close-on-exec; no program may have them.
    actions.close_from(3)?;
    let attributes = Attributes::for_program()?;
    let argv = pointers(spawn.argv);
    let envp = pointers(spawn.envp);
    let mut pid: libc::pid_t = 0;
    // SAFETY: `program` and every element of `argv` and `envp` are NUL-terminated and outlive the call, both arrays
    // end with a null pointer, and the actions and attributes are initialised.
    check(unsafe {
        libc::posix_spawn(
            &raw mut pid,
            spawn.program.as_ptr(),
            &raw const actions.0,
            &raw const attributes.0,
            argv.as_ptr(),
            envp.as_ptr(),
        )
    })?;
    Pid::from_raw(pid).ok_or_else(|| io::Error::other("posix_spawn named no process"))
}

/// Sees to it that children stay until they are reaped. Whoever starts a host may have had SIGCHLD ignored, which is
/// inherited: the system then reaps them itself, and nobody learns how they ended.
pub(super) fn keep_children() {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the pointer is valid for writes; all bytes zero are a valid value of this structure if the call fails. The
    // default disposition runs no code of ours.
    unsafe {
        if libc::sigaction(libc::SIGCHLD, ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
        {
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        }
    }
}

/// How a child left and what it and the children it waited for used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reaped {
    /// The wait status.
    pub(super) status: c_int,
    /// User and system time.
    pub(super) cpu: Duration,
    /// Largest resident set of one process, in bytes; `None` if it is not above the host's own. Until it calls exec a
    /// child shares the host's memory, and Linux counts that as the child's peak: a smaller peak of its own cannot be
    /// told from it.
    pub(super) peak_memory_bytes: Option<u64>,
    /// What that peak is certainly not above.
    pub(super) peak_bound_bytes: u64,
}

/// Reaps `pid` if it has left; after that its number may be anybody's.
pub(super) fn reap(pid: Pid) -> io::Result<Option<Reaped>> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are valid for writes for the duration of the call.
        let result = unsafe {
            libc::wait4(
                pid.as_raw_nonzero().get(),
                &raw mut status,
                libc::WNOHANG,
                usage.as_mut_ptr(),
            )
        };
        match result {
            0 => return Ok(None),
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            _ => break,
        }
    }
    // SAFETY: a plain structure of integers, all zero before `wait4` filled it.
    let usage = unsafe { usage.assume_init() };
    let bound = peak(&usage);
    Ok(Some(Reaped {
        status,
        cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
        peak_memory_bytes: bound.filter(|bytes| own_peak().is_none_or(|own| *bytes > own)),
        peak_bound_bytes: bound.unwrap_or(u64::MAX),
    }))
}

/// The largest resident set this host has had.
fn own_peak() -> Option<u64> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for writes for the duration of the call.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: a plain structure of integers, all zero before `getrusage` filled it.
    peak(&unsafe { usage.assume_init() })
}

fn peak(usage: &libc::rusage) -> Option<u64> {
    u64::try_from(usage.ru_maxrss).ok()?.checked_mul(1024)
}

/// Registers a pidfd with the reactor.
pub(super) fn watch(pidfd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an owned descriptor stays open and the same until the `AsyncFd`, which takes it, is dropped.
    unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) }.map_err(io::Error::from)
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
    seconds + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}

fn pointers(strings: &[impl AsRef<CStr>]) -> Vec<*mut c_char> {
    let strings = strings.iter().map(|string| string.as_ref().as_ptr().cast_mut());
    strings.chain([ptr::null_mut()]).collect()
}

/// These functions return the error instead of setting `errno`.
fn check(error: c_int) -> io::Result<()> {
    if error == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(error))
    }
}

struct FileActions(libc::posix_spawn_file_actions_t);

impl FileActions {
    fn new() -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: initialises the structure it is given.
        check(unsafe { libc::posix_spawn_file_actions_init(actions.as_mut_ptr()) })?;
        // SAFETY: initialised by the call above, which succeeded.
        Ok(Self(unsafe { actions.assume_init() }))
    }

    fn working_dir(&mut self, path: &CStr) -> io::Result<()> {
        // SAFETY: the actions are initialised; the path is NUL-terminated and copied by the call.
        check(unsafe { libc::posix_spawn_file_actions_addchdir_np(&raw mut self.0, path.as_ptr()) })
    }

    fn duplicate(&mut self, from: BorrowedFd<'_>, to: c_int) -> io::Result<()> {
        // SAFETY: the actions are initialised; the descriptor is open now and, borrowed by `Spawn`, until the spawn.
        check(unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut self.0, from.as_raw_fd(), to) })
    }

    fn close_from(&mut self, first: c_int) -> io::Result<()> {
        // SAFETY: the actions are initialised. The closing happens in the child's own descriptor table.
        check(unsafe { libc::posix_spawn_file_actions_addclosefrom_np(&raw mut self.0, first) })
    }
}

impl Drop for FileActions {
    fn drop(&mut self) {
        // SAFETY: initialised in `new`, destroyed once. It cannot fail.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn for_program() -> io::Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: initialises the structure it is given.
        check(unsafe { libc::posix_spawnattr_init(attributes.as_mut_ptr()) })?;
        // SAFETY: initialised by the call above, which succeeded. From here `Drop` destroys it.
        let mut attributes = Self(unsafe { attributes.assume_init() });
        let mut signals = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: a signal set is a bit field of which any content is valid, so writing bytes initialises it, as does
        // `sigemptyset`; both calls copy it; the attributes are initialised.
        unsafe {
            // Programs expect SIGPIPE to end them, and Rust ignores it; nohup and others ignore more. All bits, not
            // `sigfillset`: that leaves out the two signals glibc uses itself, which the child would then ignore.
            signals.as_mut_ptr().write_bytes(0xff, 1);
            check(libc::posix_spawnattr_setsigdefault(
                &raw mut attributes.0,
                signals.as_ptr(),
            ))?;
            libc::sigemptyset(signals.as_mut_ptr());
            check(libc::posix_spawnattr_setsigmask(
                &raw mut attributes.0,
                signals.as_ptr(),
            ))?;
            check(libc::posix_spawnattr_setpgroup(&raw mut attributes.0, 0))?;
            let flags =
                libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETPGROUP;
            let flags = c_short::try_from(flags).unwrap_or(c_short::MAX);
            check(libc::posix_spawnattr_setflags(&raw mut attributes.0, flags))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialised in `for_program`, destroyed once. It cannot fail.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}
