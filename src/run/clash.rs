//! Who has written what in one super-step: of a field without a reducer only one write counts, so that two writers of which
//! none comes behind the other are an error.
//!
//! The compiler refuses flows in which that can be. This is asked again at each commit, so that no value is ever lost without
//! a word.

use std::collections::BTreeMap;

use crate::base::name::list;
use crate::ir::{ErrorKind, FieldId, JoinId, NodeId};

use super::error::RunError;
use super::plan::GraphPlan;
use super::task::join_path;
use super::view::Write;

/// Who writes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Who {
    /// The entry's route.
    Entry,
    /// A task: its work, its `set`, its jumps and the branches behind them, in order.
    Task(NodeId, Option<u32>),
    /// A join that leads on.
    Join(JoinId),
    /// A fan-out that leads on as a whole, to that branch.
    Then(NodeId),
    /// What is done in place of a node that has been visited often enough.
    Full(NodeId),
}

/// The writers of one super-step, by number in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// Each with those that led to it, behind which it comes.
    writers: Vec<(Who, Vec<usize>)>,
    /// Who has written each field last.
    last: BTreeMap<FieldId, usize>,
}

impl Claims {
    /// Adds a writer that others have led to. Gives back its number.
    pub(super) fn add(&mut self, who: Who, behind: Vec<usize>) -> usize {
        self.writers.push((who, behind));
        self.writers.len() - 1
    }

    /// Notes what one has written.
    ///
    /// # Errors
    /// Where another has written a field that takes one write, and did not lead to this one.
    pub(super) fn note(
        &mut self,
        graph: &GraphPlan,
        path: &str,
        writer: usize,
        writes: &[Write],
    ) -> Result<(), RunError> {
        for write in writes {
            let field = write.field;
            if graph.channels[field].gathers() {
                continue;
            }
            if let Some(before) = self.last.insert(field, writer)
                && !self.led_to(before, writer)
            {
                return Err(self.clash(graph, path, [before, writer], field));
            }
        }
        Ok(())
    }

    /// Whether one is another, or has led to it by however many.
    fn led_to(&self, one: usize, other: usize) -> bool {
        let mut open = vec![other];
        while let Some(at) = open.pop() {
            if at == one {
                return true;
            }
            // Whoever leads to a writer was there before it.
            let behind = self.writers.get(at).into_iter().flat_map(|(_, by)| by);
            open.extend(behind.filter(|by| **by >= one));
        }
        false
    }

    fn clash(&self, graph: &GraphPlan, path: &str, both: [usize; 2], field: FieldId) -> RunError {
        let who = both.map(|at| self.writers.get(at).map(|(who, _)| *who));
        let [one, other] = who.map(|who| who.map_or_else(String::new, |who| name(graph, who)));
        let message = both_wrote(&one, &other, &graph.fields[field]);
        let error = RunError::new(ErrorKind::Expression, message);
        match who[1] {
            Some(Who::Task(node, _) | Who::Full(node)) => {
                let node = &graph.nodes[node].name;
                error.in_node(node, &join_path(path, node))
            }
            _ => error,
        }
    }
}

/// What two writers of a field are told.
pub(super) fn both_wrote(one: &str, other: &str, field: &str) -> String {
    format!("{one} and {other} both wrote field `{field}` in one super-step, and it has no reducer")
}

fn name(graph: &GraphPlan, who: Who) -> String {
    match who {
        Who::Entry => "`start`".to_owned(),
        Who::Task(node, None) => format!("`{}`", graph.nodes[node].name),
        Who::Task(node, Some(send)) => format!("`{}[{send}]`", graph.nodes[node].name),
        Who::Join(id) => {
            let members = graph.joins[id].0.iter();
            let members = list(members.map(|node| &*graph.nodes[*node].name));
            format!("the join of {members}")
        }
        Who::Then(node) => format!("`then {}`", graph.nodes[node].name),
        Who::Full(node) => format!("`max_visits` of `{}`", graph.nodes[node].name),
    }
}
