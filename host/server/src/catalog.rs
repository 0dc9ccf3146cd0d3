//! What can be run right now: a snapshot of every program's active version, loaded, with its route.
//!
//! Requests read the snapshot without locking out writers; a change builds a new one and swaps it, so a
//! request sees either the old version or the new one, whole.

pub mod declared;
pub mod directory;
pub mod entry;
mod load;
pub mod slots;
pub mod snapshot;

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use warmbin_exec::wasm::WasmHost;
use warmbin_store::{Program, Store, StoreError};

use crate::config::{Config, Inherited, ProgramSettings};

pub use declared::{Refusals, Refused};
pub use directory::{Directory, Found};
pub use entry::Entry;
pub use slots::{Overloaded, Slot};
pub use snapshot::{Snapshot, Target};

/// How often the store is asked whether another process changed programs.
const WATCH_EVERY: Duration = Duration::from_millis(500);

/// How often programs that could not be loaded are tried again: what was in the way (no descriptors, a file that was
/// not there yet) may be gone.
const RETRY_BROKEN: Duration = Duration::from_secs(30);

/// The programs of this host.
#[derive(Debug)]
pub struct Catalog {
    store: Arc<dyn Store>,
    wasm: Arc<WasmHost>,
    inherited: Inherited,
    /// The folder of documents: every program's `DOCUMENT_ROOT`, if there is one.
    documents: Option<PathBuf>,
    directories: Vec<Arc<Directory>>,
    snapshot: RwLock<Arc<Snapshot>>,
    /// What the configuration declares and could not be taken over: until the next start, nothing changes that.
    refusals: Refusals,
    /// The generation of the store that the snapshot agrees with.
    generation: AtomicI64,
    /// Held while a snapshot is built, so that an older one never replaces a newer one.
    reloading: tokio::sync::Mutex<()>,
}

impl Catalog {
    /// A catalog without registered programs; [`Self::reload`] brings them in. `refusals`: the declared ones that
    /// could not be taken over.
    pub fn new(config: &Config, store: Arc<dyn Store>, wasm: Arc<WasmHost>, refusals: Refusals) -> Self {
        let directories: Vec<_> = config
            .directories
            .iter()
            .map(|entry| {
                Arc::new(Directory::new(
                    entry.clone(),
                    &config.inherited,
                    config.documents.as_deref(),
                    Arc::clone(&wasm),
                ))
            })
            .collect();
        Self {
            snapshot: RwLock::new(Arc::new(Snapshot::new(Vec::new(), Refusals::new(), &directories))),
            inherited: config.inherited.clone(),
            documents: config.documents.clone(),
            generation: AtomicI64::new(i64::MIN),
            reloading: tokio::sync::Mutex::default(),
            store,
            wasm,
            directories,
            refusals,
        }
    }

    /// What is served now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A program by name.
    pub fn get(&self, name: &str) -> Option<Arc<Entry>> {
        self.snapshot().get(name).cloned()
    }

    /// What is wrong with a known program: its active version cannot be run, or what the configuration declares
    /// could not be taken over and an older version is run instead.
    pub fn problem(&self, name: &str) -> Option<String> {
        let snapshot = self.snapshot();
        let problem = snapshot.broken(name).or_else(|| self.refusals.get(name));
        problem.map(|refused| refused.problem.clone())
    }

    /// The programs that the configuration declares and that could not be taken over, by name.
    pub fn refused(&self) -> impl Iterator<Item = &str> {
        self.refusals.keys().map(String::as_str)
    }

