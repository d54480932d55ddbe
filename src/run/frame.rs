//! A frame: a graph under way, as a pure state machine.
//!
//! Tasks give outputs; outputs in the fixed order give writes; writes give the next state and the
//! next tasks. No I/O, no clock, no async: [`step`](super::step) runs the tasks and keeps the records.
//!
//! Invariant: nothing here costs in proportion to the number of nodes or fields of the graph, only to
//! what a step touches. `benches/run.rs` measures it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, LazyLock, OnceLock};

use tokio_util::sync::CancellationToken;

use crate::ir::{ErrorKind, FieldId, GraphId, JoinId, NodeId};
use crate::value::Value;

use super::channel::Incoming;
use super::clash::{Claims, Who};
use super::context::RunContext;
use super::effect::EffectScope;
use super::error::RunError;
use super::freshness::{Freshness, Writers};
use super::growth::{Growth, length};
use super::joins::{JOINS, Joins};
use super::kept::{self, Base};
use super::key::TaskKey;
use super::limit::StepLimit;
use super::plan::{GraphPlan, JumpPlan};
use super::store::{Change, FieldWrite};
use super::task::{Next, Output, Surroundings, Task, TaskRun};
use super::view::{MessageIds, View, Write, Written};
use super::visits::{VISITS, Visits};
use super::waiting::{WAITING, Waiting};

/// A graph under way.
pub struct Frame {
    /// The graph.
    pub graph: GraphId,
    /// `""` for the run's own graph, else the key of the task that made the call and `/`.
    pub key: Arc<str>,
    /// Path for people, such as `content/slide_builder`.
    pub path: String,
    /// Where the task that made the call stands among all of the run ([`EffectScope::rank`]); empty for the run's own graph.
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
            agenda: Agenda::default(),
            visits: Visits::default(),
            waiting: Waiting::default(),
            joins: Joins::default(),
            base: None,
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

    /// Gives fields their input through their reducers and goes in at the entry.
    ///
    /// # Errors
    /// Where a value does not fit (kind `invalid_input`) or the entry's route fails.
    pub fn enter(
        &mut self,
        cx: &RunContext,
        input: Vec<(FieldId, Value)>,
    ) -> Result<Vec<FieldWrite>, RunError> {
        let input = input.into_iter().map(|(field, value)| {
            let replace = false;
            (field, Incoming { value, replace })
        });
        self.go_in(cx, input.collect(), true)
    }

    /// The same with any writes. What a caller has given it need not be told of.
    ///
    /// # Errors
    /// As [`Frame::enter`].
    pub fn go_in(
        &mut self,
        cx: &RunContext,
        writes: Vec<(FieldId, Incoming)>,
        by_caller: bool,
    ) -> Result<Vec<FieldWrite>, RunError> {
        let plan = cx.plan.clone();
        let graph = &plan.graphs[self.graph];
        let commit = Commit::new(cx, graph, self, &AT_START, 0);
        let mut view = commit.view();
        view.cascades = false;
        view.names_writes = self.out_logs.is_some() && !by_caller;
        for (field, incoming) in writes {
            view.put(field, incoming).map_err(|mut error| {
                error.kind = ErrorKind::InvalidInput;
                error
            })?;
        }
        let given = if by_caller { view.writes.len() } else { 0 };
        view.names_writes = self.out_logs.is_some();
        let mut agenda = Agenda::default();
        let (view, next) = commit.follow(view, graph.slots, &mut agenda.leaves, |run| {
            run.route(&graph.start, false)
        })?;
        let mut claims = Claims::default();
        let entry = claims.add(Who::Entry, Vec::new());
        commit.claim(&mut claims, entry, &view, given)?;
        let next = next.into_iter().map(|next| (next, entry)).collect();
        let mut view = commit.schedule(view, next, &mut agenda, &mut claims)?;
        let mut writers = Writers::default();
        if !graph.based.is_empty() {
            let all = view.writes.iter().map(|write| write.field);
            writers.note(0, all);
        }
        let (freshness, live) = commit.pass(&mut view, &writers);
        let (cleared, written) = (view.cleared, view.written);
        let for_caller = self.for_caller(view.writes, given);
        (self.freshness, self.live) = (freshness, live);
        self.waiting.begin_anew();
        self.joins.begin_anew();
        let mut changes = self.accept(graph, written, agenda);
        changes.extend(self.accept_cleared(graph, cleared));
        for write in for_caller {
            changes.extend(self.log(graph, write));
        }
        Ok(changes)
    }

