//! What is known of the state at a place in a flow.

use crate::base::{AccessPath, SharedSet};
use crate::expr::infer::{Known, Narrowing};
use crate::ir::{Channel, FieldId, FieldMode};
use crate::resolve::program::{Field, Graph};

/// What is known when a node begins, and changes on the way through it. Each place has its own, and shares with
/// the one before it what is the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlowState {
    /// Places that are not null.
    pub known: Narrowing,
    /// Fields that some way to here does not surely write: they can't be read.
    pub unassigned: SharedSet<FieldId>,
    /// Those of them that nothing writes on any way to here.
    pub unset: SharedSet<FieldId>,
    /// `ephemeral` fields that nothing has written in this super-step: they are cleared behind it.
    pub fading: SharedSet<FieldId>,
}

impl FlowState {
    /// At `start`: fields that don't begin with a value lack one.
    pub fn at_start(graph: &Graph) -> Self {
        let without = graph
            .fields
            .entries()
            .filter(|(_, field)| !begins_set(field));
        let unset: SharedSet<FieldId> = without.map(|(id, _)| id).collect();
        Self {
            known: Narrowing::new(),
            unassigned: unset.clone(),
            unset,
            fading: SharedSet::new(),
        }
    }

    /// Takes in another way to the same place.
    pub fn merge(&mut self, other: &FlowState) {
        self.known = std::mem::take(&mut self.known).or(&other.known);
        self.unassigned.join(&other.unassigned);
        self.unset.keep(&other.unset);
        self.fading.join(&other.fading);
    }

    /// Takes in another member of a join: both have come, so what either has written is there.
    pub fn meet(&mut self, other: &FlowState) {
        self.known = std::mem::take(&mut self.known).or(&other.known);
        self.unassigned.keep(&other.unassigned);
        self.unset.keep(&other.unset);
    }

    /// Notes that a field has been written; `non_null` where its new value is known not to be null. What
    /// else that changes is the business of [`FlowState::disturb`].
    pub fn write(&mut self, id: FieldId, field: &Field, non_null: bool) {
        self.touch(id, field);
        // Of a field that is never null there is nothing to know, and the set stays small.
        if non_null && field.ty.node.admits_null() {
            self.known.note(place(field), Known::NotNull);
        }
        self.has_value(id);
    }

    /// Notes that a field has been written, whatever its value.
    pub fn has_value(&mut self, id: FieldId) {
        self.unassigned.remove(&id);
        self.unset.remove(&id);
    }

    /// Takes over which fields have values from another way to the same place.
    pub fn values_of(&mut self, other: &FlowState) {
        self.unassigned.clone_from(&other.unassigned);
        self.unset.clone_from(&other.unset);
    }

    /// Notes that a field may have been written, and what is based on it reset.
    pub fn disturb(&mut self, id: FieldId, field: &Field) {
        self.touch(id, field);
        if !self.known.is_empty() {
            for name in &field.resets {
                self.known.forget(&AccessPath::of_state(name));
            }
        }
    }

    /// The same of all fields that other tasks may write.
    pub fn disturb_all(&mut self, graph: &Graph, passing: &Passing, written: &SharedSet<FieldId>) {
        self.disturb_values(passing, written);
        if self.known.is_empty() {
            return;
        }
        for field in written.iter().filter_map(|id| graph.fields.get(*id)) {
            self.known.forget(&place(field));
            for name in &field.resets {
                self.known.forget(&AccessPath::of_state(name));
            }
        }
    }

    /// Notes that fields may have got values.
    fn disturb_values(&mut self, passing: &Passing, written: &SharedSet<FieldId>) {
        if written.is_empty() {
            return;
        }
        self.unset.without(written);
        let mut faded = self.fading.clone();
        faded.keep(written);
        self.fading.without(written);
        faded.keep(&passing.blank);
        self.unassigned.join(&faded);
    }

    fn touch(&mut self, id: FieldId, field: &Field) {
        if !self.known.is_empty() {
            self.known.forget(&place(field));
        }
        self.unset.remove(&id);
        if self.fading.remove(&id) && !has_first_value(field) {
            self.unassigned.insert(id);
        }
    }

