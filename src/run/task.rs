//! One task: a node's visit. The order of what a node does, and what comes of it.
//!
//! `skip`, `let`, `require`, the kind's own work, `set`, `emit`, `goto`. All but the work is pure and
//! here; the work is in [`work`](super::work), one file per kind.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use serde_json::{Value as Json, json};

use crate::expr::Slot;
use crate::ir::{ErrorKind, GraphId, JoinId, NodeId, ToolId};
use crate::value::{Map, Value};

use super::channel::Incoming;
use super::context::RunContext;
use super::effect::EffectScope;
use super::error::RunError;
use super::event::RouteKind;
use super::freshness::Freshness;
use super::half_join::HalfJoin;
use super::interrupt::OpenInterrupt;
use super::limit::StepLimit;
use super::permission::{Change, Permissions};
use super::persisted::Left;
use super::plan::jump::Preparation;
use super::plan::node::slots;
use super::plan::{Code, GraphPlan, NodePlan, SetPlan, TargetTable, Then};
use super::view::{MessageIds, NodeEnv, View, ViewMark, Write, Written};

mod say;
mod way;

/// A task that is to run.
#[derive(Debug, Clone)]
pub struct Task {
    /// The node.
    pub node: NodeId,
    /// Where a send made it: its index among the sends to this node in this step, and its input.
    pub send: Option<(u32, Value)>,
}

/// What comes next.
#[derive(Debug, Clone)]
pub enum Next {
    /// A node; several arrows into it in one step make one task.
    Node(NodeId),
    /// A node with an input; each is a task of its own. The fan-out that it is of leads on behind it.
    Send(NodeId, Value, Then),
    /// The node that a fan-out leads to as a whole: behind its tasks, or now where it has made none.
    Then(NodeId),
}

/// What a finished task gives to the commit of its step.
#[derive(Debug, Default)]
pub struct Output {
    /// Writes in order.
    pub writes: Vec<Write>,
    /// The same, put together with the state before the step: right where no other task wrote.
    pub written: Vec<Written>,
    /// What comes next.
    pub next: Vec<Next>,
    /// Joins that it arrives at.
    pub arrives: Vec<JoinId>,
    /// Names that it leaves the graph by.
    pub leaves: Vec<Arc<str>>,
    /// What the graph that it called has come to.
    pub called: Option<Box<Called>>,
    /// What it was permitted, and what permissions it took back.
    pub permitted: Vec<Change>,
}

/// What a called graph has come to, beside what it gives its caller.
#[derive(Debug, Default)]
pub struct Called {
    /// Super-steps that it has made.
    pub steps: u64,
    /// What lasts of the call.
    pub left: Option<Left>,
    /// Joins that were left half arrived at, in it and in what it has called.
    pub half: BTreeSet<HalfJoin>,
}

/// How a task ended.
pub enum Outcome {
    /// It has finished.
    Done(Output),
    /// It waits for answers.
    Interrupted(Vec<OpenInterrupt>),
    /// It failed, and nothing handles that.
    Failed(RunError),
}

/// Where a frame stands, as its tasks see it.
pub struct Surroundings<'a> {
    /// The run.
    pub cx: &'a RunContext,
    /// The graph.
    pub graph: &'a GraphPlan,
    /// State at the start of the step.
    pub fields: &'a [Option<Value>],
    /// What of it is stale.
    pub freshness: &'a Freshness,
    /// Path of the frame, such as `content/slide_builder`.
    pub path: &'a str,
    /// The run's constants, as the graph sees them.
    pub context: &'a Value,
    /// Graphs above that narrow tools.
    pub callers: &'a [GraphId],
    /// Calls that a person has permitted, at the beginning of the step.
    pub permissions: &'a Arc<Permissions>,
    /// Limits of the calls that the frame is in.
    pub limits: &'a [StepLimit],
    /// Step of the frame.
    pub step: u64,
    /// Super-steps of the run that lead to it, this one counted in and those of calls beside it left out: the same however
    /// fast those are.
    pub made: u64,
    /// A digest of the state at the start of the step, once somebody has asked for it: one for all tasks.
    pub seen: OnceLock<String>,
    /// What `run` is, once an expression has asked for it: one for all tasks.
    pub facts: OnceLock<Value>,
}