    /// The writes of the step's tasks, with the ids that their messages get.
    fn named_writes(&self, graph: &GraphPlan, outputs: &[Output]) -> Vec<Write> {
        let mut all = Vec::new();
        for (task, output) in self.agenda.tasks.iter().zip(outputs) {
            let send = task.send.as_ref().map(|(index, _)| *index);
            let mut ids = MessageIds::new(self.task_key(&graph.nodes[task.node].name, send));
            let writes = output.writes.iter().cloned();
            all.extend(writes.map(|write| {
                let channel = &graph.channels[write.field];
                write.named(channel, &mut ids)
            }));
        }
        all
    }

    /// The writes of jumps that belong to no task, behind the first `before`: what a caller is told of.
    fn for_caller(&self, writes: Vec<Write>, before: usize) -> Vec<Write> {
        match self.out_logs {
            Some(_) => writes.into_iter().skip(before).collect(),
            None => Vec::new(),
        }
    }

    /// Puts the outputs of the step's tasks, in the order of the tasks, into the state and makes the
    /// next tasks. Gives back what changed.
    ///
    /// # Errors
    /// Where writes clash or a jump fails; the frame is then as it was.
    pub fn commit(
        &mut self,
        cx: &RunContext,
        outputs: Vec<Output>,
    ) -> Result<Vec<FieldWrite>, RunError> {
        let plan = cx.plan.clone();
        let graph = &plan.graphs[self.graph];
        let commit = Commit::new(cx, graph, self, &AT_JOIN, 1);
        let within: u64 = outputs.iter().map(|output| output.steps).sum();
        let mut agenda = Agenda {
            tasks: Vec::new(),
            joins: self.agenda.joins.clone(),
            deferred: self.agenda.deferred.clone(),
            deferred_sends: self.agenda.deferred_sends.clone(),
            visits: BTreeMap::new(),
            leaves: Vec::new(),
        };
        let mut next = Vec::new();
        let mut arrivals = Vec::new();
        let mut writes = Vec::with_capacity(outputs.len());
        // Copied before the commit uses them up; only a called graph has a caller to tell.
        let mut for_caller: Vec<Write> = match self.out_logs {
            Some(_) => self.named_writes(graph, &outputs),
            None => Vec::new(),
        };
        let mut writers = Writers::default();
        let mut claims = Claims::default();
        for (index, (task, output)) in self.agenda.tasks.iter().zip(outputs).enumerate() {
            if !graph.based.is_empty() {
                let fields = output.writes.iter().map(|write| write.field);
                writers.note(index, fields);
            }
            let send = task.send.as_ref().map(|(index, _)| *index);
            let by = claims.add(Who::Task(task.node, send), Vec::new());
            next.extend(output.next.into_iter().map(|next| (next, by)));
            arrivals.extend(output.arrives.into_iter().map(|join| (join, task.node)));
            agenda.leaves.extend(output.leaves);
            writes.push((task, output.writes, output.written));
        }
        let mut view = commit.put_all(writes, &mut claims)?;
        view.cascades = false;
        view.names_writes = self.out_logs.is_some();
        let by_tasks = view.writes.len();
        let (view, next) = commit.join(view, arrivals, next, &mut agenda, &mut claims)?;
        let mut view = commit.schedule(view, next, &mut agenda, &mut claims)?;
        if !graph.based.is_empty() {
            let jumps = view.writes.iter().skip(by_tasks).map(|write| write.field);
            writers.note(self.agenda.tasks.len(), jumps);
        }
        let (freshness, live) = commit.pass(&mut view, &writers);
        let view = commit.exit(view, &mut agenda)?;
        let (cleared, written) = (view.cleared, view.written);
        for_caller.extend(self.for_caller(view.writes, by_tasks));
        (self.freshness, self.live) = (freshness, live);
        self.step += 1;
        self.made += 1 + within;
        let mut changes = self.accept(graph, written, agenda);
        changes.extend(self.accept_cleared(graph, cleared));
        for write in for_caller {
            changes.extend(self.log(graph, write));
        }
        Ok(changes)
    }

