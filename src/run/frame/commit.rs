//! A commit under way: writes put together, and jumps that belong to no task.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, OnceLock};

use tokio_util::sync::CancellationToken;

use crate::ir::{FieldId, JoinId, NodeId};
use crate::run::channel::Incoming;
use crate::run::clash::{Claims, Who};
use crate::run::context::RunContext;
use crate::run::effect::EffectScope;
use crate::run::error::RunError;
use crate::run::freshness::{Freshness, Writers};
use crate::run::key::TaskKey;
use crate::run::plan::GraphPlan;
use crate::run::task::{Next, Surroundings, Task, TaskRun, join_path};
use crate::run::view::{MessageIds, View, Write, Written};

use super::{Agenda, Frame};

/// A commit under way: reads the frame, changes nothing in it.
pub(super) struct Commit<'a> {
    pub(super) around: Surroundings<'a>,
    key: TaskKey,
    /// Of jumps that belong to no task. Made when first asked for: most steps have none.
    effects: OnceLock<EffectScope>,
    pub(super) frame: &'a Frame,
}

/// What jumps at the entry of a graph are named after.
pub(super) static AT_START: LazyLock<Arc<str>> = LazyLock::new(|| "start!".into());

/// What jumps behind joins and full nodes are named after.
pub(super) static AT_JOIN: LazyLock<Arc<str>> = LazyLock::new(|| "join!".into());

impl<'a> Commit<'a> {
    /// `begun`: super-steps of the frame that have begun and are not counted as made.
    pub(super) fn new(
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

    pub(super) fn view(&self) -> View<'_> {
        let around = &self.around;
        View::new(
            &around.cx.plan,
            around.graph,
            (around.fields, around.freshness),
            MessageIds::new(self.key.clone()),
        )
    }

    /// The writes of all tasks in order. One task's are already put together.
    pub(super) fn put_all(
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
        // What a task has made anew begins so for all that write it.
        for write in outputs.iter().flat_map(|(_, writes, _)| writes) {
            if write.anew {
                view.clear(write.field);
            }
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
                    error.in_node(name, &join_path(self.around.path, name))
                })?;
            }
        }
        Ok(view)
    }

    /// What the end of a super-step does to fields that nobody wrote: what was made from others goes back to
    /// its first value where it says `reset`, `ephemeral` fields that were written a step ago are cleared. Gives
    /// back what is stale from now on, and the `ephemeral` fields that this step has written.
    pub(super) fn pass(
        &self,
        view: &mut View<'_>,
        writers: &Writers,
    ) -> (Freshness, BTreeSet<FieldId>) {
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
            view.writes.extend(incoming.map(|incoming| Write {
                field,
                incoming,
                anew: false,
            }));
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
    pub(super) fn exit<'v>(
        &'v self,
        view: View<'v>,
        agenda: &mut Agenda,
    ) -> Result<View<'v>, RunError> {
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
    pub(super) fn claim(
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
    pub(super) fn join<'v>(
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

    pub(super) fn follow<'v>(
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
pub(super) type Led = (Next, usize);

/// What a task wrote: its writes, and the same put together with the state before the step.
pub(super) type TaskWrites<'t> = (&'t Task, Vec<Write>, Vec<Written>);
