//! Chance that can be repeated: the same seed and the same name give the same throws.

/// A stream of throws.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    /// The stream `name` of a seed.
    pub(super) fn new(seed: u64, name: u64) -> Self {
        let mut dice = Self(seed ^ name.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        dice.throw();
        dice
    }

    fn throw(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `most`.
    pub(super) fn below(&mut self, most: u64) -> u64 {
        self.throw() % most.max(1)
    }

    /// A number from `least` to `most`.
    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least) + 1)
    }

    /// One of several.
    pub(super) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[usize::try_from(self.below(all.len() as u64)).unwrap_or_default()]
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn the_same_seed_gives_the_same_throws() {
        let throws = |seed, name| {
            let mut dice = Dice::new(seed, name);
            [dice.below(1000), dice.between(5, 9), dice.below(1000)]
        };
        assert_eq!(throws(7, 1), throws(7, 1));
        assert_ne!(throws(7, 1), throws(7, 2));
        assert_ne!(throws(7, 1), throws(8, 1));
        assert!((5..=9).contains(&throws(7, 1)[1]));
    }
}
