//! What is known of the state at a place in a flow.

use std::collections::BTreeSet;

use crate::expr::infer::Narrowing;
use crate::ir::{Channel, FieldId, FieldMode};
use crate::resolve::program::{Field, Graph};

/// What is known when a node begins, and changes on the way through it. Only fields that begin
/// without a value are in the two sets, so that both stay small.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Places that are not null.
    pub known: Narrowing,
    /// Fields that lack a value on some way to here, unless something that may write them has.
    pub unsure: BTreeSet<FieldId>,
    /// Those of them that nothing on that way may write.
    pub lacking: BTreeSet<FieldId>,
    /// Fields that lack a value on every way to here.
    pub unset: BTreeSet<FieldId>,
    /// `ephemeral` fields that nothing has written in this super-step: they are cleared behind it.
    pub fading: BTreeSet<FieldId>,
}

impl Facts {
    /// At `start`: fields that don't begin with a value lack one.
    pub fn at_start(graph: &Graph) -> Self {
        let without = graph
            .fields
            .entries()
            .filter(|(_, field)| !begins_set(field));
        let unset: BTreeSet<FieldId> = without.map(|(id, _)| id).collect();
        Self {
            known: Narrowing::new(),
            unsure: unset.clone(),
            lacking: unset.clone(),
            unset,
            fading: BTreeSet::new(),
        }
    }

    /// Takes in another way to the same place.
    pub fn merge(&mut self, other: &Facts) {
        self.known = std::mem::take(&mut self.known).or(&other.known);
        self.unsure.extend(&other.unsure);
        self.lacking.extend(&other.lacking);
        self.unset.retain(|field| other.unset.contains(field));
        self.fading.extend(&other.fading);
    }

    /// Takes in another member of a join: both have come.
    pub fn meet(&mut self, other: &Facts) {
        self.known = std::mem::take(&mut self.known).or(&other.known);
        self.unsure.retain(|field| other.unsure.contains(field));
        self.lacking.retain(|field| other.lacking.contains(field));
        self.unset.retain(|field| other.unset.contains(field));
    }

    /// Notes that a field has been written; `non_null` where its new value is known not to be null. What
    /// else that changes is the business of [`Facts::disturb`].
    pub fn write(&mut self, id: FieldId, field: &Field, non_null: bool) {
        self.touch(id, field);
        // Of a field that is never null there is nothing to know, and the set stays small.
        if non_null && field.ty.node.admits_null() {
            self.known.paths.insert(place(field));
        }
        self.has_value(id);
    }

    /// Notes that a field has been written, whatever its value.
    pub fn has_value(&mut self, id: FieldId) {
        self.unsure.remove(&id);
        self.lacking.remove(&id);
        self.unset.remove(&id);
    }

    /// Takes over which fields have values from another way to the same place.
    pub fn values_of(&mut self, other: &Facts) {
        self.unsure.clone_from(&other.unsure);
        self.lacking.clone_from(&other.lacking);
        self.unset.clone_from(&other.unset);
    }

    /// Notes that a field may have been written, and what is based on it reset.
    pub fn disturb(&mut self, id: FieldId, field: &Field) {
        self.touch(id, field);
        if !self.known.paths.is_empty() {
            for name in &field.resets {
                self.known.forget(&format!("state.{name}"));
            }
        }
    }

    fn touch(&mut self, id: FieldId, field: &Field) {
        if !self.known.paths.is_empty() {
            self.known.forget(&place(field));
        }
        self.unset.remove(&id);
        self.lacking.remove(&id);
        if self.fading.remove(&id) && !has_first_value(field) {
            self.unsure.insert(id);
        }
    }

    /// A super-step ends: what nobody has written is cleared where it is `ephemeral`, and nothing is known of
    /// what a resume would lose. `beside` are fields that other tasks may have written.
    pub fn step_ends(&mut self, graph: &Graph, passing: &[FieldId], beside: &BTreeSet<FieldId>) {
        for id in passing {
            let Some(field) = graph.fields.get(*id) else {
                continue;
            };
            let fades = self.fading.remove(id);
            if fades || field.untracked.is_some() {
                self.known.forget(&place(field));
            }
            if fades && !has_first_value(field) {
                self.unsure.insert(*id);
                if !beside.contains(id) {
                    self.unset.insert(*id);
                }
            }
        }
    }

    /// An unknown number of super-steps goes by.
    pub fn steps_go_by(&mut self, graph: &Graph, passing: &[FieldId]) {
        for id in passing {
            let Some(field) = graph.fields.get(*id) else {
                continue;
            };
            self.fading.remove(id);
            self.known.forget(&place(field));
            if field.ephemeral.is_some() && !has_first_value(field) {
                self.unsure.insert(*id);
            }
        }
    }

    /// What is left of it when other nodes have run in the meantime.
    pub fn later(&self) -> Self {
        Self {
            unsure: self.unsure.clone(),
            lacking: self.lacking.clone(),
            ..Self::default()
        }
    }
}

fn place(field: &Field) -> String {
    format!("state.{}", field.name.node)
}

/// Whether a field has a value before anything is written to it.
pub fn begins_set(field: &Field) -> bool {
    matches!(field.mode, FieldMode::In | FieldMode::InOut) || has_first_value(field)
}

/// Whether a field has a value that it begins with where nobody gives it one.
pub fn has_first_value(field: &Field) -> bool {
    use crate::expr::Type;
    let gathers =
        field.channel.begins_empty() && matches!(field.ty.node, Type::List(_) | Type::Map(_));
    field.default.is_some() || field.ty.node.admits_null() || gathers
}

/// Whether a plain write is the field's value afterwards, so that what is known of the one holds for the other.
pub fn keeps_value(field: &Field, replace: bool) -> bool {
    replace || matches!(field.channel, Channel::Last | Channel::AnyLast)
}