impl Surroundings<'_> {
    /// Facts of the run (`run`).
    pub fn facts(&self) -> &Value {
        self.facts.get_or_init(|| {
            let cx = self.cx;
            let of_calls = self.limits.iter();
            let of_calls = of_calls.map(|limit| limit.remaining(self.made));
            let of_run = cx.remaining_steps(self.made);
            let remaining = of_calls.min().map_or(of_run, |least| least.min(of_run));
            let facts = [
                ("thread_id", Value::text(cx.thread_id.clone())),
                ("id", Value::text(cx.run_id.clone())),
                ("step", Value::Int(self.step as i64)),
                (
                    "remaining_steps",
                    Value::Int(i64::try_from(remaining).unwrap_or(i64::MAX)),
                ),
                ("attempt", Value::Int(1)),
            ];
            Value::Map(facts.into_iter().collect())
        })
    }
}

/// What a task has done at some point.
pub struct Mark {
    view: ViewMark,
    jumped: bool,
    next: usize,
    leaves: usize,
}

/// A task under way.
pub struct TaskRun<'a> {
    /// Where it runs.
    pub around: &'a Surroundings<'a>,
    /// Name of its node; of a join or the entry where it is no task of a node.
    pub name: &'a str,
    /// What names lead to.
    ends: Option<&'a TargetTable>,
    /// Its effects.
    pub effects: &'a EffectScope,
    /// The state as it sees it.
    pub view: View<'a>,
    /// Values of names.
    pub slots: Vec<Option<Value>>,
    /// Set by a jump that replaces the node's own way on: a tool's, a leaving subgraph's, that of a
    /// `skip` with a target. The node does not arrive at its joins then.
    pub jumped: bool,
    /// Arguments that its node fixes, by tool, of the types of the parameters.
    pub fixed: BTreeMap<ToolId, Map>,
    /// The error that the node's `on_error` is about: what `fail` without a message passes on.
    pub handles: Option<RunError>,
    /// What the graph that it called has come to.
    pub called: Option<Box<Called>>,
    /// Calls that a person has permitted: those of the beginning of the step and its own.
    pub permissions: Arc<Permissions>,
    permitted: Vec<Change>,
    /// What was sent to it, without the defaults of its `input`.
    pub sent: Option<&'a Value>,
    next: Vec<Next>,
    leaves: Vec<Arc<str>>,
}

impl<'a> TaskRun<'a> {
    /// A task at its start.
    pub fn new(
        around: &'a Surroundings<'a>,
        node: &'a NodePlan,
        input: Option<&'a Value>,
        effects: &'a EffectScope,
    ) -> Self {
        let ids = MessageIds::new(effects.key().clone());
        let base = (around.fields, around.freshness);
        let view = View::new(&around.cx.plan, around.graph, base, ids);
        let mut run = Self::aside(around, &node.name, node.slots, view, effects);
        run.ends = Some(&node.ends);
        run.sent = input;
        let input = match (input, &node.input) {
            (Some(Value::Map(given)), Some(defaults)) => {
                let mut all = defaults.clone();
                for (name, value) in given.iter() {
                    all.insert(name.clone(), value.clone());
                }
                Some(Value::Map(all))
            }
            (None, Some(defaults)) => Some(Value::Map(defaults.clone())),
            (input, _) => input.cloned(),
        };
        fill(&mut run.slots, slots::INPUT, input);
        run
    }

