//! A program's environment in one buffer: `NAME=value\0NAME=value\0…`.
//!
//! One allocation per request, and the very bytes that `execve`, a spawner message or a guest need.

use std::ops::Range;

/// An ordered list of variables with unique names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    block: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    name: Range<usize>,
    value: Range<usize>,
}

impl Environment {
    /// An empty environment.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `name`, replacing an earlier value. A name that is empty or holds `=` or NUL, or a value that holds NUL,
    /// cannot be represented in an environment: nothing is set and `false` is returned.
    pub fn set(&mut self, _name: &[u8], _value: &[u8]) -> bool {
        todo!()
    }

    /// The value of `name`.
    pub fn get(&self, _name: &[u8]) -> Option<&[u8]> {
        todo!()
    }

    /// Removes `name`.
    pub fn unset(&mut self, _name: &[u8]) {
        todo!()
    }

    /// Every variable, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> + '_ {
        self.entries.iter().map(|_| todo!())
    }

    /// Number of variables.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
