//! What the system says of a host and of the processes below it.

use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use tokio::net::TcpStream;
use warmbin_tests::{TestHost, wait_until};

/// How long whatever has to end may take to end, on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// The processes that a host has started and not reaped, and the state of each (`Z` for a zombie).
pub(super) fn children(host: &TestHost) -> Result<Vec<(u32, char)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some((state, parent)) = state(pid)
            && parent == host.pid()
        {
            found.push((pid, state));
        }
    }
    Ok(found)
}

/// The state of a process, and its parent; `None` if there is none of that number.
fn state(pid: u32) -> Option<(char, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before may hold anything.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Whether a process lives: one that is left to be reaped does not.
pub(super) fn lives(pid: u32) -> bool {
    state(pid).is_some_and(|(state, _)| state != 'Z')
}

/// Waits until the host has no children any more, not even dead ones.
pub(super) async fn childless(host: &TestHost) -> Result<()> {
    wait_until("every child has ended and is reaped", PATIENCE, async || {
        Ok(children(host)?.is_empty().then_some(()))
    })
    .await
}

/// Waits until none of `pids` lives.
pub(super) async fn gone(pids: &[u32]) -> Result<()> {
    wait_until("those processes have ended", PATIENCE, async || {
        Ok((!pids.iter().any(|pid| lives(*pid))).then_some(()))
    })
    .await
}

/// How many files the host has open.
pub(super) fn descriptors(host: &TestHost) -> Result<usize> {
    Ok(std::fs::read_dir(format!("/proc/{}/fd", host.pid()))?.count())
}

/// Waits until the host has no more files open than `before`, but for a few that its pools may keep.
pub(super) async fn no_more_than(before: usize, host: &TestHost) -> Result<()> {
    let what = format!("about {before} files are open");
    wait_until(&what, PATIENCE, async || {
        Ok((descriptors(host)? <= before + 8).then_some(()))
    })
    .await
}

/// Sets how many files the host may have open.
pub(super) fn limit_descriptors(host: &TestHost, most: u64) -> Result<()> {
    let limit = Rlimit {
        current: Some(most),
        maximum: prlimit_of(host)?.maximum,
    };
    prlimit(Some(pid(host.pid())?), Resource::Nofile, limit)?;
    Ok(())
}

fn prlimit_of(host: &TestHost) -> Result<Rlimit> {
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", host.pid()))?;
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"))
        .context("the limit is listed")?;
    let mut figures = line.split_whitespace().skip(3).map(|word| word.parse().ok());
    Ok(Rlimit {
        current: figures.next().flatten(),
        maximum: figures.next().flatten(),
    })
}

/// Runs `work` and returns by how many KiB the host's memory was larger at its largest than it was before.
pub(super) async fn growth_kib(host: &TestHost, work: impl Future<Output = Result<()>>) -> Result<u64> {
    // Makes the kernel forget the peak so far.
    std::fs::write(format!("/proc/{}/clear_refs", host.pid()), "5")?;
    let before = memory_kib(host, "VmRSS:")?;
    work.await?;
    Ok(memory_kib(host, "VmHWM:")?.saturating_sub(before))
}

fn memory_kib(host: &TestHost, figure: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", host.pid()))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(figure))
        .with_context(|| format!("{figure} is listed"))?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// Waits until the host does nothing: for half a second less than a fifth of a processor.
pub(super) async fn idle(host: &TestHost) -> Result<()> {
    wait_until("the host has nothing to do", PATIENCE, async || {
        let before = ticks(host)?;
        tokio::time::sleep(Duration::from_millis(500)).await;
        // A hundred ticks are a second.
        Ok((ticks(host)? - before < 10).then_some(()))
    })
    .await
}

/// Processor time of the host so far, in ticks.
fn ticks(host: &TestHost) -> Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", host.pid()))?;
    let fields: Vec<&str> = stat.rsplit_once(") ").context("a name")?.1.split(' ').collect();
    let field = |at: usize| Ok::<u64, anyhow::Error>(fields.get(at).context("a field")?.parse()?);
    Ok(field(11)? + field(12)?)
}

/// Sends a signal to a process.
pub(super) fn signal(to: u32, signal: Signal) -> Result<()> {
    Ok(kill_process(pid(to)?, signal)?)
}

fn pid(number: u32) -> Result<Pid> {
    Pid::from_raw(i32::try_from(number)?).context("a process has a number")
}

/// Tells the host to end, and waits until it takes no more connections.
pub(super) async fn told_to_end(host: &TestHost) -> Result<()> {
    let address = host.programs().trim_start_matches("http://").to_owned();
    signal(host.pid(), Signal::TERM)?;
    wait_until("nobody listens any more", PATIENCE, async || {
        Ok(TcpStream::connect(&address).await.is_err().then_some(()))
    })
    .await
}