    /// What takes a jump that belongs to no node's task: the entry, a join, a node entered too often.
    pub fn aside(
        around: &'a Surroundings<'a>,
        name: &'a str,
        slots: usize,
        view: View<'a>,
        effects: &'a EffectScope,
    ) -> Self {
        Self {
            around,
            name,
            ends: None,
            effects,
            view,
            slots: vec![None; slots],
            jumped: false,
            handles: None,
            called: None,
            permissions: Arc::clone(around.permissions),
            permitted: Vec::new(),
            fixed: BTreeMap::new(),
            sent: None,
            next: Vec::new(),
            leaves: Vec::new(),
        }
    }

    /// What it has done so far.
    pub fn mark(&self) -> Mark {
        Mark {
            view: self.view.mark(),
            jumped: self.jumped,
            next: self.next.len(),
            leaves: self.leaves.len(),
        }
    }

    /// Undoes what it has written, and where it has gone, since.
    pub fn back_to(&mut self, mark: Mark) {
        self.view.back_to(mark.view);
        self.jumped = mark.jumped;
        self.next.truncate(mark.next);
        self.leaves.truncate(mark.leaves);
    }

    /// Gives a name its value.
    pub fn put_slot(&mut self, slot: Slot, value: Value) {
        fill(&mut self.slots, slot, Some(value));
    }

    /// What an answer, or a called graph, changes of what is permitted.
    pub fn permit(&mut self, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        if Arc::get_mut(&mut self.permissions).is_none() {
            let shared = Arc::clone(&self.permissions);
            self.permissions = Arc::new(Permissions::over(shared));
        }
        if let Some(own) = Arc::get_mut(&mut self.permissions) {
            changes.iter().for_each(|change| own.apply(change));
        }
        self.permitted.extend(changes);
    }

    /// Path of the node, such as `cake_man/editor`.
    pub fn path(&self) -> String {
        join_path(self.around.path, self.name)
    }

