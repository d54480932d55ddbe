//! The state as one task sees it: as it was when the step began, plus the task's own writes.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::expr::Slot;
use crate::expr::eval::{Effect, Env};
use crate::ir::{Channel, FieldId};
use crate::value::Value;

use super::channel::{self, Incoming, OwnReducer, Refusal};
use super::effect::EffectScope;
use super::error::RunError;
use super::freshness::Freshness;
use super::key::TaskKey;
use super::plan::node::slots;
use super::plan::{Code, GraphPlan, Plan};
use super::store::Change;
use super::task::Surroundings;
use crate::ir::ErrorKind;

/// A write of a task.
#[derive(Debug, Clone)]
pub struct Write {
    /// The field.
    pub field: FieldId,
    /// What is written.
    pub incoming: Incoming,
    /// Whether the field had gone back to its first value before, since the same task had written what it is based on.
    pub anew: bool,
}

impl Write {
    /// The write with its messages' ids, which are those that [`View::put`] gives with the same `ids`: a
    /// caller that is handed a message must know it by the id that the graph knows it by.
    pub fn named(self, channel: &Channel, ids: &mut MessageIds) -> Write {
        Write {
            incoming: channel::named(channel, self.incoming, &mut || ids.next()),
            ..self
        }
    }
}

/// A field that a task has written, put together with what was there.
#[derive(Debug, Clone)]
pub struct Written {
    /// The field.
    pub field: FieldId,
    /// Its value as the task sees it.
    pub value: Value,
    /// How it changed, write by write put together.
    pub change: Change,
}

/// What a task has written at some point.
pub struct ViewMark {
    written: Vec<Written>,
    cleared: BTreeSet<FieldId>,
    resets: BTreeSet<FieldId>,
    writes: usize,
    ids: MessageIds,
}

/// The state as a task sees it.
pub struct View<'a> {
    plan: &'a Plan,
    graph: &'a GraphPlan,
    base: &'a [Option<Value>],
    freshness: &'a Freshness,
    /// Fields that were cleared and have no first value.
    pub cleared: BTreeSet<FieldId>,
    /// Fields that this task's writes have taken back to their first value, and that it has not written since.
    resets: BTreeSet<FieldId>,
    /// Whether a write resets what is based on it at once. A commit does that for all tasks together.
    pub cascades: bool,
    /// Fields written, in the order first written. Few, so that a list is quicker than a map.
    pub written: Vec<Written>,
    /// Writes in order.
    pub writes: Vec<Write>,
    /// Ids for messages that come without one.
    pub ids: MessageIds,
    /// Whether messages get their ids in `writes` too.
    pub names_writes: bool,
}

impl<'a> View<'a> {
    /// The state of a frame, nothing written yet.
    pub fn new(
        plan: &'a Plan,
        graph: &'a GraphPlan,
        (base, freshness): (&'a [Option<Value>], &'a Freshness),
        ids: MessageIds,
    ) -> Self {
        Self {
            plan,
            graph,
            base,
            freshness,
            cleared: BTreeSet::new(),
            resets: BTreeSet::new(),
            cascades: true,
            written: Vec::new(),
            writes: Vec::new(),
            ids,
            names_writes: false,
        }
    }

    /// What is written so far.
    pub fn mark(&self) -> ViewMark {
        ViewMark {
            written: self.written.clone(),
            cleared: self.cleared.clone(),
            resets: self.resets.clone(),
            writes: self.writes.len(),
            ids: self.ids.clone(),
        }
    }

    /// Undoes what was written since.
    pub fn back_to(&mut self, mark: ViewMark) {
        self.written = mark.written;
        self.cleared = mark.cleared;
        self.resets = mark.resets;
        self.writes.truncate(mark.writes);
        self.ids = mark.ids;
    }

    /// The value of a field.
    pub fn get(&self, field: FieldId) -> Option<&Value> {
        match self.written.iter().find(|written| written.field == field) {
            Some(written) => Some(&written.value),
            None if self.cleared.contains(&field) => None,
            None => self.base.get(field.0 as usize).and_then(Option::as_ref),
        }
    }

