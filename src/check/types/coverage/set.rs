//! Sets of answers: numbers from zero on, as ranges.

/// Ranges in order, each from its first number to the one behind its last, with a gap before the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set(Vec<(u32, u32)>);

impl Set {
    /// All numbers below one.
    pub fn below(end: u32) -> Self {
        Self::of([(0, end)])
    }

    /// The numbers of some ranges.
    pub fn of(ranges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut all: Vec<(u32, u32)> = ranges.into_iter().filter(|(a, b)| a < b).collect();
        all.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(all.len());
        for (from, to) in all {
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        Self(merged)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a number is in it.
    pub fn has(&self, number: u32) -> bool {
        let before = self.0.partition_point(|(from, _)| *from <= number);
        let range = before.checked_sub(1).and_then(|at| self.0.get(at));
        range.is_some_and(|(_, to)| number < *to)
    }

    /// The lowest and the highest number in it.
    pub fn ends(&self) -> Option<(u32, u32)> {
        Some((self.0.first()?.0, self.0.last()?.1 - 1))
    }

    /// The only number in it.
    pub fn one(&self) -> Option<u32> {
        let (first, last) = self.ends()?;
        (first == last).then_some(first)
    }

    /// The numbers in it, from below.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|(from, to)| *from..*to)
    }

    /// The lower half of the numbers in it.
    pub fn half(&self) -> Self {
        let mut left: u32 = self
            .0
            .iter()
            .map(|(from, to)| to - from)
            .sum::<u32>()
            .div_ceil(2);
        let lower = self.0.iter().map(|(from, to)| {
            let taken = left.min(to - from);
            left -= taken;
            (*from, from + taken)
        });
        Self::of(lower)
    }

    /// How many ranges it is made of.
    pub fn ranges(&self) -> usize {
        self.0.len()
    }

    /// What is in some of these.
    pub fn either<'a>(sets: impl IntoIterator<Item = &'a Set>) -> Self {
        Self::of(sets.into_iter().flat_map(|set| set.0.iter().copied()))
    }

    /// What is in all of these, of numbers below `end`.
    pub fn common<'a>(sets: impl IntoIterator<Item = &'a Set>, end: u32) -> Self {
        let outside: Vec<Set> = sets.into_iter().map(|set| set.others(end)).collect();
        Self::either(&outside).others(end)
    }

    /// All other numbers below `end`.
    pub fn others(&self, end: u32) -> Self {
        let mut next = 0;
        let mut others = Vec::with_capacity(self.0.len() + 1);
        for (from, to) in &self.0 {
            if next < *from {
                others.push((next, *from));
            }
            next = *to;
        }
        if next < end {
            others.push((next, end));
        }
        Self(others)
    }

    /// What both have.
    pub fn and(&self, other: &Set) -> Self {
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(a), Some(b)) = (mine.peek(), theirs.peek()) {
            let (from, to) = (a.0.max(b.0), a.1.min(b.1));
            if from < to {
                both.push((from, to));
            }
            match a.1 < b.1 {
                true => mine.next(),
                false => theirs.next(),
            };
        }
        Self(both)
    }
}
