//! How a field has changed since a checkpoint that has it, without the values: those are at hand.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::FieldId;
use crate::run::plan::GraphPlan;
use crate::run::store::{Change, FieldWrite, FrameImage};
use crate::value::{Map, Value};

use super::name::{BEGAN, onto};

/// How a field has changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Since {
    /// Not at all.
    #[default]
    Nothing,
    /// So many elements were added to the end of the list.
    Appended(usize),
    /// Entries of these keys were put into the map.
    Merged(BTreeSet<String>),
    /// In another way.
    Whole,
}

impl Since {
    /// Both, one after the other.
    pub fn then(self, later: Since) -> Since {
        match (self, later) {
            (known, Since::Nothing) | (Since::Nothing, known) => known,
            (Since::Appended(before), Since::Appended(more)) => Since::Appended(before + more),
            (Since::Merged(mut keys), Since::Merged(more)) => {
                keys.extend(more);
                Since::Merged(keys)
            }
            _ => Since::Whole,
        }
    }

    /// One more change.
    pub fn note(&mut self, change: &Change) {
        let later = match change {
            Change::Append(items) => Since::Appended(items.len()),
            Change::Merge(entries) => {
                Since::Merged(entries.iter().map(|(key, _)| key.clone()).collect())
            }
            Change::Put(_) | Change::Clear => Since::Whole,
        };
        *self = std::mem::take(self).then(later);
    }

    /// What has added that to what lies further out: a list of elements or a map of entries.
    pub fn of(added: &Value) -> Since {
        match added {
            Value::List(list) => Since::Appended(list.len()),
            Value::Map(map) => Since::Merged(
                map.keys()
                    .filter_map(|key| Some(key.as_str()?.to_owned()))
                    .collect(),
            ),
            Value::Bool(_) => Since::Nothing,
            _ => Since::Whole,
        }
    }

    /// The change that has led to a value; `None` where there was none.
    pub fn change(&self, value: Option<&Value>) -> Option<Change> {
        let Some(value) = value else {
            return (*self != Since::Nothing).then_some(Change::Clear);
        };
        Some(match (self, value) {
            (Since::Nothing, _) => return None,
            (Since::Appended(count), Value::List(list)) if *count <= list.len() => {
                let added = list.len() - count..list.len();
                Change::Append(added.filter_map(|at| list.get(at).cloned()).collect())
            }
            (Since::Merged(keys), Value::Map(map)) => {
                let entry = |key: &String| Some((key.clone(), map.get(key)?.clone()));
                Change::Merge(keys.iter().filter_map(entry).collect())
            }
            _ => Change::Put(value.clone()),
        })
    }
}

/// What a call began with, where checkpoints of the frames around it have that: its own do not repeat it.
#[derive(Debug, Clone, Default)]
pub struct Base {
    /// The fields that it began with.
    seeded: BTreeSet<FieldId>,
    /// Those of them that still lie on top of what they began with.
    on: BTreeMap<FieldId, Since>,
}

impl Base {
    /// A call that begins with these fields.
    pub fn new(fields: impl IntoIterator<Item = FieldId>) -> Self {
        let seeded: BTreeSet<FieldId> = fields.into_iter().collect();
        let on = seeded.iter().map(|field| (*field, Since::Nothing));
        Self {
            on: on.collect(),
            seeded,
        }
    }

    /// What a checkpoint has, once it is put together; `None` where the call lies on nothing.
    pub fn of(graph: &GraphPlan, image: &FrameImage) -> Option<Self> {
        let began = &image.fields.get(BEGAN)?.value;
        let fields = began.get("fields").and_then(Value::as_list);
        let fields = fields.into_iter().flat_map(|fields| fields.iter());
        let fields: BTreeSet<&str> = fields.filter_map(Value::as_str).collect();
        let mut base = Base::default();
        for (id, name) in graph.fields.entries() {
            if !fields.contains(&**name) {
                continue;
            }
            base.seeded.insert(id);
            let added = image.fields.get(&onto(name));
            if let Some(added) = added.filter(|added| !added.value.is_null()) {
                base.on.insert(id, Since::of(&added.value));
            }
        }
        Some(base)
    }

    /// How a field has changed since the call began; `None` where checkpoints of the call have it whole.
    pub fn since(&self, field: FieldId) -> Option<&Since> {
        self.on.get(&field)
    }

    /// What a checkpoint of the call says of the beginning.
    pub fn began(path: &str, fields: &[String]) -> FieldWrite {
        let fields = fields.iter().map(|name| Value::text(name.as_str()));
        let mut began = Map::new();
        began.insert("path", Value::text(path));
        began.insert("fields", fields.collect::<Vec<Value>>().into());
        FieldWrite {
            field: BEGAN.to_owned(),
            change: Change::Put(Value::Map(began)),
        }
    }

    /// What a checkpoint of the call keeps of a change to one of its fields.
    pub fn writes(&mut self, id: FieldId, name: &str, change: Change) -> Vec<FieldWrite> {
        let plain = |change| FieldWrite {
            field: name.to_owned(),
            change,
        };
        if !self.seeded.contains(&id) {
            return vec![plain(change)];
        }
        match (change, self.on.get_mut(&id)) {
            (change @ (Change::Append(_) | Change::Merge(_)), Some(since)) => {
                since.note(&change);
                vec![FieldWrite {
                    field: onto(name),
                    change,
                }]
            }
            (Change::Clear, _) => {
                self.on.remove(&id);
                let gone = FieldWrite {
                    field: onto(name),
                    change: Change::Put(Value::Null),
                };
                vec![plain(Change::Clear), gone]
            }
            (change, _) => {
                self.on.remove(&id);
                vec![plain(change)]
            }
        }
    }
}