    /// Every program that can be run, by name.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.snapshot().entries()
    }

    /// The longest time that any program has between TERM and KILL.
    pub fn longest_grace(&self) -> Duration {
        let programs = self
            .entries()
            .into_iter()
            .map(|entry| entry.policy.limits.grace.0);
        let folders = self
            .directories
            .iter()
            .map(|folder| folder.policy().limits.grace.0);
        programs
            .chain(folders)
            .max()
            .unwrap_or(self.inherited.limits.grace.0)
    }

    /// Fills every program's warm pool to its target: one that was emptied for others' sake, or found no place when
    /// it was loaded, is not left empty until a request misses.
    async fn keep_warm(&self) {
        for entry in self.entries() {
            if let Some(module) = &entry.runnable.wasm {
                module.warm().await;
            }
        }
    }

    /// Reads the store's programs and swaps in a snapshot that agrees with it. Versions that did not change
    /// keep their loaded artifacts and pools. A version that cannot be loaded becomes a problem of that
    /// program alone.
    pub async fn reload(&self) -> Result<(), StoreError> {
        let _building = self.reloading.lock().await;
        // The generation is read first: a change in between is then seen as a new one.
        let generation = self.store.programs_generation().await?;
        let programs = self.store.programs().await?;
        let before = self.snapshot();
        let mut entries = Vec::with_capacity(programs.len());
        let mut broken = Refusals::new();
        for program in &programs {
            match self.entry(program, &before).await {
                Some(Ok(entry)) => entries.push(entry),
                Some(Err(refused)) => {
                    let (name, problem) = (program.name.as_str(), &refused.problem);
                    tracing::warn!(
                        target: "warmbin",
                        { program.name = name },
                        "{name} cannot be run: {problem}"
                    );
                    broken.insert(program.name.clone(), refused);
                }
                None => {}
            }
        }
        for (name, refused) in &self.refusals {
            if !entries.iter().any(|entry| &*entry.name == name) && !broken.contains_key(name) {
                broken.insert(name.clone(), refused.clone());
            }
        }
        let after = Arc::new(Snapshot::new(entries, broken, &self.directories));
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = after;
        self.generation.store(generation, Ordering::Release);
        Ok(())
    }

    /// The entry of a program's active version; none if no version is active.
    async fn entry(&self, program: &Program, before: &Snapshot) -> Option<Result<Arc<Entry>, Refused>> {
        let active = program.active?;
        let Some(version) = program.versions.iter().find(|version| version.number == active) else {
            let route = load::route(&program.name, None);
            let problem = format!("its active version {active} does not exist");
            return Some(Err(Refused { route, problem }));
        };
        let known = before.get(&program.name);
        if let Some(entry) = known
            && entry.version == Some(active)
            && entry.version_created_at == version.created_at
        {
            return Some(Ok(Arc::clone(entry)));
        }
        let slots = known.map(|entry| Arc::clone(&entry.slots));
        let given = load::Given {
            inherited: &self.inherited,
            documents: self.documents.as_deref(),
            wasm: &self.wasm,
        };
        match load::load(program, version, &given, slots).await {
            Ok(entry) => {
                if let Some(warning) = entry::mode_warning(&entry) {
                    tracing::warn!(target: "warmbin", { program.name = program.name }, "{warning}");
                }
                Some(Ok(Arc::new(entry)))
            }
            Err(problem) => {
                let settings = ProgramSettings::from_json(&version.settings).ok();
                let route = load::route(&program.name, settings.as_ref());
                Some(Err(Refused { route, problem }))
            }
        }
    }

    /// Follows changes that other processes make to the store, tries programs again that could not be loaded, and
    /// keeps pools filled, for ever.
    pub async fn follow(&self) {
        let mut tick = tokio::time::interval(WATCH_EVERY);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut reloaded = Instant::now();
        loop {
            tick.tick().await;
            self.keep_warm().await;
            let again = reloaded.elapsed() >= RETRY_BROKEN && self.snapshot().has_broken();
            let outcome = match self.store.programs_generation().await {
                Ok(generation) if generation == self.generation.load(Ordering::Acquire) && !again => continue,
                Ok(_) => self.reload().await,
                Err(error) => Err(error),
            };
            reloaded = Instant::now();
            if let Err(error) = outcome {
                tracing::warn!(target: "store", "cannot read the programs: {error}");
            }
        }
    }
}
