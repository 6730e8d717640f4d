//! Pseudo-random numbers that are the same for ever: an interval must not change with a version of some crate.

/// `SplitMix64` (Steele, Lea and Flood 2014): plenty for resampling, useless for secrets.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A sequence of its own for each seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Evenly in `0..below`; 0 when there is nothing below.
    pub fn index(&mut self, below: usize) -> usize {
        let high = (u128::from(self.bits()) * below as u128) >> 64;
        // Always: it is less than `below`.
        usize::try_from(high).unwrap_or(0)
    }
}

/// A seed from a name (FNV-1a), so that each figure has its own sequence whatever is compared beside it.
#[must_use]
pub fn seed_of(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn indices_are_below_their_bound_and_reach_it() {
        let mut random = Random::new(1);
        let seen: std::collections::BTreeSet<_> = (0..1_000).map(|_| random.index(7)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), (0..7).collect::<Vec<_>>());
        assert_eq!(random.index(0), 0);
    }
}
