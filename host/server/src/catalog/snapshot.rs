//! What is served at one moment: every mount, longest prefix first.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use warmbin_cgi::path::strip_mount;

use super::declared::{Refusals, Refused};
use super::directory::Directory;
use super::entry::Entry;

/// What a mount leads to.
#[derive(Debug, Clone)]
pub enum Target {
    /// A registered program.
    Program(Arc<Entry>),
    /// A registered program whose active version cannot be run.
    Broken(Arc<str>),
    /// A folder of drop-in programs.
    Directory(Arc<Directory>),
}

#[derive(Debug)]
struct Mount {
    prefix: String,
    target: Target,
}

/// What is served at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    mounts: Vec<Mount>,
    by_name: HashMap<String, Arc<Entry>>,
    broken: BTreeMap<String, Refused>,
}

impl Snapshot {
    /// Puts the parts in order. Of two targets with the same prefix a program comes before a directory.
    pub fn new(entries: Vec<Arc<Entry>>, broken: Refusals, directories: &[Arc<Directory>]) -> Self {
        let mut mounts = Vec::with_capacity(entries.len() + broken.len() + directories.len());
        let mut by_name = HashMap::with_capacity(entries.len());
        for entry in entries {
            mounts.push(Mount {
                prefix: entry.route.clone(),
                target: Target::Program(Arc::clone(&entry)),
            });
            by_name.insert(entry.name.to_string(), entry);
        }
        for (name, refused) in &broken {
            mounts.push(Mount {
                prefix: refused.route.clone(),
                target: Target::Broken(name.as_str().into()),
            });
        }
        for directory in directories {
            mounts.push(Mount {
                prefix: directory.url().to_owned(),
                target: Target::Directory(Arc::clone(directory)),
            });
        }
        mounts.sort_by_key(|mount| std::cmp::Reverse(mount.prefix.trim_end_matches('/').len()));
        Self {
            mounts,
            by_name,
            broken,
        }
    }

    /// The target for a decoded path: the mount's prefix, what it leads to, and the rest of the path.
    pub fn find<'a, 'p>(&'a self, path: &'p [u8]) -> Option<(&'a str, &'a Target, &'p [u8])> {
        self.mounts.iter().find_map(|mount| {
            let rest = strip_mount(path, &mount.prefix)?;
            Some((mount.prefix.trim_end_matches('/'), &mount.target, rest))
        })
    }

    /// A program by name.
    pub fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.by_name.get(name)
    }

    /// Where a known program that cannot be run would be served, and why it is not.
    pub fn broken(&self, name: &str) -> Option<&Refused> {
        self.broken.get(name)
    }

    /// Whether some known program cannot be run.
    pub fn has_broken(&self) -> bool {
        !self.broken.is_empty()
    }

    /// Every program that can be run, by name.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        let mut entries: Vec<_> = self.by_name.values().cloned().collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries
    }
}
