//! A value, or an array of them: both mean the same, and what was written is kept.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::raw::{Kind, Raw};

/// One value or an array of them (spec: client/sampling, `content`).
#[derive(Clone, Debug, PartialEq)]
pub enum OneOrMany<T> {
    /// Written bare.
    One(Box<T>),
    /// Written as an array.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// All of them.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }

    /// All of them, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        match self {
            Self::One(value) => std::slice::from_mut(value),
            Self::Many(values) => values,
        }
    }

    /// All of them, taken.
    pub fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(value) => vec![*value],
            Self::Many(values) => values,
        }
    }
}

impl<T> From<T> for OneOrMany<T> {
    fn from(value: T) -> Self {
        Self::One(Box::new(value))
    }
}

impl<T> From<Vec<T>> for OneOrMany<T> {
    fn from(values: Vec<T>) -> Self {
        Self::Many(values)
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(value) => value.serialize(serializer),
            Self::Many(values) => values.serialize(serializer),
        }
    }
}

impl<'de, T: de::DeserializeOwned> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        if raw.kind() == Kind::Array { raw.read().map(Self::Many) } else { raw.read().map(Self::One) }
            .map_err(de::Error::custom)
    }
}