    /// What the node's expressions see now.
    pub fn env(&self) -> NodeEnv<'_> {
        self.env_of(&self.slots)
    }

    /// The same with these values of names.
    pub fn env_of<'s>(&'s self, slots: &'s [Option<Value>]) -> NodeEnv<'s> {
        NodeEnv {
            view: &self.view,
            slots,
            around: self.around,
            effects: self.effects,
        }
    }

    /// An expression's value.
    ///
    /// # Errors
    /// As [`Code::eval`].
    pub fn eval(&self, code: &Code) -> Result<Value, RunError> {
        code.eval(&self.env())
    }

    /// All before the work. `false` where a `skip` holds: then the way on is already taken.
    ///
    /// # Errors
    /// Where an expression fails or a `require` does not hold.
    pub fn begin(&mut self, node: &'a NodePlan) -> Result<bool, RunError> {
        for (arm, (when, to)) in node.skips.iter().enumerate() {
            if when.holds(&self.env())? {
                match to {
                    Some(jump) => {
                        self.jumped = true;
                        self.note_route(RouteKind::Skip, arm);
                        self.take(jump)?;
                    }
                    None => self.go_on(node)?,
                }
                return Ok(false);
            }
        }
        for step in &node.prepare {
            match step {
                Preparation::Let(slot, code) => self.bind(*slot, code)?,
                Preparation::Require(condition, message) => {
                    self.require(condition, message.as_ref())?;
                }
            }
        }
        self.emit_all(&node.emits, true)?;
        Ok(true)
    }

    /// Gives a `let` its value.
    ///
    /// # Errors
    /// As [`Code::intermediate`].
    pub fn bind(&mut self, slot: Slot, code: &Code) -> Result<(), RunError> {
        let value = code.intermediate(&self.env())?;
        self.put_slot(slot, value);
        Ok(())
    }

    fn require(&self, condition: &Code, message: Option<&Code>) -> Result<(), RunError> {
        if condition.holds(&self.env())? {
            return Ok(());
        }
        let message = match message {
            Some(message) => show(&self.eval(message)?),
            None => format!("`{}` does not hold", condition.text()),
        };
        Err(RunError::new(ErrorKind::Require, message).at(condition.place()))
    }

    /// All after the work: `set`, `emit`, and the way on where nothing has jumped.
    ///
    /// # Errors
    /// Where an expression fails, or the way on is `fail`.
    pub fn finish(&mut self, node: &'a NodePlan) -> Result<(), RunError> {
        self.write(node)?;
        self.leave(node)
    }

    /// Brings `let`s into scope.
    ///
    /// # Errors
    /// Where one can't be computed.
    pub fn bind_all(&mut self, lets: &[(Slot, Code)]) -> Result<(), RunError> {
        lets.iter()
            .try_for_each(|(slot, code)| self.bind(*slot, code))
    }

    /// What follows the work: `let`s that nothing ahead of it uses, `set` and `emit`.
    ///
    /// # Errors
    /// Where an expression fails or a value does not fit.
    pub fn write(&mut self, node: &'a NodePlan) -> Result<(), RunError> {
        self.bind_all(&node.lets_behind)?;
        self.set_all(&node.set)?;
        self.emit_all(&node.emits, false)
    }

    /// The way on, where nothing has jumped.
    ///
    /// # Errors
    /// Where an expression fails, or the way on is `fail`.
    pub fn leave(&mut self, node: &'a NodePlan) -> Result<(), RunError> {
        if self.jumped {
            Ok(())
        } else {
            self.go_on(node)
        }
    }

    fn go_on(&mut self, node: &'a NodePlan) -> Result<(), RunError> {
        match &node.next {
            Some(route) => self.route(route, RouteKind::Next),
            None => Ok(()),
        }
    }

    /// All writes of one `set`: every expression sees the state before it.
    ///
    /// # Errors
    /// Where an expression fails or a value does not fit.
    pub fn set_all(&mut self, items: &[SetPlan]) -> Result<(), RunError> {
        if let [only] = items {
            let value = self.eval(&only.value)?;
            return self.set(only, value);
        }
        let values = items
            .iter()
            .map(|item| self.eval(&item.value))
            .collect::<Result<Vec<_>, _>>()?;
        for (item, value) in items.iter().zip(values) {
            self.set(item, value)?;
        }
        Ok(())
    }

    fn set(&mut self, item: &SetPlan, value: Value) -> Result<(), RunError> {
        let replace = item.replace;
        let put = self.view.put(item.field, Incoming { value, replace });
        put.map_err(|error| item.refused(error))
    }

    /// The state with the writes of a jump that belongs to no task, where it leads, and by which
    /// names it leaves the graph.
    pub fn into_view(self) -> (View<'a>, Vec<Next>, Vec<Arc<str>>) {
        (self.view, self.next, self.leaves)
    }

    /// What the commit gets. `joins` are those that the node arrives at when nothing jumped.
    pub fn into_output(self, joins: &[JoinId]) -> Output {
        let arrives = if self.jumped {
            Vec::new()
        } else {
            joins.to_vec()
        };
        Output {
            writes: self.view.writes,
            written: self.view.written,
            next: self.next,
            arrives,
            leaves: self.leaves,
            called: self.called,
            permitted: self.permitted,
        }
    }
}

fn fill(slots: &mut [Option<Value>], slot: Slot, value: Option<Value>) {
    if let Some(place) = slots.get_mut(slot.0 as usize) {
        *place = value;
    }
}

/// `path/name`
pub fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}/{name}")
    }
}

/// A text as it is, any other value as JSON.
pub fn show(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => other.to_json().to_string(),
    }
}

/// `kind` and `message` of an error, for events.
pub fn brief(error: &RunError) -> Json {
    let mut json = json!({ "kind": error.kind.word(), "message": error.message });
    if let (Some(entries), Some(place)) = (json.as_object_mut(), &error.place) {
        entries.insert("place".to_owned(), json!(place.to_string()));
    }
    json
}