    /// A super-step ends: what nobody has written is cleared where it is `ephemeral`, and nothing is known of
    /// what a resume would lose. `beside` are fields that other tasks may have written.
    pub fn step_ends(&mut self, graph: &Graph, passing: &Passing, beside: &SharedSet<FieldId>) {
        if passing.all.is_empty() {
            return;
        }
        let fades = std::mem::take(&mut self.fading);
        self.forget_all(graph, &fades, &passing.untracked);
        let mut blank = fades;
        blank.keep(&passing.blank);
        self.unassigned.join(&blank);
        blank.without(beside);
        self.unset.join(&blank);
    }

    /// An unknown number of super-steps goes by.
    pub fn steps_go_by(&mut self, graph: &Graph, passing: &Passing) {
        if passing.all.is_empty() {
            return;
        }
        self.fading = SharedSet::new();
        self.forget_all(graph, &passing.all, &[]);
        self.unassigned.join(&passing.blank);
    }

    /// Nothing is known of these fields any more.
    fn forget_all(&mut self, graph: &Graph, some: &SharedSet<FieldId>, others: &[FieldId]) {
        let known: Vec<&AccessPath> = self.known.places().take(FEW + 1).collect();
        if known.len() > FEW {
            let all = some.iter().chain(others);
            for field in all.filter_map(|id| graph.fields.get(*id)) {
                self.known.forget(&place(field));
            }
            return;
        }
        // Of little that is known it is cheaper to ask what it is made of.
        let names = known.iter().filter_map(|place| place.field_of("state"));
        let ids = names.filter_map(|name| graph.field(name));
        let gone = ids.filter(|id| some.contains(id) || others.contains(id));
        let gone: Vec<FieldId> = gone.collect();
        for field in gone.iter().filter_map(|id| graph.fields.get(*id)) {
            self.known.forget(&place(field));
        }
    }

    /// What is left of it when other nodes have run in the meantime.
    pub fn later(&self) -> Self {
        Self {
            unassigned: self.unassigned.clone(),
            ..Self::default()
        }
    }
}

/// So many places are little to know.
const FEW: usize = 16;

/// The fields of a graph of which not all is kept from step to step.
#[derive(Debug, Clone, Default)]
pub struct Passing {
    /// All of them.
    pub all: SharedSet<FieldId>,
    /// Those that are `ephemeral`.
    pub ephemeral: SharedSet<FieldId>,
    /// Those of them that have no value when they are cleared.
    blank: SharedSet<FieldId>,
    /// Those that are `untracked`.
    untracked: Vec<FieldId>,
}

impl Passing {
    /// Finds them.
    pub fn of(graph: &Graph) -> Self {
        let mut passing = Self::default();
        for (id, field) in graph.fields.entries() {
            if field.ephemeral.is_some() {
                passing.ephemeral.insert(id);
                if !has_first_value(field) {
                    passing.blank.insert(id);
                }
            }
            if field.untracked.is_some() {
                passing.untracked.push(id);
            }
            if field.ephemeral.is_some() || field.untracked.is_some() {
                passing.all.insert(id);
            }
        }
        passing
    }
}

fn place(field: &Field) -> AccessPath {
    AccessPath::of_state(&field.name.node)
}

/// Whether a field has a value before anything is written to it.
pub fn begins_set(field: &Field) -> bool {
    // That a reducer finds no value is reported where the field is declared.
    given(field) || has_first_value(field) || gathers_unset(field)
}

fn given(field: &Field) -> bool {
    matches!(field.mode, FieldMode::In | FieldMode::InOut)
}

/// Whether a field begins without a value, and has a reducer of its own, which asks for that.
pub fn gathers_unset(field: &Field) -> bool {
    let own = matches!(field.channel, Channel::Own { .. });
    own && field.based_on.is_none() && !given(field) && !has_first_value(field)
}

/// Whether a field has a value that it begins with where nobody gives it one.
pub fn has_first_value(field: &Field) -> bool {
    field.default.is_some() || field.channel.begins_with(&field.ty.node).is_some()
}

/// Whether a plain write is the field's value afterwards, so that what is known of the one holds for the other.
pub fn keeps_value(field: &Field, replace: bool) -> bool {
    replace || matches!(field.channel, Channel::Last | Channel::AnyLast)
}
