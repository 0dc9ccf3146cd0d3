//! What can be run right now: a snapshot of every program's active version, loaded, with its route.
//!
//! Requests read the snapshot without locking out writers; a change builds a new one and swaps it, so a request sees
//! either the old version or the new one, whole.

use std::sync::Arc;

use warmbin_exec::{Mode, Runnable};

use crate::config::ProgramSettings;

/// One program, ready to be run.
#[derive(Debug)]
pub struct Entry {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is served.
    pub route: String,
    /// The active version.
    pub version: Option<u32>,
    /// What executors run.
    pub runnable: Arc<Runnable>,
    /// Its settings.
    pub settings: Arc<ProgramSettings>,
    /// The mode used when a request names none.
    pub default_mode: Mode,
    // prepared MetaVariables, limits, concurrency slots, in-flight counter follow
}

/// The programs of this host.
#[derive(Debug)]
pub struct Catalog {}

impl Catalog {
    /// A program by name.
    pub fn get(&self, _name: &str) -> Option<Arc<Entry>> {
        todo!()
    }

    /// Why the active version of a known program cannot be run, if it cannot.
    pub fn problem(&self, _name: &str) -> Option<String> {
        todo!()
    }

    /// Every program that can be run, by name.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        todo!()
    }

    /// Reads the store's programs and swaps in a snapshot that agrees with it. Versions that did not change keep their loaded artifacts
    /// and pools. A version that cannot be loaded becomes a problem of that program alone.
    pub async fn reload(&self) -> Result<(), warmbin_store::StoreError> {
        todo!()
    }
}
