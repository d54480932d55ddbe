//! What a checkpoint keeps of what a commit has changed.

use std::collections::BTreeSet;

use crate::ir::FieldId;
use crate::run::growth::length;
use crate::run::plan::GraphPlan;
use crate::run::store::{Change, FieldWrite};
use crate::run::view::{Write, Written};
use crate::value::{List, Value};

use super::{Agenda, Frame, OutLog, log_name};

impl Frame {
    /// Notes a write for the caller: of a gathering field what was added, of any other that it was written. The log is kept in
    /// checkpoints as a field of its own.
    pub(super) fn log(&mut self, graph: &GraphPlan, write: Write) -> Option<FieldWrite> {
        let tracked = !graph.untracked.contains(&write.field);
        let logs = self.out_logs.as_mut()?;
        let known = logs.get(&write.field).map(|log| log.replaced);
        let log = logs.entry(write.field).or_default();
        if !graph.channels[write.field].gathers() {
            log.replaced |= write.incoming.replace;
            let is_new = known != Some(log.replaced);
            return (tracked && is_new).then(|| FieldWrite {
                field: log_name(&graph.fields[write.field], log.replaced),
                change: Change::Put(Value::List(List::default())),
            });
        }
        let value = write.incoming.value;
        let change = if write.incoming.replace {
            *log = OutLog {
                values: vec![value.clone()],
                replaced: true,
            };
            Change::Put(Value::List([value].into_iter().collect()))
        } else {
            log.values.push(value.clone());
            Change::Append(vec![value])
        };
        tracked.then(|| FieldWrite {
            field: log_name(&graph.fields[write.field], log.replaced),
            change,
        })
    }

    pub(super) fn accept(
        &mut self,
        graph: &GraphPlan,
        written: Vec<Written>,
        mut agenda: Agenda,
    ) -> Vec<FieldWrite> {
        let visits = std::mem::take(&mut agenda.visits);
        let (before, now) = (&self.agenda.deferred_sends, &agenda.deferred_sends);
        let waiting = self.waiting.accept(graph, before, now);
        let (before, now) = (&self.agenda.joins, &agenda.joins);
        let joins = self.joins.accept(graph, before, now);
        self.agenda = agenda;
        let mut changes = Vec::with_capacity(written.len() + 3);
        changes.extend(self.visits.accept(graph, visits));
        changes.extend(waiting);
        changes.extend(joins);
        for Written {
            field,
            value,
            change,
        } in written
        {
            let change = self.grow(graph, field, &value, change);
            self.note(graph, field, change, &mut changes);
            if let Some(place) = self.fields.get_mut(field.0 as usize) {
                *place = Some(value);
            }
        }
        changes
    }

    /// Fields that have no value any more.
    pub(super) fn accept_cleared(
        &mut self,
        graph: &GraphPlan,
        cleared: BTreeSet<FieldId>,
    ) -> Vec<FieldWrite> {
        let mut changes = Vec::new();
        for field in cleared {
            if let Some(place) = self.fields.get_mut(field.0 as usize) {
                *place = None;
            }
            self.note(graph, field, Change::Clear, &mut changes);
        }
        changes
    }

    /// What a checkpoint keeps of a change to a field.
    fn note(
        &mut self,
        graph: &GraphPlan,
        field: FieldId,
        change: Change,
        changes: &mut Vec<FieldWrite>,
    ) {
        if graph.untracked.contains(&field) {
            return;
        }
        let name = &graph.fields[field];
        match &mut self.base {
            Some(base) => changes.extend(base.writes(field, name, change)),
            None => changes.push(FieldWrite {
                field: name.to_string(),
                change,
            }),
        }
    }

    /// Writes a field whole once its changes outnumber what it held ([`Growth::pass`](crate::run::growth::Growth::pass)); and the first time, where it did not
    /// begin empty: no checkpoint has what it began with.
    fn grow(&mut self, graph: &GraphPlan, field: FieldId, value: &Value, change: Change) -> Change {
        let first = graph.initial.get(field.0 as usize).and_then(Option::as_ref);
        let unkept = !self.growth.contains_key(&field) && first.is_some_and(|v| length(v) > 0);
        let growth = self.growth.entry(field).or_default();
        match (unkept, &change) {
            (true, Change::Append(_) | Change::Merge(_)) => {
                growth.pass(value, Change::Put(value.clone()))
            }
            _ => growth.pass(value, change),
        }
    }
}
