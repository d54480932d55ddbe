//! A frame: a graph under way, as a pure state machine.
//!
//! Tasks give outputs; outputs in the fixed order give writes; writes give the next state and the
//! next tasks. No I/O, no clock, no async: [`step`](super::step) runs the tasks and keeps the records.
//!
//! Invariant: nothing here costs in proportion to the number of nodes or fields of the graph, only to
//! what a step touches. `benches/run.rs` measures it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use crate::ir::{FieldId, GraphId, JoinId, NodeId};
use crate::value::Value;

use super::context::RunContext;
use super::freshness::Freshness;
use super::growth::Growth;
use super::half_join::HalfJoin;
use super::joins::{JOINS, Joins};
use super::key::TaskKey;
use super::limit::StepLimit;
use super::permission::{FramePermissions, PERMISSIONS};
use super::persisted;
use super::persisted::{Base, Left};
use super::plan::GraphPlan;
use super::task::{Called, Surroundings, Task};
use super::visits::{VISITS, Visits};
use super::waiting::{WAITING, Waiting};

mod advance;
mod commit;
mod next;
mod record;
mod then;

/// A graph under way.
pub struct Frame {
    /// The graph.
    pub graph: GraphId,
    /// `""` for the run's own graph, else the key of the task that made the call and `/`.
    pub key: Arc<str>,
    /// Path for people, such as `content/slide_builder`.
    pub path: String,
    /// Where the task that made the call stands among all of the run ([`EffectScope::rank`](super::effect::EffectScope::rank)); empty for the run's own graph.
    pub rank: Arc<[u64]>,
    /// The run's constants, as far as the graph declares them.
    pub context: Value,
    /// Graphs above it that narrow tools, from the outermost in.
    pub callers: Vec<GraphId>,
    /// Limits of the calls that it is in, from the outermost in, its own last.
    pub limits: Vec<StepLimit>,
    /// Values of the fields; `None` where a field has none yet.
    pub fields: Vec<Option<Value>>,
    /// What of the state is stale.
    pub freshness: Freshness,
    /// `ephemeral` fields that the last super-step wrote.
    pub live: BTreeSet<FieldId>,
    /// Whether its steps are kept in checkpoints.
    pub tracked: bool,
    /// The step that comes next.
    pub step: u64,
    /// Super-steps that the run had made when the call began, those of calls beside it left out.
    pub before: u64,
    /// Super-steps made in it, those of its ended calls counted in.
    pub made: u64,
    /// Joins that graphs which it called have left half arrived at.
    pub half: BTreeSet<HalfJoin>,
    /// What is left to do.
    pub agenda: Agenda,
    /// Entries of nodes that bound them.
    pub visits: Visits,
    /// How much of what waits in [`Agenda::deferred_sends`] is kept.
    pub waiting: Waiting,
    /// How much of [`Agenda::joins`] is kept.
    pub joins: Joins,
    /// What a call with `persist thread` has begun with, where checkpoints of the frames around it have that.
    pub base: Option<Base>,
    /// Calls that a person has permitted ahead of them.
    pub permissions: FramePermissions,
    /// What was written to `out` fields, for the caller; `None` for the run's own graph.
    pub out_logs: Option<BTreeMap<FieldId, OutLog>>,
    growth: BTreeMap<FieldId, Growth>,
}

/// What a frame has left to do.
#[derive(Debug, Clone, Default)]
pub struct Agenda {
    /// Tasks of the step that comes next, in the fixed order: by node, then by send.
    pub tasks: Vec<Task>,
    /// Joins that some but not all members have arrived at.
    pub joins: BTreeMap<JoinId, BTreeSet<NodeId>>,
    /// Nodes that wait until nothing else is left.
    pub deferred: BTreeSet<NodeId>,
    /// Inputs of sends to deferred nodes, which wait with them.
    pub deferred_sends: BTreeMap<NodeId, Vec<Value>>,
    /// Nodes that fan-outs among the tasks lead to as a whole (`then`): what comes behind the step.
    pub then: BTreeSet<NodeId>,
    /// The same of fan-outs that wait in [`Agenda::deferred_sends`].
    pub deferred_then: BTreeSet<NodeId>,
    /// Entries that led here of nodes that bound them, those before counted in.
    pub visits: BTreeMap<NodeId, u32>,
    /// Names that the graph was left by.
    pub leaves: Vec<Arc<str>>,
}

