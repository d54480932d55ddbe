//! Sets of places that may be few of many.

use thin_vec::ThinVec;

/// An ordered set of numbers, 64 to a word; words without a number take no room.
#[derive(Debug, Clone, Default)]
pub struct Sparse(ThinVec<(u32, u64)>);

impl Sparse {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a number is in it.
    pub fn contains(&self, number: u32) -> bool {
        let found = self.word(number / 64);
        let word = found.ok().and_then(|at| self.0.get(at));
        word.is_some_and(|(_, bits)| bits & (1 << (number % 64)) != 0)
    }

    /// Adds a number.
    pub fn insert(&mut self, number: u32) {
        let bit = 1 << (number % 64);
        match self.word(number / 64) {
            Ok(at) => {
                if let Some((_, bits)) = self.0.get_mut(at) {
                    *bits |= bit;
                }
            }
            Err(at) => self.0.insert(at, (number / 64, bit)),
        }
    }

    fn word(&self, word: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&word, |(at, _)| *at)
    }

    /// Adds all of another set.
    pub fn join(&mut self, other: &Self) {
        if self.has_all(other) {
            return;
        }
        let mut all = ThinVec::with_capacity(self.0.len() + other.0.len());
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let next = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some((a, x)), Some((b, y))) if a == b => {
                    let both = (*a, x | y);
                    left.next();
                    right.next();
                    Some(both)
                }
                (Some((a, _)), Some((b, _))) if a > b => right.next().copied(),
                (None, Some(_)) => right.next().copied(),
                (Some(_), _) => left.next().copied(),
            };
            all.extend(next);
        }
        self.0 = all;
    }

    /// A set of words in order, each with its place.
    pub fn of_words(words: impl Iterator<Item = (u32, u64)>) -> Self {
        Self(words.filter(|(_, bits)| *bits != 0).collect())
    }

    /// This set without another.
    pub fn minus(&self, other: &Self) -> Self {
        Self::of_words(self.words(other, |own, theirs| own & !theirs))
    }

    /// Whether all of another set are in it.
    pub fn has_all(&self, other: &Self) -> bool {
        other
            .words(self, |own, theirs| own & !theirs)
            .all(|(_, bits)| bits == 0)
    }

    /// What is in both, in order.
    pub fn common<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u32> + 'a {
        let words = self.words(other, |own, theirs| own & theirs);
        words.flat_map(|(at, bits)| numbers(at, bits))
    }

    /// Words that are made of this set's and of those that stand in the same places of another.
    fn words<'a>(
        &'a self,
        other: &'a Self,
        make: impl Fn(u64, u64) -> u64 + 'a,
    ) -> impl Iterator<Item = (u32, u64)> + 'a {
        let mut theirs = other.0.iter().peekable();
        self.0.iter().map(move |(at, own)| {
            while theirs.next_if(|(other, _)| other < at).is_some() {}
            let same = theirs.peek().filter(|(other, _)| other == at);
            (*at, make(*own, same.map_or(0, |(_, bits)| *bits)))
        })
    }

    /// The numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|(at, bits)| numbers(*at, *bits))
    }
}

impl FromIterator<u32> for Sparse {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut set = Self::default();
        numbers.into_iter().for_each(|number| set.insert(number));
        set
    }
}

fn numbers(at: u32, bits: u64) -> impl Iterator<Item = u32> {
    let mut left = bits;
    std::iter::from_fn(move || {
        let lowest = left.trailing_zeros();
        left &= left.checked_sub(1)?;
        Some(at * 64 + lowest)
    })
}

#[cfg(test)]
mod tests {
    use super::Sparse;

    #[test]
    fn is_what_an_ordered_set_is() {
        let odd: Sparse = (0..1000).filter(|n| n % 2 == 1).collect();
        let some: Sparse = [5_000, 1, 2, 63, 64, 65, 700].into_iter().collect();
        assert!(some.iter().eq([1, 2, 63, 64, 65, 700, 5_000]));
        assert!(some.common(&odd).eq([1, 63, 65]));
        assert!(some.minus(&odd).iter().eq([2, 64, 700, 5_000]));
        let mut all = odd.clone();
        all.join(&some);
        assert_eq!(all.iter().count(), 504);
        assert!(all.contains(5_000) && all.contains(999) && !all.contains(998));
        all.join(&odd);
        assert_eq!(all.iter().count(), 504);
        assert!(Sparse::default().is_empty());
    }
}
