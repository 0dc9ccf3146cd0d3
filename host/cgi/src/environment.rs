//! A program's environment in one buffer: `NAME=value\0NAME=value\0…`.
//!
//! Owns: the layout. Must not know: which variables there are. One allocation per request, and the very bytes that
//! `execve`, a spawner message or a guest need.

use std::ffi::CStr;

/// An ordered list of variables with unique names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Every variable, in order and without gaps; a replaced value moves what follows it.
    block: Vec<u8>,
    entries: Vec<Entry>,
}

/// Where one variable lies in the block: `start..end` is `NAME=value`, followed by NUL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    start: usize,
    equals: usize,
    end: usize,
}

impl Environment {
    /// An empty environment.
    pub fn new() -> Self {
        Self::default()
    }

    /// A copy that can take `variables` more of `bytes` in all without another allocation.
    pub(crate) fn clone_with_room(&self, variables: usize, bytes: usize) -> Self {
        let mut copy = Self {
            block: Vec::with_capacity(self.block.len().saturating_add(bytes)),
            entries: Vec::with_capacity(self.entries.len().saturating_add(variables)),
        };
        copy.block.extend_from_slice(&self.block);
        copy.entries.extend_from_slice(&self.entries);
        copy
    }

    /// Sets `name`, replacing an earlier value where it stands. A name that is empty or holds `=` or NUL, or a value
    /// that holds NUL, cannot be represented in an environment: nothing is set and `false` is returned.
    pub fn set(&mut self, name: &[u8], value: &[u8]) -> bool {
        match self.position(name) {
            Some(at) => self.replace(at, value),
            None => self.append(name, [value]),
        }
    }

