//! What is known of the state at a place in a flow.

use std::collections::BTreeSet;

use crate::expr::infer::Narrowing;
use crate::ir::{Channel, FieldId, FieldMode};
use crate::resolve::program::{Field, Graph};

/// What is known when a node begins, and changes on the way through it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Places that are not null.
    pub known: Narrowing,
    /// Fields that have a value, whatever way was taken.
    pub always: BTreeSet<FieldId>,
    /// Fields that have a value on some way.
    pub maybe: BTreeSet<FieldId>,
}

impl Facts {
    /// At `start`: fields that begin with a value have one.
    pub fn at_start(graph: &Graph) -> Self {
        let set = graph.fields.entries().filter(|(_, field)| begins_set(field));
        let always: BTreeSet<FieldId> = set.map(|(id, _)| id).collect();
        Self {
            known: Narrowing::new(),
            maybe: always.clone(),
            always,
        }
    }

    /// Where all fields may have a value and nothing else is known.
    pub fn anything(graph: &Graph) -> Self {
        Self {
            maybe: graph.fields.ids().collect(),
            ..Self::at_start(graph)
        }
    }

    /// Takes in another way to the same place.
    pub fn merge(&mut self, other: &Facts) {
        self.known = std::mem::take(&mut self.known).or(&other.known);
        self.always.retain(|field| other.always.contains(field));
        self.maybe.extend(&other.maybe);
    }

    /// Notes that a field has been written; `non_null` where its new value is known not to be null.
    pub fn write(&mut self, id: FieldId, field: &Field, non_null: bool) {
        let place = format!("state.{}", field.name.node);
        self.known.forget(&place);
        if non_null {
            self.known.paths.insert(place);
        }
        self.always.insert(id);
        self.maybe.insert(id);
    }

    /// Notes that a field may have been written by someone else.
    pub fn disturb(&mut self, id: FieldId, field: &Field) {
        self.known.forget(&format!("state.{}", field.name.node));
        self.maybe.insert(id);
    }
}

/// Whether a field has a value before anything is written to it.
pub fn begins_set(field: &Field) -> bool {
    use crate::expr::Type;
    let gathers = field.channel.begins_empty() && matches!(field.ty.node, Type::List(_) | Type::Map(_));
    matches!(field.mode, FieldMode::In | FieldMode::InOut)
        || field.default.is_some()
        || field.ty.node.admits_null()
        || gathers
}

/// Whether a plain write is the field's value afterwards, so that what is known of the one holds for the other.
pub fn keeps_value(field: &Field, replace: bool) -> bool {
    replace || matches!(field.channel, Channel::Last | Channel::AnyLast)
}
