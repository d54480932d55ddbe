//! A join's own update, and a task that writes the same field while the join leads on.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{FieldId, JoinId, NodeId};

use super::model::{Flow, Gather, Spot, Write};
use super::race::{writes_of, writes_on};
use super::together::Together;

/// Reports each field that a join may write in the super-step in which another task does, once.
pub fn races(flow: &Flow, together: &Together, diags: &mut Diagnostics) {
    if !together.complete() {
        return;
    }
    let colliding = |write: &Write| {
        let name = flow.colliding.get(write.field.0 as usize);
        name.is_some_and(Option::is_some)
    };
    let mut writers: Option<BTreeMap<FieldId, Vec<(NodeId, Write)>>> = None;
    for (id, join) in flow.joins.entries() {
        let writes = writes_on(flow, join.ways.iter());
        let mut told = BTreeSet::new();
        for write in writes.into_iter().filter(colliding) {
            let writers = writers.get_or_insert_with(|| by_field(flow));
            let others = writers.get(&write.field).into_iter().flatten();
            let mut beside = others.filter(|(node, _)| together.leads_on_beside(id, *node));
            if let Some((node, other)) = beside.next()
                && told.insert(write.field)
            {
                diags.push(conflict(flow, join, write, (*node, *other)));
            }
        }
    }
}

/// Who writes what.
fn by_field(flow: &Flow) -> BTreeMap<FieldId, Vec<(NodeId, Write)>> {
    let mut all: BTreeMap<FieldId, Vec<(NodeId, Write)>> = BTreeMap::new();
    for id in flow.stops.ids() {
        for write in writes_of(flow, id) {
            all.entry(write.field).or_default().push((id, write));
        }
    }
    all
}

impl Together<'_> {
    /// Whether a join may lead on in the super-step of a node that is none of its members: one of them runs beside it, and
    /// each other does too or waits.
    fn leads_on_beside(&self, id: JoinId, node: NodeId) -> bool {
        let Some(join) = self.flow.joins.get(id).filter(|_| self.fires(id)) else {
            return false;
        };
        let members = || join.members.iter().map(|(member, _)| *member);
        let runs = |member: NodeId| self.has(member.0, node.0);
        let waits = |member: NodeId| {
            let wait = self.places.wait(id, member);
            wait.is_some_and(|wait| self.has(wait, node.0))
        };
        members().all(|member| member != node && (runs(member) || waits(member)))
            && members().any(runs)
    }
}

fn conflict(
    flow: &Flow,
    join: &Gather,
    write: Write,
    (node, other): (NodeId, Write),
) -> Diagnostic {
    let members = join.members.iter();
    let members = list(members.map(|(member, _)| flow.name(Spot::Node(*member))));
    let field = flow.colliding.get(write.field.0 as usize);
    let field = field.and_then(Option::as_deref).unwrap_or("?");
    let message = format!(
        "`{}` and the join of {members} may write `{field}` in the same super-step",
        flow.name(Spot::Node(node))
    );
    Diagnostic::new(&codes::WRITE_CONFLICT, message, write.span)
        .here("written when the last member has come")
        .label(other.span, "written beside it")
        .help(format!(
            "give `{field}` a reducer (`via append` gathers a list, `via any_last` keeps one of the values), or let one \
             run after the other"
        ))
}
