//! What of a state is stale: which fields were made from others that have been written since.
//!
//! A field that `based_on` names others counts as made once it is written. From then on each write of what
//! it was made from, directly or through others, is noted against it, until it is written anew. What one task
//! writes in one super-step is made together and makes none of it stale.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::IdVec;
use crate::ir::{Field, FieldId};

/// For each field that a write makes stale, or resets, what that is: of a graph, ready to run.
#[derive(Debug, Clone, Default)]
pub struct BasedPlan {
    /// Fields based on a field, directly or not.
    dependents: BTreeMap<FieldId, Vec<FieldId>>,
    /// Fields that are based on others.
    based: BTreeSet<FieldId>,
    /// Those of them that go back to their first value instead of becoming stale.
    resets: BTreeSet<FieldId>,
}

impl BasedPlan {
    /// From what the fields of a graph say.
    pub fn new(fields: &IdVec<FieldId, Field>) -> Self {
        let mut plan = Self::default();
        let mut direct: BTreeMap<FieldId, Vec<FieldId>> = BTreeMap::new();
        for (id, field) in fields.entries() {
            let Some(based_on) = &field.based_on else {
                continue;
            };
            plan.based.insert(id);
            if based_on.reset {
                plan.resets.insert(id);
            }
            for on in &based_on.on {
                direct.entry(*on).or_default().push(id);
            }
        }
        for field in direct.keys() {
            let mut found = BTreeSet::new();
            let mut open = vec![*field];
            while let Some(at) = open.pop() {
                let next = direct.get(&at).into_iter().flatten();
                open.extend(next.filter(|id| found.insert(**id)).copied());
            }
            plan.dependents.insert(*field, found.into_iter().collect());
        }
        plan
    }

    /// Whether no field is based on another.
    pub fn is_empty(&self) -> bool {
        self.based.is_empty()
    }

    /// Fields that a write to this one makes stale or resets.
    fn dependents(&self, of: FieldId) -> &[FieldId] {
        self.dependents.get(&of).map_or(&[], Vec::as_slice)
    }

    /// Fields that a write to this one resets.
    pub fn resets(&self, of: FieldId) -> impl Iterator<Item = FieldId> {
        let dependents = self.dependents(of).iter().copied();
        dependents.filter(|id| self.resets.contains(id))
    }

    /// Whether a write to `from` makes `field` stale.
    pub fn cascades(&self, from: FieldId, field: FieldId) -> bool {
        self.dependents(from).contains(&field)
    }
}

/// What of one state is stale.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Freshness {
    /// For each field that has been made: what was written since.
    pub made: BTreeMap<FieldId, BTreeSet<FieldId>>,
}

/// Who wrote a field in a super-step: the positions of the tasks.
#[derive(Debug, Clone, Default)]
pub struct Writers(BTreeMap<FieldId, BTreeSet<usize>>);

impl Writers {
    /// Notes that a task wrote fields.
    pub fn note(&mut self, task: usize, fields: impl Iterator<Item = FieldId>) {
        for field in fields {
            self.0.entry(field).or_default().insert(task);
        }
    }
}

impl Freshness {
    /// Notes the writes of a super-step. Gives back the fields that go back to their first value.
    pub fn commit(&mut self, plan: &BasedPlan, writers: &Writers) -> BTreeSet<FieldId> {
        for field in writers.0.keys().filter(|field| plan.based.contains(field)) {
            self.made.insert(*field, BTreeSet::new());
        }
        let mut reset = BTreeSet::new();
        for (field, by) in &writers.0 {
            for dependent in plan.dependents(*field) {
                let together = writers.0.get(dependent);
                let apart = by
                    .iter()
                    .any(|task| together.is_none_or(|tasks| !tasks.contains(task)));
                match self.made.get_mut(dependent) {
                    Some(_) if apart && plan.resets.contains(dependent) => {
                        reset.insert(*dependent);
                    }
                    Some(since) if apart => {
                        since.insert(*field);
                    }
                    _ => {}
                }
            }
        }
        for field in &reset {
            self.made.remove(field);
        }
        reset
    }
}