    /// Notes a write for the caller. The log is kept in checkpoints as a field of its own.
    fn log(&mut self, graph: &GraphPlan, write: Write) -> Option<FieldWrite> {
        let tracked = !graph.untracked.contains(&write.field);
        let log = self.out_logs.as_mut()?.entry(write.field).or_default();
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

    fn accept(
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
    fn accept_cleared(&mut self, graph: &GraphPlan, cleared: BTreeSet<FieldId>) -> Vec<FieldWrite> {
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

    /// Writes a field whole once its changes outnumber what it held ([`Growth::pass`]); and the first time, where it did not
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

/// Name under which a checkpoint keeps the log of a field: no field of a flow is called so.
pub fn log_name(field: &str, replaced: bool) -> String {
    format!("{field}{}", if replaced { ":=" } else { ">" })
}

/// Whether a name in a checkpoint is none of a field: that of a log, of counts, of what waits, of a state that lasts, or of what
/// lies on one.
pub fn is_log(name: &str) -> bool {
    name.ends_with(['>', '='])
        || name == VISITS
        || name == WAITING
        || name == JOINS
        || kept::name::is_kept(name)
}

/// A commit under way: reads the frame, changes nothing in it.
struct Commit<'a> {
    around: Surroundings<'a>,
    key: TaskKey,
    /// Of jumps that belong to no task. Made when first asked for: most steps have none.
    effects: OnceLock<EffectScope>,
    frame: &'a Frame,
}

/// What jumps at the entry of a graph are named after.
static AT_START: LazyLock<Arc<str>> = LazyLock::new(|| "start!".into());

/// What jumps behind joins and full nodes are named after.
static AT_JOIN: LazyLock<Arc<str>> = LazyLock::new(|| "join!".into());

impl<'a> Commit<'a> {
    /// `begun`: super-steps of the frame that have begun and are not counted as made.
    fn new(
        cx: &'a RunContext,
        graph: &'a GraphPlan,
        frame: &'a Frame,
        name: &Arc<str>,
        begun: u64,
    ) -> Self {
        Self {
            around: frame.surroundings(cx, graph, begun),
            key: frame.task_key(name, None),
            effects: OnceLock::new(),
            frame,
        }
    }

    fn view(&self) -> View<'_> {
        let around = &self.around;
        View::new(
            &around.cx.plan,
            around.graph,
            (around.fields, around.freshness),
            MessageIds::new(self.key.clone()),
        )
    }

    /// The writes of all tasks in order. One task's are already put together.
    fn put_all(
        &self,
        mut outputs: Vec<TaskWrites<'_>>,
        claims: &mut Claims,
    ) -> Result<View<'_>, RunError> {
        let mut view = self.view();
        view.cascades = false;
        let (graph, path) = (self.around.graph, self.around.path);
        if let [(_, writes, written)] = outputs.as_mut_slice() {
            claims.note(graph, path, 0, writes)?;
            view.written = std::mem::take(written);
            return Ok(view);
        }
        for (number, (task, writes, _)) in outputs.into_iter().enumerate() {
            if writes.is_empty() {
                continue;
            }
            claims.note(graph, path, number, &writes)?;
            let send = task.send.as_ref().map(|(index, _)| *index);
            view.ids = MessageIds::new(
                self.frame
                    .task_key(&self.around.graph.nodes[task.node].name, send),
            );
            for write in writes {
                let field = write.field;
                let put = view.put(field, write.incoming);
                put.map_err(|error| {
                    let node = &self.around.graph.nodes[task.node];
                    let error = match node.set.iter().find(|item| item.field == field) {
                        Some(item) => item.refused(error),
                        None => error.at(node.place.clone()),
                    };
                    let name = &node.name;
                    error.in_node(name, &super::task::join_path(self.around.path, name))
                })?;
            }
        }
        Ok(view)
    }

    /// What the end of a super-step does to fields that nobody wrote: what was made from others goes back to
    /// its first value where it says `reset`, `ephemeral` fields that were written a step ago are cleared. Gives
    /// back what is stale from now on, and the `ephemeral` fields that this step has written.
    fn pass(&self, view: &mut View<'_>, writers: &Writers) -> (Freshness, BTreeSet<FieldId>) {
        let graph = self.around.graph;
        let mut freshness = self.frame.freshness.clone();
        for field in freshness.commit(&graph.based, writers) {
            view.clear(field);
            let value = graph.initial.get(field.0 as usize).cloned().flatten();
            let incoming = value.map(|value| Incoming {
                value,
                replace: true,
            });
            // A caller that was told of the value must hear that it is gone.
            view.writes
                .extend(incoming.map(|incoming| Write { field, incoming }));
        }
        if graph.ephemeral.is_empty() {
            return (freshness, BTreeSet::new());
        }
        let written = view.written.iter().map(|written| written.field);
        let live: BTreeSet<FieldId> = written.filter(|id| graph.ephemeral.contains(id)).collect();
        for field in self.frame.live.difference(&live) {
            view.clear(*field);
        }
        (freshness, live)
    }

    /// Drops what is left to do where a condition of the graph's `exit when` holds.
    fn exit<'v>(&'v self, view: View<'v>, agenda: &mut Agenda) -> Result<View<'v>, RunError> {
        let graph = self.around.graph;
        if graph.exits.is_empty() || !agenda.leaves.is_empty() {
            return Ok(view);
        }
        let mut ends = false;
        let mut leaves = Vec::new();
        let (view, _) = self.follow(view, graph.slots, &mut leaves, |run| {
            for when in &graph.exits {
                ends = ends || when.holds(&run.env())?;
            }
            Ok(())
        })?;
        if ends {
            let visits = std::mem::take(&mut agenda.visits);
            *agenda = Agenda {
                visits,
                ..Agenda::default()
            };
        }
        Ok(view)
    }

    /// Notes what a jump that belongs to no task has written, behind the first `before` writes.
    fn claim(
        &self,
        claims: &mut Claims,
        writer: usize,
        view: &View<'_>,
        before: usize,
    ) -> Result<(), RunError> {
        let writes = view.writes.get(before..).unwrap_or_default();
        claims.note(self.around.graph, self.around.path, writer, writes)
    }

    /// Arrivals at joins; a join whose members have all arrived leads on.
    fn join<'v>(
        &'v self,
        mut view: View<'v>,
        arrivals: Vec<(JoinId, NodeId)>,
        mut next: Vec<Led>,
        agenda: &mut Agenda,
        claims: &mut Claims,
    ) -> Result<(View<'v>, Vec<Led>), RunError> {
        for (join, node) in arrivals {
            let (members, jump) = &self.around.graph.joins[join];
            let arrived = agenda.joins.entry(join).or_default();
            arrived.insert(node);
            if members.iter().all(|member| arrived.contains(member)) {
                agenda.joins.remove(&join);
                let before = view.writes.len();
                let more;
                (view, more) =
                    self.follow(view, self.around.graph.slots, &mut agenda.leaves, |run| {
                        run.take(jump)
                    })?;
                let by = claims.add(Who::Join(join), Vec::new());
                self.claim(claims, by, &view, before)?;
                next.extend(more.into_iter().map(|next| (next, by)));
            }
        }
        Ok((view, next))
    }