    /// Adds a variable that is known to be new, its value given in pieces. As [`Self::set`], without the search.
    pub(crate) fn append<'v>(&mut self, name: &[u8], value: impl IntoIterator<Item = &'v [u8]>) -> bool {
        debug_assert!(self.position(name).is_none(), "a variable was added twice");
        if name.is_empty() || memchr::memchr2(b'=', 0, name).is_some() {
            return false;
        }
        let start = self.block.len();
        self.block.extend_from_slice(name);
        let equals = self.block.len();
        self.block.push(b'=');
        for piece in value {
            // SECURITY: a NUL would end the variable early and begin another one of the sender's choice.
            if memchr::memchr(0, piece).is_some() {
                self.block.truncate(start);
                return false;
            }
            self.block.extend_from_slice(piece);
        }
        let end = self.block.len();
        self.block.push(0);
        self.entries.push(Entry { start, equals, end });
        true
    }

    fn replace(&mut self, at: usize, value: &[u8]) -> bool {
        if memchr::memchr(0, value).is_some() {
            return false;
        }
        let Some(entry) = self.entries.get_mut(at) else {
            return false;
        };
        let old_end = entry.end;
        let new_end = entry.equals + 1 + value.len();
        self.block
            .splice(entry.equals + 1..old_end, value.iter().copied());
        entry.end = new_end;
        self.shift_from(at + 1, old_end, new_end);
        true
    }

    /// The value of `name`.
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        let entry = self.entries.get(self.position(name)?)?;
        Some(self.parts(*entry).1)
    }

    /// Removes `name`.
    pub fn unset(&mut self, name: &[u8]) {
        if let Some(at) = self.position(name) {
            let gone = self.entries.remove(at);
            self.block.drain(gone.start..=gone.end);
            self.shift_from(at, gone.end + 1, gone.start);
        }
    }

    /// Every variable, in the order in which they were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> + '_ {
        self.entries.iter().map(|entry| self.parts(*entry))
    }

    /// Every variable as `NAME=value`, each ended by a NUL, in order.
    pub fn as_block(&self) -> &[u8] {
        &self.block
    }

    /// Every variable as `NAME=value` with its NUL, in order, without copying.
    pub fn c_strings(&self) -> impl Iterator<Item = &CStr> + '_ {
        self.block
            .split_inclusive(|byte| *byte == 0)
            .filter_map(|entry| CStr::from_bytes_with_nul(entry).ok())
    }

    /// Number of variables.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn position(&self, name: &[u8]) -> Option<usize> {
        self.entries.iter().position(|entry| {
            entry.equals - entry.start == name.len()
                && self
                    .block
                    .get(entry.start..entry.equals)
                    .is_some_and(|known| known == name)
        })
    }

    fn parts(&self, entry: Entry) -> (&[u8], &[u8]) {
        (
            self.block.get(entry.start..entry.equals).unwrap_or_default(),
            self.block.get(entry.equals + 1..entry.end).unwrap_or_default(),
        )
    }

    /// What lay at `from` in the block now lies at `to`: moves the entries from `first` on accordingly.
    fn shift_from(&mut self, first: usize, from: usize, to: usize) {
        for entry in self.entries.iter_mut().skip(first) {
            for place in [&mut entry.start, &mut entry.equals, &mut entry.end] {
                *place = *place - from + to;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn set_replaces_in_place_and_keeps_the_block_contiguous() {
        let mut env = Environment::new();
        assert!(env.set(b"A", b"1"));
        assert!(env.set(b"B", b"2"));
        assert!(env.set(b"AA", b""));
        assert!(env.set(b"A", b"longer"));
        assert!(env.set(b"B", b""));
        assert_eq!(env.as_block(), b"A=longer\0B=\0AA=\0");
        env.unset(b"A");
        env.unset(b"absent");
        assert_eq!(env.as_block(), b"B=\0AA=\0");
        assert_eq!(
            env.iter().collect::<Vec<_>>(),
            [(&b"B"[..], &b""[..]), (b"AA", b"")]
        );
        assert_eq!((env.get(b"AA"), env.get(b"A")), (Some(&b""[..]), None));
    }

    #[test]
    fn what_an_environment_cannot_hold_is_refused_and_leaves_no_trace() {
        let mut env = Environment::new();
        env.set(b"A", b"1");
        for (name, value) in [
            (&b""[..], &b"x"[..]),
            (b"B=C", b"x"),
            (b"B\0", b"x"),
            (b"B", b"x\0D=1"),
            (b"A", b"\0"),
        ] {
            assert!(!env.set(name, value), "{name:?}={value:?}");
        }
        assert!(!env.append(b"B", [&b"fine"[..], b"\0"]));
        assert_eq!(env.as_block(), b"A=1\0");
    }

    #[test]
    fn a_value_may_hold_equals_signs_and_any_other_byte() {
        let mut env = Environment::new();
        assert!(env.set(b"A", b"x=y\xff\n"));
        assert_eq!(env.get(b"A"), Some(&b"x=y\xff\n"[..]));
    }

    proptest! {
        /// Whatever is done, the environment agrees with a plain list, and its block with both.
        #[test]
        fn agrees_with_a_plain_list(ops in proptest::collection::vec(("[ABC]{1,2}", proptest::option::of("[a=]{0,9}")), 0..40)) {
            let mut env = Environment::new();
            let mut model: Vec<(String, String)> = Vec::new();
            for (name, value) in ops {
                let known = model.iter().position(|(n, _)| *n == name);
                match (value, known) {
                    (Some(value), Some(at)) => model[at].1.clone_from(&value),
                    (Some(ref value), None) => model.push((name.clone(), value.clone())),
                    (None, Some(at)) => { model.remove(at); }
                    (None, None) => {}
                }
                match model.iter().find(|(n, _)| *n == name) {
                    Some((_, value)) => { env.set(name.as_bytes(), value.as_bytes()); }
                    None => env.unset(name.as_bytes()),
                }
            }
            let listed: Vec<_> = model.iter().map(|(n, v)| (n.as_bytes(), v.as_bytes())).collect();
            prop_assert_eq!(env.iter().collect::<Vec<_>>(), listed);
            let block: String = model.iter().flat_map(|(n, v)| [n, "=", v, "\0"]).collect();
            prop_assert_eq!(env.as_block(), block.as_bytes());
            let strings: Vec<&[u8]> = env.c_strings().map(CStr::to_bytes_with_nul).collect();
            prop_assert_eq!(strings.len(), model.len());
            prop_assert_eq!(strings.concat(), block.as_bytes());
        }
    }
}