impl Agenda {
    /// Whether some task waits until nothing else is left.
    pub fn defers(&self) -> bool {
        !self.deferred.is_empty() || !self.deferred_sends.is_empty()
    }
}

/// What a called graph wrote to an `out` field.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OutLog {
    /// Values given to the field's reducer, in order, since it was last replaced.
    pub values: Vec<Value>,
    /// Whether a `:=` came before them; it is the first of `values` then.
    pub replaced: bool,
}

impl Frame {
    /// A frame before its first step, with nothing to do. `context` is the caller's.
    pub fn new(
        graph: GraphId,
        plan: &GraphPlan,
        key: Arc<str>,
        path: String,
        context: &Value,
    ) -> Self {
        let out_logs = (!key.is_empty()).then(BTreeMap::new);
        let fields = plan.initial.clone();
        Self {
            graph,
            key,
            path,
            rank: Arc::new([]),
            context: plan.context_of(context),
            callers: Vec::new(),
            limits: Vec::new(),
            fields,
            freshness: Freshness::default(),
            live: BTreeSet::new(),
            tracked: true,
            step: 0,
            before: 0,
            made: 0,
            half: BTreeSet::new(),
            agenda: Agenda::default(),
            visits: Visits::default(),
            waiting: Waiting::default(),
            joins: Joins::default(),
            base: None,
            permissions: FramePermissions::default(),
            out_logs,
            growth: BTreeMap::new(),
        }
    }

    /// Notes how much a field that was read from a store had changed since its last whole value.
    pub fn note_growth(&mut self, field: FieldId, changes: u64) {
        let value = self.fields.get(field.0 as usize).and_then(Option::as_ref);
        let growth = value.map(|value| Growth::of(value, changes));
        self.growth.insert(field, growth.unwrap_or_default());
    }

    /// Counts in what a graph that a task of the last step has called came to. Gives back what lasts of it.
    pub fn ended(&mut self, called: Called) -> Option<Left> {
        self.made += called.steps;
        self.half.extend(called.half);
        called.left
    }

    /// Whether nothing is left to do.
    pub fn is_finished(&self) -> bool {
        !self.agenda.leaves.is_empty() || (self.agenda.tasks.is_empty() && !self.agenda.defers())
    }

    /// What is around a task of the step that comes next. `begun` counts the super-steps that have begun and are not in
    /// [`Frame::made`].
    pub fn surroundings<'a>(
        &'a self,
        cx: &'a RunContext,
        graph: &'a GraphPlan,
        begun: u64,
    ) -> Surroundings<'a> {
        Surroundings {
            cx,
            graph,
            fields: &self.fields,
            freshness: &self.freshness,
            path: &self.path,
            context: &self.context,
            callers: &self.callers,
            permissions: self.permissions.now(),
            limits: &self.limits,
            step: self.step,
            made: self.before + self.made + begun,
            seen: OnceLock::new(),
            facts: OnceLock::new(),
        }
    }

    /// Key of a task of the step that comes next.
    pub fn task_key(&self, node: &Arc<str>, send: Option<u32>) -> TaskKey {
        TaskKey {
            frame: self.key.clone(),
            step: self.step,
            node: node.clone(),
            send,
        }
    }
}

/// Name under which a checkpoint keeps the log of a field: no field of a flow is called so.
pub fn log_name(field: &str, replaced: bool) -> String {
    format!("{field}{}", if replaced { ":=" } else { ">" })
}

/// Names under which a checkpoint keeps what is no field: counts, what waits, joins, permissions.
pub const OWN_NAMES: [&str; 4] = [VISITS, WAITING, JOINS, PERMISSIONS];

/// Whether a name in a checkpoint is none of a field: one of those, that of a log, of a state that lasts, or of what lies on one.
pub fn is_log(name: &str) -> bool {
    name.ends_with(['>', '=']) || OWN_NAMES.contains(&name) || persisted::name::is_persisted(name)
}