    /// The next tasks, in the fixed order; a node entered too often leads elsewhere.
    fn schedule<'v>(
        &'v self,
        mut view: View<'v>,
        next: Vec<Led>,
        agenda: &mut Agenda,
        claims: &mut Claims,
    ) -> Result<View<'v>, RunError> {
        let graph = self.around.graph;
        if let [(Next::Node(id), _)] = next.as_slice()
            && self.is_plain(*id)
        {
            let (node, send) = (*id, None);
            agenda.tasks = vec![Task { node, send }];
            self.hold(agenda)?;
            return Ok(view);
        }
        let leading = self.leading(&next);
        let mut nodes: BTreeSet<NodeId> = BTreeSet::new();
        let mut sends: BTreeMap<NodeId, Vec<Value>> = BTreeMap::new();
        // Nodes that arrows have found full: what holds for one arrow into a node holds for several.
        let mut full: BTreeSet<NodeId> = BTreeSet::new();
        // Each with the full nodes that it was sent on by.
        let mut queue: VecDeque<(Led, Vec<NodeId>)> =
            next.into_iter().map(|item| (item, Vec::new())).collect();
        while let Some(((item, from), by)) = queue.pop_front() {
            let (Next::Node(id) | Next::Send(id, _)) = &item;
            let id = *id;
            if by.contains(&id) {
                return Err(self.circle(id, &by));
            }
            let arrow = matches!(item, Next::Node(_));
            if arrow && (nodes.contains(&id) || agenda.deferred.contains(&id) || full.contains(&id))
            {
                continue;
            }
            let node = &graph.nodes[id];
            if let Some((limit, jump)) = &node.max_visits {
                let before = || self.frame.visits.of(id);
                let visits = agenda.visits.entry(id).or_insert_with(before);
                if *visits >= *limit {
                    if arrow {
                        full.insert(id);
                    }
                    let before = view.writes.len();
                    let more;
                    (view, more) = self.leave_for(view, id, jump, &mut agenda.leaves)?;
                    let others = leading.get(&id).filter(|_| arrow);
                    let behind = others.into_iter().flatten().copied();
                    let stand_in = claims.add(Who::Full(id), behind.chain([from]).collect());
                    self.claim(claims, stand_in, &view, before)?;
                    let by: Vec<NodeId> = by.into_iter().chain([id]).collect();
                    let more = more.into_iter().map(|item| (item, stand_in));
                    queue.extend(more.map(|item| (item, by.clone())));
                    continue;
                }
                *visits += 1;
            }
            match item {
                Next::Node(_) if node.defer => agenda.deferred.insert(id),
                Next::Node(_) => nodes.insert(id),
                Next::Send(_, input) => {
                    let waiting = match node.defer {
                        true => &mut agenda.deferred_sends,
                        false => &mut sends,
                    };
                    waiting.entry(id).or_default().push(input);
                    true
                }
            };
        }
        if nodes.is_empty() && sends.is_empty() {
            nodes = std::mem::take(&mut agenda.deferred);
            sends = std::mem::take(&mut agenda.deferred_sends);
        }
        agenda.tasks = in_order(nodes, sends);
        self.hold(agenda)?;
        Ok(view)
    }

    /// Whether an arrow into a node makes a task of the next step, whatever else there is.
    fn is_plain(&self, id: NodeId) -> bool {
        let node = &self.around.graph.nodes[id];
        !node.defer && node.max_visits.is_none()
    }

    /// Refuses more tasks than a step may have.
    fn hold(&self, agenda: &Agenda) -> Result<(), RunError> {
        let waiting = agenda.deferred_sends.iter();
        let waiting = waiting.flat_map(|(node, sent)| std::iter::repeat_n(*node, sent.len()));
        let all = agenda.tasks.iter().map(|task| task.node).chain(waiting);
        let around = &self.around;
        around.cx.tasks.hold(around.graph, around.path, all)
    }

    /// Whose arrows lead to each of the nodes that bound their visits.
    fn leading(&self, next: &[Led]) -> BTreeMap<NodeId, Vec<usize>> {
        let mut leading: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (item, from) in next {
            if let Next::Node(id) = item
                && self.around.graph.nodes[*id].max_visits.is_some()
            {
                leading.entry(*id).or_default().push(*from);
            }
        }
        leading
    }

    /// Nodes that were all entered too often send on to each other: no super-step would end that.
    fn circle(&self, node: NodeId, by: &[NodeId]) -> RunError {
        let nodes = &self.around.graph.nodes;
        let from = by.iter().skip_while(|before| **before != node);
        let names: Vec<&str> = from
            .chain([&node])
            .map(|node| &*nodes[*node].name)
            .collect();
        let message = format!(
            "`max_visits` leads in a circle of nodes that were all visited as often as they may be: {}",
            names.join(" -> ")
        );
        let name = &nodes[node].name;
        RunError::new(ErrorKind::RecursionLimit, message)
            .in_node(name, &super::task::join_path(self.around.path, name))
    }

    fn leave_for<'v>(
        &'v self,
        view: View<'v>,
        node: NodeId,
        jump: &'v JumpPlan,
        leaves: &mut Vec<Arc<str>>,
    ) -> Result<(View<'v>, Vec<Next>), RunError> {
        let node = &self.around.graph.nodes[node];
        let followed = self.follow(view, node.slots, leaves, |run| run.take(jump));
        let name = &node.name;
        followed
            .map_err(|error| error.in_node(name, &super::task::join_path(self.around.path, name)))
    }

    fn follow<'v>(
        &'v self,
        view: View<'v>,
        slots: usize,
        leaves: &mut Vec<Arc<str>>,
        act: impl FnOnce(&mut TaskRun<'v>) -> Result<(), RunError>,
    ) -> Result<(View<'v>, Vec<Next>), RunError> {
        let effects = self.effects.get_or_init(|| {
            let never = CancellationToken::new();
            EffectScope::new(self.key.clone(), never)
        });
        let mut run = TaskRun::aside(&self.around, "", slots, view, effects);
        act(&mut run)?;
        let (view, next, left) = run.into_view();
        leaves.extend(left);
        Ok((view, next))
    }
}

/// What comes next, with the number of the writer that led there.
type Led = (Next, usize);

/// What a task wrote: its writes, and the same put together with the state before the step.
type TaskWrites<'t> = (&'t Task, Vec<Write>, Vec<Written>);

fn in_order(nodes: BTreeSet<NodeId>, sends: BTreeMap<NodeId, Vec<Value>>) -> Vec<Task> {
    let mut tasks: Vec<Task> = nodes
        .into_iter()
        .map(|node| Task { node, send: None })
        .collect();
    for (node, inputs) in sends {
        let sent = inputs.into_iter().enumerate();
        tasks.extend(sent.map(|(index, input)| Task {
            node,
            send: Some((index as u32, input)),
        }));
    }
    // Stable: of one node, the arrow's task comes before the sends.
    tasks.sort_by_key(|task| task.node);
    tasks
}
