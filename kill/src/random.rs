//! Numbers that look random and are the same for the same seed.

/// `SplitMix64`: small, and as good as a plan needs.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The numbers of one cycle of one run.
    pub(crate) fn new(seed: u64, cycle: u64) -> Self {
        let mut seeded = Self(seed);
        let mut of_cycle = Self(seeded.next() ^ cycle);
        // Mixed twice: states that are near each other give the same numbers, some places on.
        Self(of_cycle.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// True in `percent` of 100 cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`, which has some.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        let count = u64::try_from(choices.len()).unwrap_or(u64::MAX);
        choices[usize::try_from(self.below(count)).unwrap_or_default()]
    }
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_cycles_share_a_number() {
        let mut seen = HashSet::new();
        for cycle in 0..1000 {
            let mut random = Random::new(7, cycle);
            assert!((0..30).all(|_| seen.insert(random.next())));
        }
    }
}
