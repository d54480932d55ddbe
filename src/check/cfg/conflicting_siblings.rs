//! Goals of one way that are led on from at once, through branches and past full nodes, and write the same field there.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{FieldId, NodeId};

use super::super::not_proven::not_proven;
use super::mhp::MayHappenInParallel;
use super::model::{Block, BlockId, ControlFlowGraph, EdgeKind, Successor, Transition, Write};
use super::step_writes::{FieldWriters, at_goal, collides, makers};

/// Most branches and full nodes that are passed for one fork.
const STEPS: usize = 100_000;

/// Reports each field that two goals of a way may write so, once for each way: of `start`, of nodes, branches and joins, and of
/// what stands in for full nodes.
pub fn races(cfg: &ControlFlowGraph, mhp: &MayHappenInParallel, diags: &mut Diagnostics) {
    if !cfg.nodes.iter().any(|node| writes_at_once(cfg, node)) {
        return;
    }
    for (from, transition) in cfg.all_transitions() {
        let forks = transition.successors.len() > 1
            || transition.successors.iter().any(|successor| successor.many);
        if forks && mhp.follows(transition) {
            // Each transition has its own bound.
            let mut steps = STEPS;
            of_way(cfg, (from, transition), &mut steps, diags);
            if steps == 0 {
                let what = "too many branches and full nodes are passed at once from here";
                diags.push(not_proven(&codes::WRITE_CONFLICT, what, transition.span));
            }
        }
    }
}

/// Whether a stop writes a field that collides without a super-step of its own.
fn writes_at_once(cfg: &ControlFlowGraph, node: &Block) -> bool {
    let transitions = node.transitions.iter();
    let transitions = transitions.filter(|way| node.branch || way.kind == EdgeKind::Visits);
    let own = node.writes.iter().filter(|_| node.branch);
    let mut writes = own.chain(transitions.flat_map(|transition| &transition.writes));
    writes.any(|write| collides(cfg, write.field).is_some())
}

fn of_way(
    cfg: &ControlFlowGraph,
    (from, transition): (Option<BlockId>, &Transition),
    steps: &mut usize,
    diags: &mut Diagnostics,
) {
    let mut known: HashMap<FieldId, (usize, FieldWriters)> = HashMap::new();
    let mut reported: HashSet<FieldId> = HashSet::new();
    let mut found: BTreeMap<(FieldId, usize), Diagnostic> = BTreeMap::new();
    for (at, successor) in transition.successors.iter().enumerate() {
        let BlockId::Node(to) = successor.to else {
            continue;
        };
        let Some(node) = cfg.nodes.get(to) else {
            continue;
        };
        let capped = node.is_capped();
        if !(node.branch || capped) || (capped && is_first(cfg, from, transition, to)) {
            continue;
        }
        for (field, makers) in makers(cfg, at_goal(cfg, successor, steps)) {
            let Some(name) = collides(cfg, field).filter(|_| !reported.contains(&field)) else {
                continue;
            };
            if let Some(write) = makers.stand_in().filter(|_| successor.many) {
                reported.insert(field);
                found.insert((field, at), sent(cfg, transition, successor, (write, name)));
                continue;
            }
            let (before, others) = *known.entry(field).or_insert((at, makers));
            let both = others.collide(&makers).filter(|_| before != at);
            if let Some(writes) = both {
                reported.insert(field);
                let successors = [transition.successors.get(before), Some(successor)]
                    .map(|successor| successor.map(|g| g.to));
                found.insert(
                    (field, at),
                    both_write(cfg, (from, transition), successors, writes, name),
                );
            }
        }
    }
    found.into_values().for_each(|found| diags.push(found));
}

fn both_write(
    cfg: &ControlFlowGraph,
    (from, transition): (Option<BlockId>, &Transition),
    successors: [Option<BlockId>; 2],
    (one, other): (Write, Write),
    field: &str,
) -> Diagnostic {
    let [a, b] = successors.map(|successor| successor.map_or("?", |block| cfg.name(block)));
    let from = begin(cfg, from);
    let message = match a == b {
        true => format!("`{a}`, which {from} leads to twice at once, writes `{field}` each time"),
        false => format!(
            "`{a}` and `{b}`, which {from} leads to at once, may both write `{field}` in the same super-step"
        ),
    };
    let mut found = Diagnostic::new(&codes::WRITE_CONFLICT, message, other.span);
    if one.span != other.span {
        found = found.label(one.span, "written here too");
    }
    found
        .label(transition.span, "both are followed from here")
        .help(format!(
            "write `{field}` in one of them, or give it a reducer"
        ))
}

fn sent(
    cfg: &ControlFlowGraph,
    transition: &Transition,
    successor: &Successor,
    (write, field): (Write, &str),
) -> Diagnostic {
    let message = format!(
        "each task that is sent to `{}` when it has been visited often enough writes `{field}` in the same super-step",
        cfg.name(successor.to)
    );
    Diagnostic::new(&codes::WRITE_CONFLICT, message, write.span)
        .label(transition.span, "several are sent here")
        .help(format!("give `{field}` a reducer"))
}

/// Who leads there, for a message.
fn begin(cfg: &ControlFlowGraph, from: Option<BlockId>) -> String {
    match from {
        None => "`start`".to_owned(),
        Some(BlockId::Join(id)) => {
            let members = cfg.members(id).map(|id| cfg.name(BlockId::Node(id)));
            format!("the join of {}", list(members))
        }
        Some(block) => format!("`{}`", cfg.name(block)),
    }
}

/// Whether nothing can have come to a capped node before a way does: all other arrows into it are in its own cycle, and the way is
/// taken once.
fn is_first(cfg: &ControlFlowGraph, from: Option<BlockId>, way: &Transition, to: NodeId) -> bool {
    let to = BlockId::Node(to);
    let round = |block| cfg.same_component(block, to);
    let mut others = cfg.in_edges(to).filter(|arrow| arrow.from != from);
    !way.successors.iter().any(|successor| successor.many)
        && others.all(|arrow| arrow.from.is_some_and(round))
        && is_once(cfg, from)
}

/// Whether a block is surely come to once at most: one block alone leads to it, which is come to once at most.
fn is_once(cfg: &ControlFlowGraph, mut at: Option<BlockId>) -> bool {
    while let Some(block) = at {
        let mut into = cfg.in_edges(block);
        let Some(before) = into.next().filter(|_| !cfg.goes_round(block)) else {
            return false;
        };
        let many = before.successor().is_none_or(|successor| successor.many);
        if many || into.any(|arrow| arrow.from != before.from) {
            return false;
        }
        at = before.from;
    }
    true
}
