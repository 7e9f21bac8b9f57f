//! A number as it was written: `1e400` and integers of any length survive a relay.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::raw::{Kind, Raw};

/// A JSON number, kept as its text.
#[derive(Clone, PartialEq, Eq)]
pub struct Number(Raw);

impl Number {
    /// The number that `raw` is; `None` for any other kind of value.
    pub fn read(raw: Raw) -> Option<Self> {
        (raw.kind() == Kind::Number).then_some(Self(raw))
    }

    /// The nearest double (infinite where the text is beyond it).
    pub fn as_f64(&self) -> f64 {
        self.text().parse().unwrap_or(f64::NAN)
    }

    /// The integer it is, also where it is written `3.0`; `None` where it is none or beyond `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        let (text, float) = (self.text(), self.as_f64());
        let whole = float.fract() == 0.0 && float.abs() < 9.0e15;
        #[expect(clippy::cast_possible_truncation, reason = "whole, and well within 64 bits")]
        text.parse().ok().or_else(|| whole.then_some(float as i64))
    }

    /// The same for what cannot be negative.
    pub fn as_u64(&self) -> Option<u64> {
        self.text().parse().ok().or_else(|| self.as_i64().and_then(|number| number.try_into().ok()))
    }

    /// The number as it was written.
    pub fn text(&self) -> &str {
        std::str::from_utf8(self.0.as_bytes()).expect("a JSON number is ASCII")
    }
}

impl Default for Number {
    fn default() -> Self {
        Self::from(0)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Number {
            fn from(number: $integer) -> Self {
                Self(Raw::of(&number))
            }
        }
    )*};
}
from_integers!(i32, u32, i64, u64, usize);

impl From<f64> for Number {
    /// What JSON has no number for (infinite, not a number) becomes zero.
    fn from(number: f64) -> Self {
        Self(if number.is_finite() { Raw::of(&number) } else { Raw::of(&0) })
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(Raw::deserialize(deserializer)?).ok_or_else(|| de::Error::custom("a number is expected"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_any_type_keep_their_text() {
        for text in ["1e400", "12345678901234567890123", "-0.0", "1.50", "3"] {
            let number: Number = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&number).unwrap(), text);
        }
        let read = |text| serde_json::from_str::<Number>(text).unwrap();
        assert_eq!((read("3.0").as_i64(), read("3.5").as_i64(), read("1e400").as_i64()), (Some(3), None, None));
        assert_eq!((read("18446744073709551615").as_u64(), read("-1").as_u64()), (Some(u64::MAX), None));
        assert!(read("1e400").as_f64().is_infinite() && serde_json::from_str::<Number>("\"1\"").is_err());
    }
}
