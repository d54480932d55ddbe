//! Chance that can be repeated.

use std::hash::{BuildHasher, RandomState};

/// Splitmix64: enough for choosing, the same on every machine.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The chance of one input of a seed.
    pub fn of(seed: u64, input: u64) -> Self {
        let mut chance = Self(seed ^ input.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        chance.next();
        chance
    }

    /// Sixty-four bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `end`; 0 where that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        match end {
            0 => 0,
            end => (self.next() % end as u64) as usize,
        }
    }

    /// True once in `n`.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// A seed that nobody chose.
pub fn seed() -> u64 {
    RandomState::new().hash_one(0) % 1_000_000_000
}
