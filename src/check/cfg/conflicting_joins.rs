//! Joins that lead on, and who writes the same field in that super-step: a task beside, a member that comes to them, another join.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::bit_set::ChunkedBitSet;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{FieldId, JoinId, NodeId};

use super::super::not_proven::not_proven;
use super::mhp::MayHappenInParallel;
use super::model::{BlockId, ControlFlowGraph, Transition, Write};
use super::step_writes::{FieldWriters, by_field, by_task, collides, help, makers, on_ways};

/// Most pairs of last members of two joins that are tried.
const TRIED: usize = 256;

/// A join that may lead on, and what is written then.
struct Writer {
    join: JoinId,
    fields: BTreeMap<FieldId, FieldWriters>,
}

/// Reports each field that a join may write in the super-step in which another task or join does, once.
pub fn races(cfg: &ControlFlowGraph, mhp: &MayHappenInParallel, diags: &mut Diagnostics) {
    let joins = cfg.joins.entries();
    let joins = joins.filter(|(id, _)| mhp.fires(*id));
    let writers = joins.map(|(id, join)| Writer {
        join: id,
        fields: makers(cfg, on_ways(cfg, join.transitions.iter()))
            .into_iter()
            .collect(),
    });
    let writers: Vec<Writer> = writers.filter(|join| !join.fields.is_empty()).collect();
    if writers.is_empty() {
        return;
    }
    let nodes = by_field(cfg, cfg.nodes.ids());
    for writer in &writers {
        for (field, own) in &writer.fields {
            if let Some(found) = beside(cfg, mhp, (writer.join, *field, own), &nodes) {
                diags.push(found);
            }
        }
    }
    at_once(cfg, mhp, &writers, diags);
}

/// A join and a task that write a field in one super-step, if need be one of its own members.
fn beside(
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    (id, field, own): (JoinId, FieldId, &FieldWriters),
    nodes: &BTreeMap<FieldId, BTreeMap<NodeId, FieldWriters>>,
) -> Option<Diagnostic> {
    let by_node = nodes.get(&field)?;
    let writers: ChunkedBitSet = by_node.keys().map(|id| id.0).collect();
    let members = || cfg.members(id);
    let near = members().map(|member| mhp.partners(member));
    let mut beside = ChunkedBitSet::new();
    near.for_each(|near| beside |= &(&*near & &writers));
    let others = beside.iter().map(NodeId);
    let others = others.filter(|node| !members().any(|member| member == *node));
    for node in others.filter(|node| mhp.leads_on_beside(id, *node)) {
        let collide = by_node.get(&node).and_then(|makers| makers.collide(own));
        if let Some((other, write)) = collide {
            return Some(conflict(cfg, id, (field, write), (node, other), false));
        }
    }
    members()
        .filter(|member| writers.contains(member.0))
        .find_map(|member| {
            // One that jumps elsewhere does not come.
            let here = BlockId::Join(id);
            let comes = |way: &Transition| way.successors.iter().any(|to| to.to == here);
            let comes = by_task(cfg, member, comes);
            let (other, write) = makers(cfg, comes).get(&field)?.collide(own)?;
            let last = mhp.leads_on_beside(id, member);
            last.then(|| conflict(cfg, id, (field, write), (member, other), true))
        })
}

/// Joins that lead on at once, and write the same field.
fn at_once(
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    joins: &[Writer],
    diags: &mut Diagnostics,
) {
    let mut by_field: BTreeMap<FieldId, Vec<(JoinId, &FieldWriters)>> = BTreeMap::new();
    for writer in joins {
        for (field, makers) in &writer.fields {
            let known = by_field.entry(*field).or_default();
            known.push((writer.join, makers));
        }
    }
    for (field, writers) in by_field {
        if let Some(found) = first_of(cfg, mhp, field, &writers) {
            diags.push(found);
        }
    }
}

