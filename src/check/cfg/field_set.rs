//! Sets of the fields of one graph.

use fixedbitset::FixedBitSet;

use crate::ir::FieldId;

/// The fields that an analysis follows.
#[derive(Debug, Clone, Default)]
pub struct Tracked(FieldSet);

impl Tracked {
    /// Of a graph with `count` fields, those that `wanted` says.
    pub fn new(count: usize, wanted: impl Fn(FieldId) -> bool) -> Self {
        let mut set = FixedBitSet::with_capacity(count);
        set.extend((0..count).filter(|at| wanted(FieldId(*at as u32))));
        Self(FieldSet(set))
    }

    /// Whether there is nothing to follow.
    pub fn is_empty(&self) -> bool {
        self.0.0.is_clear()
    }

    /// No field.
    pub fn none(&self) -> FieldSet {
        FieldSet(FixedBitSet::with_capacity(self.0.0.len()))
    }

    /// All that are followed.
    pub fn all(&self) -> FieldSet {
        self.0.clone()
    }

    /// Those of some fields that are followed.
    pub fn of(&self, fields: impl IntoIterator<Item = FieldId>) -> FieldSet {
        let mut set = self.none();
        let followed = fields.into_iter().filter(|field| self.0.has(*field));
        set.0.extend(followed.map(|field| field.0 as usize));
        set
    }
}

/// A set of followed fields, a bit each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSet(FixedBitSet);

impl FieldSet {
    /// Whether it holds a field.
    pub fn has(&self, field: FieldId) -> bool {
        self.0.contains(field.0 as usize)
    }

    /// Its fields, in order.
    pub fn list(&self) -> impl Iterator<Item = FieldId> + '_ {
        self.0.ones().map(|at| FieldId(at as u32))
    }

    /// Adds all of another set; whether that added something.
    pub fn join(&mut self, other: &FieldSet) -> bool {
        let more = !other.0.is_subset(&self.0);
        self.0.union_with(&other.0);
        more
    }

    /// Keeps what another set has too.
    pub fn keep(&mut self, other: &FieldSet) {
        self.0.intersect_with(&other.0);
    }

    /// Takes out what another set has.
    pub fn without(&mut self, other: &FieldSet) {
        self.0.difference_with(&other.0);
    }
}