    /// Writes a field.
    ///
    /// # Errors
    /// Where the value does not fit the field's reducer.
    pub fn put(&mut self, field: FieldId, incoming: Incoming) -> Result<(), RunError> {
        let channel = &self.graph.channels[field];
        let own = own_reducer(self.plan, channel);
        let old = self.under(field).cloned();
        let mut same_ids = self.names_writes.then(|| self.ids.clone());
        let ids = &mut self.ids;
        let put = channel::put(
            channel,
            old.as_ref(),
            &incoming,
            own.as_ref().map(|own| own as _),
            &mut || ids.next(),
        );
        let (value, mut change) = put.map_err(|refusal| self.refused(field, refusal))?;
        self.in_bounds(field, &value)?;
        if self.graph.ephemeral.contains(&field) {
            // What the field had before is not what this is added to.
            change = Change::Put(value.clone());
        }
        self.overlay(field, value, change);
        let mut write = Write {
            field,
            incoming,
            anew: self.resets.remove(&field),
        };
        if let Some(ids) = &mut same_ids {
            write = write.named(channel, ids);
        }
        self.writes.push(write);
        if self.cascades {
            self.reset_by(field);
        }
        Ok(())
    }

    /// What a write is put together with: an `ephemeral` field begins anew in each super-step.
    fn under(&self, field: FieldId) -> Option<&Value> {
        if !self.graph.ephemeral.contains(&field) {
            return self.get(field);
        }
        let written = self.written.iter().find(|written| written.field == field);
        match written {
            Some(written) => Some(&written.value),
            None => self.first_value(field),
        }
    }

    fn first_value(&self, field: FieldId) -> Option<&Value> {
        let first = self.graph.initial.get(field.0 as usize);
        first.and_then(Option::as_ref)
    }

    fn in_bounds(&self, field: FieldId, value: &Value) -> Result<(), RunError> {
        let Some(bounds) = self.graph.bounds.get(&field) else {
            return Ok(());
        };
        match bounds.broken_by(value).first() {
            None => Ok(()),
            Some(broken) => {
                let name = &self.graph.fields[field];
                let message = format!("field `{name}` does not take the write: {broken}");
                Err(RunError::new(ErrorKind::Require, message))
            }
        }
    }

    /// Takes what is based on a field that this task has written, and not written by it too, back to its first value.
    fn reset_by(&mut self, field: FieldId) {
        let graph = self.graph;
        for reset in graph.based.resets(field) {
            let own = self.writes.iter().any(|write| write.field == reset);
            if !own && self.freshness.made.contains_key(&reset) {
                self.clear(reset);
                self.resets.insert(reset);
            }
        }
    }

    /// Takes a field back to its first value, past all rules for writes.
    pub fn clear(&mut self, field: FieldId) {
        match self.first_value(field).cloned() {
            Some(first) => self.overlay(field, first.clone(), Change::Put(first)),
            None => {
                self.written.retain(|written| written.field != field);
                self.cleared.insert(field);
            }
        }
    }

    fn names_of(&self, fields: Vec<FieldId>) -> Value {
        let names = fields
            .into_iter()
            .map(|id| Value::text(&*self.graph.fields[id]));
        Value::List(names.collect())
    }

    /// The fields that were written since a field was made from them.
    pub fn invalidated_by(&self, field: FieldId) -> Vec<FieldId> {
        let written = |id: &FieldId| self.writes.iter().any(|write| write.field == *id);
        if written(&field) {
            return Vec::new();
        }
        let Some(since) = self.freshness.made.get(&field) else {
            return Vec::new();
        };
        let now = self.writes.iter().map(|write| write.field);
        let now = now.filter(|from| self.graph.based.cascades(*from, field));
        let all: BTreeSet<FieldId> = since.iter().copied().chain(now).collect();
        all.into_iter().collect()
    }

