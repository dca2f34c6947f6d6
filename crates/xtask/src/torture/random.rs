//! Repeatable choices: the same seed and the same place in the run give the same choice (splitmix64).

/// A stream of choices.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// Returns the stream of a seed and of what it is for.
    pub(super) fn new(seed: u64, purpose: &[u64]) -> Self {
        let mut random = Self(seed);
        for part in purpose {
            random.0 = random.next() ^ part;
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below the bound, 0 for the bound 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }

    /// Returns a number from the first to the last, both included.
    pub(super) fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last.saturating_sub(first) + 1)
    }

    /// Returns true that often in a hundred.
    pub(super) fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_place_gives_the_same_choices_and_another_place_others() {
        let choices = |purpose: &[u64]| {
            let mut random = Random::new(7, purpose);
            [0; 8].map(|_| random.below(1000))
        };
        assert_eq!(choices(&[1, 2]), choices(&[1, 2]));
        assert_ne!(choices(&[1, 2]), choices(&[2, 1]));
        assert_ne!(choices(&[1]), choices(&[1, 0]));
    }

    #[test]
    fn choices_stay_in_their_bounds_and_reach_them() {
        let mut random = Random::new(1, &[]);
        let seen: std::collections::BTreeSet<u64> = (0..200).map(|_| random.between(2, 4)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(random.below(0), 0);
        assert!(!random.percent(0) && random.percent(100));
    }
}
