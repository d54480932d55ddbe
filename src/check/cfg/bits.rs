//! Small sets of the fields of one graph.

use crate::ir::FieldId;

/// The fields that an analysis follows, each with its bit.
#[derive(Debug, Clone, Default)]
pub struct Tracked {
    fields: Vec<FieldId>,
    bit: Vec<Option<u32>>,
}

impl Tracked {
    /// Of a graph with `count` fields, those that `wanted` says.
    pub fn new(count: usize, wanted: impl Fn(FieldId) -> bool) -> Self {
        let ids = (0..count).map(|at| FieldId(at as u32));
        let fields: Vec<FieldId> = ids.filter(|id| wanted(*id)).collect();
        let mut bit = vec![None; count];
        for (at, field) in fields.iter().enumerate() {
            if let Some(slot) = bit.get_mut(field.0 as usize) {
                *slot = Some(at as u32);
            }
        }
        Self { fields, bit }
    }

    /// Whether there is nothing to follow.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// No field.
    pub fn none(&self) -> FieldSet {
        match self.fields.len().div_ceil(64) {
            0 | 1 => FieldSet::One(0),
            words => FieldSet::Many(vec![0; words].into()),
        }
    }

    /// All that are followed.
    pub fn all(&self) -> FieldSet {
        let mut set = self.none();
        self.fields
            .iter()
            .for_each(|field| self.add(&mut set, *field));
        set
    }

    /// Those of some fields that are followed.
    pub fn of(&self, fields: impl IntoIterator<Item = FieldId>) -> FieldSet {
        let mut set = self.none();
        fields
            .into_iter()
            .for_each(|field| self.add(&mut set, field));
        set
    }

    /// Puts a field into a set, where it is followed.
    pub fn add(&self, set: &mut FieldSet, field: FieldId) {
        if let Some((word, mask)) = self.at(field)
            && let Some(word) = set.words_mut().get_mut(word)
        {
            *word |= mask;
        }
    }

    /// Whether a set holds a field.
    pub fn has(&self, set: &FieldSet, field: FieldId) -> bool {
        self.at(field)
            .and_then(|(word, mask)| Some(set.words().get(word)? & mask != 0))
            .unwrap_or(false)
    }

    /// The fields of a set, in order.
    pub fn list<'a>(&'a self, set: &'a FieldSet) -> impl Iterator<Item = FieldId> + 'a {
        self.fields
            .iter()
            .copied()
            .filter(|field| self.has(set, *field))
    }

    fn at(&self, field: FieldId) -> Option<(usize, u64)> {
        let bit = self.bit.get(field.0 as usize).copied().flatten()?;
        Some((bit as usize / 64, 1 << (bit % 64)))
    }
}

/// A set of followed fields, a bit each. Most graphs have few, and each way of each node has a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldSet {
    /// Of up to 64.
    One(u64),
    /// Of more, 64 a word.
    Many(Box<[u64]>),
}

impl FieldSet {
    fn words(&self) -> &[u64] {
        match self {
            Self::One(word) => std::slice::from_ref(word),
            Self::Many(words) => words,
        }
    }

    fn words_mut(&mut self) -> &mut [u64] {
        match self {
            Self::One(word) => std::slice::from_mut(word),
            Self::Many(words) => words,
        }
    }

    /// Adds all of another set; whether that added something.
    pub fn join(&mut self, other: &FieldSet) -> bool {
        let mut more = false;
        for (word, other) in self.words_mut().iter_mut().zip(other.words()) {
            more |= *other & !*word != 0;
            *word |= other;
        }
        more
    }

    /// Keeps what another set has too.
    pub fn keep(&mut self, other: &FieldSet) {
        for (word, other) in self.words_mut().iter_mut().zip(other.words()) {
            *word &= other;
        }
    }

    /// Takes out what another set has.
    pub fn without(&mut self, other: &FieldSet) {
        for (word, other) in self.words_mut().iter_mut().zip(other.words()) {
            *word &= !other;
        }
    }
}