    fn overlay(&mut self, field: FieldId, value: Value, change: Change) {
        self.cleared.remove(&field);
        match self
            .written
            .iter_mut()
            .find(|written| written.field == field)
        {
            Some(written) => {
                written.change = combine(
                    std::mem::replace(&mut written.change, Change::Clear),
                    change,
                    &value,
                );
                written.value = value;
            }
            None => self.written.push(Written {
                field,
                value,
                change,
            }),
        }
    }

    fn refused(&self, field: FieldId, refusal: Refusal) -> RunError {
        let name = &self.graph.fields[field];
        let message = format!("field `{name}` can't take the write: {}", refusal.message);
        RunError {
            place: refusal.place,
            ..RunError::new(ErrorKind::Expression, message)
        }
    }
}

/// One change after another.
pub fn combine(first: Change, second: Change, value: &Value) -> Change {
    match (first, second) {
        (Change::Append(mut items), Change::Append(more)) => {
            items.extend(more);
            Change::Append(items)
        }
        (Change::Merge(mut entries), Change::Merge(more)) => {
            entries.extend(more);
            Change::Merge(entries)
        }
        _ => Change::Put(value.clone()),
    }
}

/// Ids for messages that have none: the same whenever the task runs again.
#[derive(Debug, Clone)]
pub struct MessageIds {
    key: TaskKey,
    count: u32,
}

impl MessageIds {
    /// Ids for the writes of a task.
    pub fn new(key: TaskKey) -> Self {
        Self { key, count: 0 }
    }

    fn next(&mut self) -> String {
        self.count += 1;
        short_hash("m", &format!("{}|{}", self.key, self.count))
    }
}

/// `prefix-` and twelve hexadecimal digits of a hash.
pub fn short_hash(prefix: &str, text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let digits: String = digest
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{prefix}-{digits}")
}

/// A declared reducer of a plan.
pub struct OwnCode<'a>(&'a Code);

/// The declared reducer behind a channel, where it has one.
pub fn own_reducer<'a>(plan: &'a Plan, channel: &Channel) -> Option<OwnCode<'a>> {
    match channel {
        Channel::Own { reducer } => plan.reducers.get(*reducer).map(OwnCode),
        _ => None,
    }
}

struct ReducerEnv<'a>(&'a Value, &'a Value);

impl Env for ReducerEnv<'_> {
    fn slot(&self, slot: Slot) -> Option<Value> {
        match slot.0 {
            0 => Some(self.0.clone()),
            1 => Some(self.1.clone()),
            _ => None,
        }
    }

    fn field(&self, _index: u32) -> Option<Value> {
        None
    }

    fn effect(&self, _effect: Effect) -> Result<Value, String> {
        Err("a reducer has no effects".to_owned())
    }
}

impl OwnReducer for OwnCode<'_> {
    fn reduce(&self, old: &Value, new: &Value) -> Result<Value, Refusal> {
        let made = self.0.eval(&ReducerEnv(old, new));
        made.map_err(|error| Refusal {
            message: error.message,
            place: error.place,
        })
    }
}

/// What the expressions of a node see.
pub struct NodeEnv<'a> {
    /// The state.
    pub view: &'a View<'a>,
    /// Names.
    pub slots: &'a [Option<Value>],
    /// Where the task runs.
    pub around: &'a Surroundings<'a>,
    /// Effects of the task.
    pub effects: &'a EffectScope,
}

impl Env for NodeEnv<'_> {
    fn slot(&self, slot: Slot) -> Option<Value> {
        match slot {
            slots::RUN => Some(self.around.facts().clone()),
            slots::CONTEXT => Some(self.around.context.clone()),
            slots::PARAMS => self.view.graph.params.clone(),
            _ => self.slots.get(slot.0 as usize).cloned().flatten(),
        }
    }

    fn field(&self, index: u32) -> Option<Value> {
        self.view.get(FieldId(index)).cloned()
    }

    fn effect(&self, effect: Effect) -> Result<Value, String> {
        Ok(self.effects.ambient(self.around.cx, effect))
    }

    fn invalidated_by(&self, index: u32) -> Result<Value, String> {
        Ok(self.view.names_of(self.view.invalidated_by(FieldId(index))))
    }
}
