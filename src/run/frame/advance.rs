//! How a frame goes on: in at its entry, and by a commit of what the tasks of a step have given.

use crate::ir::{ErrorKind, FieldId};
use crate::run::channel::Incoming;
use crate::run::clash::{Claims, Who};
use crate::run::context::RunContext;
use crate::run::error::RunError;
use crate::run::event::RouteKind;
use crate::run::freshness::Writers;
use crate::run::plan::GraphPlan;
use crate::run::store::FieldWrite;
use crate::run::task::Output;
use crate::run::view::{MessageIds, Write};
use crate::value::Value;

use super::commit::{AT_JOIN, AT_START, Commit};
use super::{Agenda, Frame};

impl Frame {
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
            run.route(&graph.start, RouteKind::Next)
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
        let mut agenda = Agenda {
            tasks: Vec::new(),
            joins: self.agenda.joins.clone(),
            deferred: self.agenda.deferred.clone(),
            deferred_sends: self.agenda.deferred_sends.clone(),
            deferred_then: self.agenda.deferred_then.clone(),
            ..Agenda::default()
        };
        let mut next = Vec::new();
        let mut arrivals = Vec::new();
        let mut writes = Vec::with_capacity(outputs.len());
        // Copied before the commit uses them up; only a called graph has a caller to tell.
        let mut for_caller: Vec<Write> = match self.out_logs {
            Some(_) => self.named_writes(graph, &outputs),
            None => Vec::new(),
        };
        let mut permitted = Vec::new();
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
            permitted.extend(output.permitted);
            writes.push((task, output.writes, output.written));
        }
        let mut view = commit.put_all(writes, &mut claims)?;
        view.cascades = false;
        view.names_writes = self.out_logs.is_some();
        let by_tasks = view.writes.len();
        // A graph that is left ends with this step: nothing that the other tasks lead to is done.
        let mut view = if agenda.leaves.is_empty() {
            let (view, next) = commit.join(view, arrivals, next, &mut agenda, &mut claims)?;
            let (view, next) = commit.behind_fan_outs(view, next, &mut agenda, &mut claims)?;
            commit.schedule(view, next, &mut agenda, &mut claims)?
        } else {
            view
        };
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
        self.made += 1;
        let root = self.key.is_empty();
        if root {
            permitted.extend(cx.permitting.commit());
        }
        let mut changes = self.accept(graph, written, agenda);
        changes.extend(self.permissions.accept(permitted, root));
        changes.extend(self.accept_cleared(graph, cleared));
        for write in for_caller {
            changes.extend(self.log(graph, write));
        }
        Ok(changes)
    }
}
