//! Objects whose keys the protocol does not fix: an ordered map, each key once.

use std::{borrow::Borrow, fmt, marker::PhantomData};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::words::Key;
use crate::raw::Raw;

/// A map from keys to values in the order they stand; meant for few keys, so looking one up walks it.
#[derive(Clone, PartialEq)]
pub struct Dict<V>(Vec<(Box<str>, V)>);

/// Members of an object that no revision we know declares.
pub type Rest = Dict<Raw>;

/// What `_meta` holds (spec: basic/index).
pub type Meta = Dict<Raw>;

impl<V> Dict<V> {
    /// An empty map.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.0.iter().find(|(known, _)| &**known == key).map(|(_, value)| value)
    }

    /// The value of `key`, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut V> {
        self.0.iter_mut().find(|(known, _)| &**known == key).map(|(_, value)| value)
    }

    /// Sets the value of `key` and returns the one it had.
    pub fn insert(&mut self, key: impl Into<Box<str>>, value: impl Into<V>) -> Option<V> {
        let (key, value) = (key.into(), value.into());
        match self.get_mut(&key) {
            Some(place) => Some(std::mem::replace(place, value)),
            None => {
                self.0.push((key, value));
                None
            }
        }
    }

    /// Takes `key` out.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        let place = self.0.iter().position(|(known, _)| &**known == key)?;
        Some(self.0.remove(place).1)
    }

    /// Keeps what `keep` says yes to.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &V) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }

    /// Keys and values in the order they stand.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// The same, with values to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut V)> {
        self.0.iter_mut().map(|(key, value)| (&**key, value))
    }

    /// Adds a key without looking whether it is there; [`Dict::distinct`] looks once for all.
    pub(crate) fn push(&mut self, key: impl Into<Box<str>>, value: V) {
        self.0.push((key.into(), value));
    }

    pub(crate) fn distinct<E: de::Error>(self) -> Result<Self, E> {
        if self.0.len() > 1 {
            let mut keys: Vec<&str> = self.0.iter().map(|(key, _)| &**key).collect();
            keys.sort_unstable();
            if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(E::custom(format_args!("key {:?} stands twice", pair[0])));
            }
        }
        Ok(self)
    }
}

impl<V> Default for Dict<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: fmt::Debug> fmt::Debug for Dict<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<V, K: Borrow<str>, W: Into<V>> FromIterator<(K, W)> for Dict<V> {
    /// A key that comes twice has its last value.
    fn from_iter<I: IntoIterator<Item = (K, W)>>(pairs: I) -> Self {
        let mut map = Self::new();
        for (key, value) in pairs {
            map.insert(key.borrow(), value);
        }
        map
    }
}

impl<V> IntoIterator for Dict<V> {
    type Item = (Box<str>, V);
    type IntoIter = std::vec::IntoIter<(Box<str>, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<V: Serialize> Serialize for Dict<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Dict<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Walk<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> de::Visitor<'de> for Walk<V> {
            type Value = Dict<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Dict<V>, A::Error> {
                let mut found = Dict::new();
                while let Some(Key(key)) = map.next_key()? {
                    found.push(key, map.next_value()?);
                }
                found.distinct()
            }
        }
        deserializer.deserialize_map(Walk(PhantomData))
    }
}
