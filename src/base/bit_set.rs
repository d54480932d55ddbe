//! Sets of small numbers as bits in chunks: a set of few far numbers takes little, one of many is worked on 64 at a time.

use std::ops::{BitAnd, BitOrAssign, Sub};

/// Words of one chunk: a cache line.
const WORDS: usize = 8;

/// Numbers of one chunk.
const BITS: u32 = WORDS as u32 * u64::BITS;

/// 512 numbers that follow each other, at least one of them in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Chunk {
    /// Its first number, divided by [`BITS`].
    at: u32,
    words: [u64; WORDS],
}

impl Chunk {
    /// Joins the words of two chunks; `None` where no bit is left.
    fn with(&self, other: &Self, op: impl Fn(u64, u64) -> u64) -> Option<Self> {
        let mut made = *self;
        for (word, other) in made.words.iter_mut().zip(&other.words) {
            *word = op(*word, *other);
        }
        made.words.iter().any(|word| *word != 0).then_some(made)
    }

    fn iter(&self) -> impl Iterator<Item = u32> + use<> {
        let first = self.at * BITS;
        let words = self.words.into_iter().zip((first..).step_by(64));
        words.flat_map(|(mut word, first)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                let rest = word.checked_sub(1)?;
                word &= rest;
                Some(first + bit)
            })
        })
    }
}

/// A set of numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChunkedBitSet {
    /// In the order of their numbers.
    chunks: Vec<Chunk>,
}

impl ChunkedBitSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Whether a number is in it.
    pub fn contains(&self, number: u32) -> bool {
        let (at, word, bit) = place(number);
        let found = self.find(at).ok().and_then(|index| self.chunks.get(index));
        let word = found.and_then(|chunk| chunk.words.get(word));
        word.is_some_and(|word| word & bit != 0)
    }

    /// Adds a number; whether it was not in it.
    pub fn insert(&mut self, number: u32) -> bool {
        let (at, word, bit) = place(number);
        let index = self.find(at).unwrap_or_else(|index| {
            let words = [0; WORDS];
            self.chunks.insert(index, Chunk { at, words });
            index
        });
        let chunk = self.chunks.get_mut(index);
        let word = chunk.and_then(|chunk| chunk.words.get_mut(word));
        word.is_some_and(|word| {
            let new = *word & bit == 0;
            *word |= bit;
            new
        })
    }

    fn find(&self, at: u32) -> Result<usize, usize> {
        self.chunks.binary_search_by_key(&at, |chunk| chunk.at)
    }

    /// Its numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.chunks.iter().flat_map(Chunk::iter)
    }

    /// Its numbers that are not less than `first`, in order.
    pub fn starting_at(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let before = self.chunks.partition_point(|chunk| chunk.at < first / BITS);
        let chunks = self.chunks.iter().skip(before);
        chunks
            .flat_map(Chunk::iter)
            .skip_while(move |number| *number < first)
    }

    /// Whether all of another set is in it.
    pub fn is_superset(&self, other: &Self) -> bool {
        let mut own = self.chunks.iter();
        other.chunks.iter().all(|chunk| {
            let found = own.find(|own| own.at >= chunk.at);
            let found = found.filter(|own| own.at == chunk.at);
            found.is_some_and(|own| chunk.with(own, |a, b| a & !b).is_none())
        })
    }

    /// Whether nothing of another set is in it.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        let mut others = other.chunks.iter().peekable();
        self.chunks.iter().all(|chunk| {
            while others.next_if(|other| other.at < chunk.at).is_some() {}
            let same = others.next_if(|other| other.at == chunk.at);
            same.is_none_or(|other| chunk.with(other, |a, b| a & b).is_none())
        })
    }

    /// Each chunk of the set with the one of another set, where it has one, in place.
    fn combine(
        &self,
        other: &Self,
        combine: impl Fn(&Chunk, Option<&Chunk>) -> Option<Chunk>,
    ) -> Self {
        let mut others = other.chunks.iter().peekable();
        let chunks = self.chunks.iter().filter_map(|chunk| {
            while others.next_if(|other| other.at < chunk.at).is_some() {}
            combine(chunk, others.next_if(|other| other.at == chunk.at))
        });
        Self {
            chunks: chunks.collect(),
        }
    }
}

/// The chunk of a number, its word there, and its bit.
fn place(number: u32) -> (u32, usize, u64) {
    let within = number % BITS;
    (number / BITS, (within / 64) as usize, 1 << (within % 64))
}

impl BitAnd for &ChunkedBitSet {
    type Output = ChunkedBitSet;

    fn bitand(self, other: Self) -> ChunkedBitSet {
        self.combine(other, |chunk, other| chunk.with(other?, |a, b| a & b))
    }
}

impl Sub for &ChunkedBitSet {
    type Output = ChunkedBitSet;

    fn sub(self, other: Self) -> ChunkedBitSet {
        self.combine(other, |chunk, other| match other {
            Some(other) => chunk.with(other, |a, b| a & !b),
            None => Some(*chunk),
        })
    }
}

impl BitOrAssign<&ChunkedBitSet> for ChunkedBitSet {
    fn bitor_assign(&mut self, other: &Self) {
        let before = self.chunks.len();
        for chunk in &other.chunks {
            let own = self.chunks.get_mut(..before).unwrap_or_default();
            match own.binary_search_by_key(&chunk.at, |own| own.at) {
                Ok(index) => {
                    let own = own.get_mut(index).map(|own| &mut own.words);
                    let words = own.into_iter().flatten().zip(&chunk.words);
                    words.for_each(|(word, other)| *word |= other);
                }
                Err(_) => self.chunks.push(*chunk),
            }
        }
        if self.chunks.len() > before {
            self.chunks.sort_by_key(|chunk| chunk.at);
        }
    }
}

impl Extend<u32> for ChunkedBitSet {
    fn extend<T: IntoIterator<Item = u32>>(&mut self, numbers: T) {
        numbers
            .into_iter()
            .for_each(|number| _ = self.insert(number));
    }
}

impl FromIterator<u32> for ChunkedBitSet {
    fn from_iter<T: IntoIterator<Item = u32>>(numbers: T) -> Self {
        let mut set = Self::new();
        set.extend(numbers);
        set
    }
}
