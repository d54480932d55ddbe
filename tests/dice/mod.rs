//! Chance for random programs: the same each time.

/// Numbers that look random and are the same each time for the same seed.
pub struct Dice(pub u64);

impl Dice {
    /// A number less than `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % limit
    }

    /// Whether it happens, once in so many times.
    pub fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}
