//! `[[program]]` and `[[directory]]`: a few keys of their own beside the program settings, all in one table.
//!
//! Serde's `flatten` cannot tell unknown keys, so the table is split while it is read: keys of the entry are
//! taken out, the rest goes to [`ProgramSettings`], which refuses what it does not know. Errors keep their
//! place in the file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};

use super::program::ProgramSettings;

/// A `[[program]]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProgramEntry {
    /// Its name.
    pub name: String,
    /// Its native artifact.
    pub native: Option<PathBuf>,
    /// Its module.
    pub wasm: Option<PathBuf>,
    /// Everything else.
    pub settings: ProgramSettings,
}

/// A `[[directory]]`: a folder of drop-in programs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DirectoryEntry {
    /// The URL prefix it is served under.
    pub url: String,
    /// The folder.
    pub path: PathBuf,
    /// Programs that run files, by extension (with its dot).
    pub interpreters: BTreeMap<String, PathBuf>,
    /// Files that answer for their folder.
    pub index: Vec<String>,
    /// What holds for every program in it.
    pub settings: ProgramSettings,
}

/// An entry that takes some keys for itself.
trait OwnKeys: Default {
    /// Whether `key` is one of them.
    fn owns(key: &str) -> bool;
    /// Reads the value of such a key.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;
    /// Where the rest goes.
    fn settings(&mut self) -> &mut ProgramSettings;
}

impl OwnKeys for ProgramEntry {
    fn owns(key: &str) -> bool {
        matches!(key, "name" | "native" | "wasm")
    }

    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "name" => self.name = map.next_value()?,
            "native" => self.native = Some(map.next_value()?),
            _ => self.wasm = Some(map.next_value()?),
        }
        Ok(())
    }

    fn settings(&mut self) -> &mut ProgramSettings {
        &mut self.settings
    }
}

impl OwnKeys for DirectoryEntry {
    fn owns(key: &str) -> bool {
        matches!(key, "url" | "path" | "interpreters" | "index")
    }

    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "url" => self.url = map.next_value()?,
            "path" => self.path = map.next_value()?,
            "interpreters" => self.interpreters = map.next_value()?,
            _ => self.index = map.next_value()?,
        }
        Ok(())
    }

    fn settings(&mut self) -> &mut ProgramSettings {
        &mut self.settings
    }
}

/// A table seen without the keys its entry owns.
struct Rest<'a, E, A> {
    entry: &'a mut E,
    map: A,
}

/// A key: the entry's own, or one for the settings.
enum Key<K, T> {
    Own(String, K),
    Other(T),
}

struct KeySeed<'a, E, K> {
    seed: K,
    entry: std::marker::PhantomData<&'a E>,
}

impl<'de, E: OwnKeys, K: DeserializeSeed<'de>> DeserializeSeed<'de> for KeySeed<'_, E, K> {
    type Value = Key<K, K::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let key = String::deserialize(deserializer)?;
        if E::owns(&key) {
            return Ok(Key::Own(key, self.seed));
        }
        self.seed
            .deserialize(StringDeserializer::new(key))
            .map(Key::Other)
    }
}

impl<'de, E: OwnKeys, A: MapAccess<'de>> MapAccess<'de> for Rest<'_, E, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, mut seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            let wrapped = KeySeed::<'_, E, K> {
                seed,
                entry: std::marker::PhantomData,
            };
            match self.map.next_key_seed(wrapped)? {
                None => return Ok(None),
                Some(Key::Other(value)) => return Ok(Some(value)),
                Some(Key::Own(key, unused)) => {
                    self.entry.take(&key, &mut self.map)?;
                    seed = unused;
                }
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

struct EntryVisitor<E>(E);

impl<'de, E: OwnKeys> Visitor<'de> for EntryVisitor<E> {
    type Value = E;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<E, A::Error> {
        let mut entry = self.0;
        let rest = Rest {
            entry: &mut entry,
            map,
        };
        let settings = ProgramSettings::deserialize(MapAccessDeserializer::new(rest))?;
        *entry.settings() = settings;
        Ok(entry)
    }
}

impl<'de> Deserialize<'de> for ProgramEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntryVisitor(Self::default()))
    }
}

impl<'de> Deserialize<'de> for DirectoryEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntryVisitor(Self::default()))
    }
}
