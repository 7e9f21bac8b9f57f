//! Chance that repeats itself: the same seed, the same run.

use serde_json::{Map, Value, json};

/// A source of numbers that looks random (splitmix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The source that `seed` names.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; nought where that is nought.
    pub fn below(&mut self, end: usize) -> usize {
        match u64::try_from(end) {
            Ok(end @ 1..) => usize::try_from(self.number() % end).unwrap_or_default(),
            Ok(0) | Err(_) => 0,
        }
    }

    /// True in `permille` of a thousand cases.
    pub fn chance(&mut self, permille: usize) -> bool {
        self.below(1000) < permille
    }

    /// One of `items`.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }

    /// A short text, often an awkward one.
    pub fn text(&mut self) -> String {
        const AWKWARD: [&str; 8] = ["", "\"", "\\", "\n", "}", "ſ", "名", "\u{0}\u{7f}"];
        match self.below(3) {
            0 => (*self.pick(&AWKWARD)).to_owned(),
            _ => (0..self.below(12)).map(|_| char::from(b'a' + u8::try_from(self.below(26)).unwrap_or(0))).collect(),
        }
    }

    /// Any JSON value, at most `depth` levels deep.
    pub fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 5 } else { 7 }) {
            0 => Value::Null,
            1 => json!(self.chance(500)),
            2 => json!(self.number().cast_signed()),
            3 => json!(f64::from(u32::try_from(self.below(1000)).unwrap_or(0)) / 7.0),
            4 => json!(self.text()),
            5 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object(self.object(depth)),
        }
    }

    /// Any JSON object, at most `depth` levels deep; its keys differ by more than letter case.
    pub fn object(&mut self, depth: usize) -> Map<String, Value> {
        let keys: Vec<_> = (0..self.below(5)).map(|place| format!("{place}{}", self.text().to_lowercase())).collect();
        keys.into_iter().map(|key| (key, self.value(depth.saturating_sub(1)))).collect()
    }
}
