//! `:=` beside a write through the reducer: what was written before it in the super-step is dropped.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{FieldId, NodeId};
use crate::resolve::program::Graph;

use super::cfg::past_reducer::HandedOn;
use super::cfg::writes_of;
use super::cfg::{BlockId, ControlFlowGraph, MayHappenInParallel, Write};

/// Reports each field once that a node replaces in a super-step in which another task may write it.
pub fn writes(
    graph: &Graph,
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    handed_on: &[HandedOn],
    diags: &mut Diagnostics,
) {
    let replaced = replaced(graph, handed_on);
    if replaced.is_empty() {
        return;
    }
    let fields: BTreeSet<FieldId> = replaced.keys().map(|(field, _)| *field).collect();
    let mut by_field: BTreeMap<FieldId, BTreeMap<NodeId, Vec<Write>>> = BTreeMap::new();
    for id in cfg.nodes.ids() {
        let writes = writes_of(cfg, id).into_iter();
        for write in writes.filter(|write| fields.contains(&write.field)) {
            let writers = by_field.entry(write.field).or_default();
            writers.entry(id).or_default().push(write);
        }
    }
    for (field, writers) in by_field {
        let Some(declared) = graph.fields.get(field).filter(|of| of.channel.gathers()) else {
            continue;
        };
        let past = |write: &&Write| replaced.contains_key(&(field, write.span));
        let replacing = writers.iter().filter_map(|(id, writes)| {
            let write = writes.iter().find(past)?;
            Some((*id, *write))
        });
        let mut pairs = replacing.filter_map(|by| Some((by, beside(&writers, mhp, by)?)));
        if let Some((by, other)) = pairs.next() {
            let inside = replaced.get(&(field, by.1.span)).copied().flatten();
            diags.push(report(cfg, mhp, (by, inside), other, &declared.name.node));
        }
    }
}

/// The first write that another task may make in the super-step of one.
fn beside(
    writers: &BTreeMap<NodeId, Vec<Write>>,
    mhp: &MayHappenInParallel,
    (by, write): (NodeId, Write),
) -> Option<(NodeId, Write)> {
    let partners = mhp.partners(by);
    let (id, writes) = (partners.iter().map(NodeId)).find_map(|id| writers.get_key_value(&id))?;
    let other = writes.iter().find(|other| other.span != write.span);
    Some((*id, *other.or(writes.first())?))
}

/// Writes of a graph that go past a reducer: those of its own `:=`, and those by which a tool or a called graph hands one on,
/// with its place there.
fn replaced(graph: &Graph, handed_on: &[HandedOn]) -> BTreeMap<(FieldId, Span), Option<Span>> {
    let handed = handed_on.iter();
    let handed = handed.map(|by| ((by.field, by.at), Some(by.inside)));
    let items = graph.sets().filter(|item| item.replace);
    let own = items.filter_map(|item| Some(((item.field?, item.name.span), None)));
    handed.chain(own).collect()
}

fn report(
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    ((by, write), inside): ((NodeId, Write), Option<Span>),
    (beside, other): (NodeId, Write),
    field: &str,
) -> Diagnostic {
    let name = |node: NodeId| cfg.name(BlockId::Node(node));
    let both = match by == beside {
        true => format!("tasks of `{}` that run in the same super-step", name(by)),
        false => {
            let (first, second) = (by.min(beside), by.max(beside));
            let (first, second) = (name(first), name(second));
            format!("`{first}` and `{second}`, in the same super-step,")
        }
    };
    let message = format!(
        "{both} both write `{field}`, and `:=` drops what was written before it in that step"
    );
    let mut found = Diagnostic::new(&codes::REPLACED_BESIDE, message, write.span).help(format!(
        "write `{field}: ..`, through its reducer, or let one run after the other"
    ));
    if let Some(inside) = inside {
        found = found.label(inside, "by this `:=`, which the call hands on");
    }
    if other.span != write.span {
        found = found.label(other.span, "written here too");
    }
    if let Some(witness) = mhp.witness(by.min(beside), by.max(beside)) {
        let begin = match witness.first == witness.second {
            true => format!("several tasks of the way `{}` begin here", witness.first),
            false => format!("`{}` and `{}` begin here", witness.first, witness.second),
        };
        found = found.label(witness.fork, begin);
    }
    found
}
