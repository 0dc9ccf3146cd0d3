//! The ready instances of one program.
//!
//! Owns counting and keeping. Must not know how instances are made or run. An instance leaves the pool once and never
//! comes back: no instance serves two requests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use crate::wasm::instance::Instance;
use crate::wasm::policy::{self, Demand};
use crate::wasm::stdio::lock;
use crate::wasm::warm::{PoolSettings, PoolStatus};

/// Ready instances of one program and the demand for them.
#[derive(Debug)]
pub(super) struct Pool {
    settings: PoolSettings,
    state: Mutex<State>,
    hits: AtomicU64,
    misses: AtomicU64,
    made: AtomicU64,
    making_nanos: AtomicU64,
}

#[derive(Debug)]
struct State {
    /// The freshest is last.
    ready: Vec<Instance>,
    /// Being made, on their way into `ready`.
    making: u32,
    busy: u32,
    demand: Demand,
}

/// A request of the program runs; it counts as busy until this is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    pool: Arc<Pool>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = lock(&self.pool.state);
        state.busy = state.busy.saturating_sub(1);
    }
}

/// The right to make one instance for the pool.
#[derive(Debug)]
pub(super) struct Claim<'a> {
    pool: &'a Pool,
    since: Instant,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.pool.state);
        state.making = state.making.saturating_sub(1);
    }
}

impl Claim<'_> {
    /// Puts the instance that was made into the pool.
    pub(super) fn fill(self, instance: Instance) {
        let took = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.pool.made.fetch_add(1, Ordering::Relaxed);
        self.pool.making_nanos.fetch_add(took, Ordering::Relaxed);
        lock(&self.pool.state).ready.push(instance);
    }
}

impl Pool {
    /// An empty pool.
    pub(super) fn new(settings: PoolSettings) -> Self {
        Self {
            settings,
            state: Mutex::new(State {
                ready: Vec::new(),
                making: 0,
                busy: 0,
                demand: Demand::new(Instant::now()),
            }),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            made: AtomicU64::new(0),
            making_nanos: AtomicU64::new(0),
        }
    }

    /// Begins a request: counts it, and hands out an instance if one is ready. The freshest comes first; the others
    /// age until they are surplus.
    pub(super) fn check_out(self: &Arc<Self>) -> (Option<Instance>, Lease) {
        let mut state = lock(&self.state);
        state.busy += 1;
        let busy = state.busy;
        state.demand.observe(Instant::now(), busy);
        let instance = state.ready.pop();
        drop(state);
        let counter = if instance.is_some() {
            &self.hits
        } else {
            &self.misses
        };
        counter.fetch_add(1, Ordering::Relaxed);
        (
            instance,
            Lease {
                pool: Arc::clone(self),
            },
        )
    }

    /// The right to make an instance, if one is wanted. Dropped without [`Claim::fill`], it is given back.
    pub(super) fn claim(&self) -> Option<Claim<'_>> {
        let since = Instant::now();
        let mut state = lock(&self.state);
        let peak = state.demand.peak(since);
        let coming = count(state.ready.len()).saturating_add(state.making);
        if coming >= policy::target(peak, self.settings) {
            return None;
        }
        state.making += 1;
        Some(Claim { pool: self, since })
    }

    /// Takes the instances beyond the target out, oldest first.
    pub(super) fn surplus(&self) -> Vec<Instance> {
        let mut state = lock(&self.state);
        let peak = state.demand.peak(Instant::now());
        let target = usize::try_from(policy::target(peak, self.settings)).unwrap_or(usize::MAX);
        let beyond = state.ready.len().saturating_sub(target);
        state.ready.drain(..beyond).collect()
    }

    /// Gives up the oldest instance.
    fn give_up(&self) -> Option<Instance> {
        let mut state = lock(&self.state);
        if state.ready.is_empty() {
            None
        } else {
            Some(state.ready.remove(0))
        }
    }

    fn ready(&self) -> usize {
        lock(&self.state).ready.len()
    }

    /// What the dashboard shows.
    pub(super) fn status(&self) -> PoolStatus {
        let mut state = lock(&self.state);
        let peak = state.demand.peak(Instant::now());
        let made = self.made.load(Ordering::Relaxed);
        let nanos = self.making_nanos.load(Ordering::Relaxed);
        PoolStatus {
            target: policy::target(peak, self.settings),
            ready: count(state.ready.len()),
            busy: state.busy,
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            refill: nanos.checked_div(made).map(Duration::from_nanos),
        }
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The pools of all programs, for what concerns them together.
#[derive(Debug, Default)]
pub(super) struct Pools {
    pools: Mutex<Vec<Weak<Pool>>>,
}

impl Pools {
    /// Adds a pool; it leaves when its program is dropped.
    pub(super) fn add(&self, pool: &Arc<Pool>) {
        let mut pools = lock(&self.pools);
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Arc::downgrade(pool));
    }

    /// Takes out what the pools no longer need.
    pub(super) fn surplus(&self) -> Vec<Instance> {
        self.all().iter().flat_map(|pool| pool.surplus()).collect()
    }

    /// Takes one instance from the fullest pool, so that its place can go to a request.
    pub(super) fn reclaim(&self) -> Option<Instance> {
        self.all().into_iter().max_by_key(|pool| pool.ready())?.give_up()
    }

    fn all(&self) -> Vec<Arc<Pool>> {
        lock(&self.pools).iter().filter_map(Weak::upgrade).collect()
    }
}
