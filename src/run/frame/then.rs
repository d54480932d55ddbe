//! Where fan-outs lead as a whole (`each .. then NODE`): behind their tasks, or in their place where none was made.
//!
//! All tasks of a fan-out run in one super-step, so that what comes behind them is known when that is committed, whatever has
//! become of each. Several that lead to the same node lead there once, behind the last.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::NodeId;
use crate::run::clash::{Claims, Who};
use crate::run::error::RunError;
use crate::run::plan::{GraphPlan, WorkPlan};
use crate::run::task::Next;
use crate::run::view::View;

use super::Agenda;
use super::commit::{Commit, Led};

/// The fan-outs of a commit.
#[derive(Default)]
pub(super) struct FanOuts {
    /// Nodes that they lead to, each with the numbers of those that have made them.
    leading: BTreeMap<NodeId, Vec<usize>>,
    /// Those of which a task runs in the next super-step.
    running: BTreeSet<NodeId>,
    /// Those of which a task waits until nothing else is left.
    waiting: BTreeSet<NodeId>,
    /// Those that were led to in this commit.
    taken: BTreeSet<NodeId>,
}

impl FanOuts {
    /// A fan-out leads to that node as a whole.
    pub(super) fn lead(&mut self, to: NodeId, by: usize) {
        self.leading.entry(to).or_default().push(by);
    }

    /// A task of a fan-out that leads to these nodes was made. Where it is `deferred`, it waits.
    pub(super) fn made(&mut self, deferred: bool, then: &[NodeId]) {
        let behind = match deferred {
            true => &mut self.waiting,
            false => &mut self.running,
        };
        behind.extend(then);
    }

    /// A node to lead to now, since no fan-out that leads to it has made a task, with those that lead there. Branches come
    /// first: what they send may lead to one of the others.
    pub(super) fn in_place(&mut self, graph: &GraphPlan) -> Option<(NodeId, Vec<usize>)> {
        let empty = |node: &&NodeId| !self.running.contains(node) && !self.waiting.contains(node);
        let mut all = self.leading.keys().filter(empty);
        let is_branch = |node: &&NodeId| matches!(graph.nodes[**node].work, WorkPlan::Branch);
        let first = all.clone().find(is_branch).or_else(|| all.next()).copied();
        let by = self.leading.remove(&first?)?;
        // A branch that leads back to itself would never end; the compiler refuses one.
        match self.taken.insert(first?) {
            true => Some((first?, by)),
            false => self.in_place(graph),
        }
    }

    /// What is behind the tasks that were made.
    pub(super) fn note(self, agenda: &mut Agenda) {
        let behind = self.running.difference(&self.waiting);
        agenda.then.extend(behind);
        agenda.deferred_then.extend(self.waiting);
    }
}

impl<'a> Commit<'a> {
    /// What the fan-outs of the step's tasks lead to.
    pub(super) fn behind_fan_outs<'v>(
        &'v self,
        mut view: View<'v>,
        mut next: Vec<Led>,
        agenda: &mut Agenda,
        claims: &mut Claims,
    ) -> Result<(View<'v>, Vec<Led>), RunError> {
        for node in &self.frame.agenda.then {
            let more;
            (view, more) = self.lead_on(view, *node, Vec::new(), agenda, claims)?;
            next.extend(more);
        }
        Ok((view, next))
    }

    /// Goes to a node that a fan-out leads to as a whole. `by`: those that have made it, behind which it comes.
    pub(super) fn lead_on<'v>(
        &'v self,
        view: View<'v>,
        node: NodeId,
        by: Vec<usize>,
        agenda: &mut Agenda,
        claims: &mut Claims,
    ) -> Result<(View<'v>, Vec<Led>), RunError> {
        let before = view.writes.len();
        let slots = self.around.graph.slots;
        let (view, more): (_, Vec<Next>) =
            self.follow(view, slots, &mut agenda.leaves, |run| run.enter(node))?;
        let writer = claims.add(Who::Then(node), by);
        self.claim(claims, writer, &view, before)?;
        Ok((view, more.into_iter().map(|next| (next, writer)).collect()))
    }
}
