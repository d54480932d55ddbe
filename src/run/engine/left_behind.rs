//! What a new run on a thread leaves behind: fields that do not live with the thread, how often nodes were entered, and what
//! people had permitted.
//!
//! The checkpoint of the input says so of each, so that the beginning of a run is one commit. A field that no checkpoint
//! has a value of begins with its first value, whoever reads the thread.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{FieldId, Graph};
use crate::run::frame::Frame;
use crate::run::freshness::Writers;
use crate::run::permission::PERMISSIONS;
use crate::run::plan::GraphPlan;
use crate::run::schedule;
use crate::run::store::{Change, FieldWrite, FrameImage};
use crate::run::visits::VISITS;
use crate::value::Value;

/// What the last run has left and this one does not go on with, by the names in checkpoints.
#[derive(Default)]
pub(super) struct LeftBehind {
    values: BTreeMap<String, Value>,
}

impl LeftBehind {
    /// Takes it out of what a thread has of the run's own graph.
    pub fn of(graph: &Graph, root: &mut FrameImage) -> Self {
        let fields = graph.fields.iter();
        let anew = fields.filter(|field| !field.lives_with_thread());
        let names: BTreeSet<&str> = anew.map(|field| field.name.as_str()).collect();
        let goes = |name: &str| [VISITS, PERMISSIONS].contains(&name) || names.contains(name);
        let (gone, stays) = std::mem::take(&mut root.fields)
            .into_iter()
            .partition(|(name, _)| goes(name));
        root.fields = stays;
        schedule::retain_made(&mut root.schedule, |name| !goes(name));
        let gone: BTreeMap<_, _> = gone;
        let values = gone.into_iter().map(|(name, field)| (name, field.value));
        Self {
            values: values.collect(),
        }
    }

    /// An input that is left out goes back to its default: where that is another value than the last run was given, it counts
    /// as written for what is based on it.
    pub fn reverts(&mut self, frame: &mut Frame, graph: &GraphPlan, input: &[(FieldId, Value)]) {
        if graph.based.is_empty() {
            return;
        }
        let mut writers = Writers::default();
        for (id, name) in graph.fields.entries() {
            let first = graph.initial.get(id.0 as usize).and_then(Option::as_ref);
            let last = self.values.get(&**name);
            let given = input.iter().any(|(field, _)| *field == id);
            if graph.inputs.contains(&id) && !given && last.is_some() && last != first {
                writers.note(0, std::iter::once(id));
            }
        }
        for reset in frame.freshness.commit(&graph.based, &writers) {
            let first = graph.initial.get(reset.0 as usize).cloned().flatten();
            let Some(place) = frame.fields.get_mut(reset.0 as usize) else {
                continue;
            };
            if let Some(value) = std::mem::replace(place, first) {
                self.values.insert(graph.fields[reset].to_string(), value);
            }
        }
    }

    /// What the checkpoint of the input keeps: each field once.
    pub fn writes(
        self,
        frame: &Frame,
        graph: &GraphPlan,
        taken: Vec<FieldWrite>,
        mut input: Vec<FieldWrite>,
    ) -> Vec<FieldWrite> {
        let mut writes = taken;
        writes.retain(|write| !self.values.contains_key(&write.field));
        for name in self.values.into_keys() {
            let given = input.iter_mut().find(|write| write.field == name);
            let whole = || {
                let mut fields = graph.fields.iter().zip(&frame.fields);
                fields.find_map(|(field, value)| (**field == *name).then(|| value.clone())?)
            };
            match given {
                // What was added was added to the first value, which no checkpoint has.
                Some(write) if !matches!(write.change, Change::Put(_)) => {
                    write.change = whole().map_or(Change::Clear, Change::Put);
                }
                Some(_) => {}
                None => writes.push(FieldWrite {
                    field: name,
                    change: Change::Clear,
                }),
            }
        }
        writes.extend(input);
        writes
    }
}