/// The first two of the joins that lead on at once, or one that does so twice.
fn first_of(
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    field: FieldId,
    writers: &[(JoinId, &FieldWriters)],
) -> Option<Diagnostic> {
    let mut by_member: BTreeMap<NodeId, BTreeSet<usize>> = BTreeMap::new();
    for (at, (id, _)) in writers.iter().enumerate() {
        let members = cfg.members(*id);
        members.for_each(|member| _ = by_member.entry(member).or_default().insert(at));
    }
    let all: ChunkedBitSet = by_member.keys().map(|id| id.0).collect();
    for (at, (id, makers)) in writers.iter().enumerate() {
        if let Some((_, write)) = makers.collide(makers)
            && mhp.leads_on_twice(*id)
        {
            return Some(twice(cfg, *id, (field, write)));
        }
        let mut tries: BTreeMap<usize, Vec<(NodeId, NodeId)>> = BTreeMap::new();
        for member in cfg.members(*id) {
            let partners = mhp.partners(member);
            let near = &*partners & &all;
            let near = near.iter().map(NodeId);
            for last in near.filter(|near| *near != member).chain([member]) {
                let others = by_member.get(&last).into_iter().flatten();
                for other in others.filter(|other| **other > at) {
                    tries.entry(*other).or_default().push((member, last));
                }
            }
        }
        for (other, tries) in tries {
            let second = writers.get(other);
            let both = second.and_then(|(second, others)| Some((second, makers.collide(others)?)));
            let Some((second, writes)) = both else {
                continue;
            };
            let mut first = tries.iter().take(TRIED);
            if first.any(|(one, two)| mhp.lead_on_at_once((*id, *one), (*second, *two))) {
                return Some(both_write(cfg, [*id, *second], field, writes));
            }
            if tries.len() > TRIED {
                let what = "too many members of two joins may come at once";
                let join = cfg.joins.get(*id).map(|join| join.span);
                let at = join.unwrap_or_default();
                return Some(not_proven(&codes::WRITE_CONFLICT, what, at));
            }
        }
    }
    None
}

impl MayHappenInParallel<'_> {
    /// Whether a join may lead on in the super-step of a node: one of its members runs then, the node itself where it is one,
    /// and each other does too or waits.
    fn leads_on_beside(&self, id: JoinId, node: NodeId) -> bool {
        let members = || self.cfg.members(id);
        self.fires(id)
            && members().all(|member| self.at_join(id, member, node))
            && members().any(|member| member == node || self.has(member.0, node.0))
    }

    /// Whether two joins may lead on in one super-step, as the last member of each has come.
    fn lead_on_at_once(&self, (one, last): (JoinId, NodeId), (two, end): (JoinId, NodeId)) -> bool {
        let whole = |id: JoinId| {
            let mut members = self.cfg.members(id);
            members.all(|member| self.at_join(id, member, last) && self.at_join(id, member, end))
        };
        whole(one) && whole(two)
    }

    /// Whether a join may lead on twice in one super-step: each member comes twice, or comes where it waits.
    fn leads_on_twice(&self, id: JoinId) -> bool {
        let mut members = self.cfg.members(id);
        let waits = |member| {
            let wait = self.places.wait(id, member);
            wait.is_some_and(|wait: u32| self.has(wait, member.0))
        };
        members.all(|member| self.has(member.0, member.0) || waits(member))
    }

    /// Whether a member may run, or wait at the join, in the super-steps of a node.
    fn at_join(&self, id: JoinId, member: NodeId, node: NodeId) -> bool {
        let waits = || {
            let wait = self.places.wait(id, member);
            wait.is_some_and(|wait| self.has(wait, node.0))
        };
        member == node || self.has(member.0, node.0) || waits()
    }
}

/// `` `a` and `b` ``
fn members(cfg: &ControlFlowGraph, id: JoinId) -> String {
    let members = cfg.members(id).map(BlockId::Node);
    list(members.map(|member| cfg.name(member)))
}

fn conflict(
    cfg: &ControlFlowGraph,
    id: JoinId,
    (field, write): (FieldId, Write),
    (node, other): (NodeId, Write),
    member: bool,
) -> Diagnostic {
    let node = cfg.name(BlockId::Node(node));
    let who = format!("`{node}` and the join of {} may", members(cfg, id));
    let beside = match member {
        true => "written by the member as it comes",
        false => "written beside it",
    };
    found(cfg, who, (field, write))
        .here("written when the last member has come")
        .label(other.span, beside)
}

fn both_write(
    cfg: &ControlFlowGraph,
    ids: [JoinId; 2],
    field: FieldId,
    writes: (Write, Write),
) -> Diagnostic {
    let [one, two] = ids.map(|id| members(cfg, id));
    let who = format!("the join of {one} and the join of {two} may");
    found(cfg, who, (field, writes.1))
        .here("written when the last member of the one has come")
        .label(writes.0.span, "written when that of the other has")
}

fn found(cfg: &ControlFlowGraph, who: String, (field, write): (FieldId, Write)) -> Diagnostic {
    let field = collides(cfg, field).unwrap_or("?");
    let message = format!("{who} write `{field}` in the same super-step");
    Diagnostic::new(&codes::WRITE_CONFLICT, message, write.span).help(help(field))
}

fn twice(cfg: &ControlFlowGraph, id: JoinId, (field, write): (FieldId, Write)) -> Diagnostic {
    let field = collides(cfg, field).unwrap_or("?");
    let message = format!(
        "the join of {} may lead on twice in one super-step, and write `{field}` each time",
        members(cfg, id)
    );
    Diagnostic::new(&codes::WRITE_CONFLICT, message, write.span).help(help(field))
}
