//! `on_error`: handlers that only try again, and handlers that say nothing.

use std::collections::BTreeSet;

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, Level, codes};
use crate::expr::infer::{path, reads};
use crate::ir::{FieldId, NodeId};
use crate::resolve::program::{Graph, Jump, Route, SetItem, TargetKind, Work};

use super::cfg::writes_of;
use super::cfg::{BlockId, ControlFlowGraph, EdgeKind, exit};

/// Reports handlers that lead straight back to what has failed, and those that end as if nothing had happened.
pub fn handlers(graph: &Graph, cfg: &ControlFlowGraph, diags: &mut Diagnostics) {
    for (id, node) in graph.nodes.entries() {
        let Some(route) = graph.on_error_of(id) else {
            continue;
        };
        for (number, (jump, always)) in jumps(route).into_iter().enumerate() {
            if let Some((path, passed)) = back(graph, cfg, id, jump)
                && !counted(graph, cfg, route, (number, jump), &passed)
            {
                let all = always && jumps(route).len() == 1;
                diags.push(again(cfg, id, jump, &path, all));
            }
        }
        if node.on_error.is_some() {
            diags_of_silence(route, &format!("node `{}`", node.name.node), diags);
        }
    }
    if let Some(route) = &graph.on_error {
        diags_of_silence(route, &format!("graph `{}`", graph.name.node), diags);
    }
}

/// The jumps of a handler, and whether each is made of every error.
fn jumps(route: &Route) -> Vec<(&Jump, bool)> {
    match route {
        Route::Always(jump) => vec![(jump, true)],
        Route::Arms(arms, _) => arms
            .iter()
            .map(|arm| (&arm.jump, arm.when.is_none()))
            .collect(),
    }
}

/// Whether an arm is not taken for ever: its condition, or one before it, reads what the way back writes, or how often it
/// was tried.
fn counted(
    graph: &Graph,
    cfg: &ControlFlowGraph,
    route: &Route,
    (number, jump): (usize, &Jump),
    passed: &[NodeId],
) -> bool {
    let Route::Arms(arms, _) = route else {
        return false;
    };
    let mut written: BTreeSet<FieldId> = jump.set.iter().filter_map(SetItem::writes).collect();
    for id in passed {
        written.extend(writes_of(cfg, *id).into_iter().map(|write| write.field));
    }
    let (scope, run) = exit::scope(graph);
    let whens = arms
        .iter()
        .take(number + 1)
        .filter_map(|arm| arm.when.as_ref());
    whens.into_iter().any(|when| {
        let seen = reads(when, &scope);
        let changed = |field: &u32| written.contains(&FieldId(*field));
        seen.effects || seen.slots.contains(&run) || seen.fields.iter().any(changed) || tries(when)
    })
}

/// Whether a condition reads `error.attempt`.
fn tries(when: &Expr) -> bool {
    let mut open = vec![when];
    while let Some(part) = open.pop() {
        if path(part).is_some_and(|path| path == "error.attempt") {
            return true;
        }
        open.extend(part.parts());
    }
    false
}

/// The arrows from a handler's jump back to the node that failed, where each node on the way can go nowhere else and
/// nothing counts the rounds, and the nodes on the way. A person who is asked on the way is no loop either.
fn back(
    graph: &Graph,
    cfg: &ControlFlowGraph,
    failed: NodeId,
    jump: &Jump,
) -> Option<(Vec<Span>, Vec<NodeId>)> {
    let [target] = jump.to.as_slice() else {
        return None;
    };
    let TargetKind::Node(mut at) = target.kind else {
        return None;
    };
    let capped = |id: NodeId| {
        let node = graph.nodes.get(id);
        node.is_none_or(|node| node.max_visits.is_some())
    };
    // What leads back goes round with it.
    if capped(failed) || !cfg.same_component(BlockId::Node(at), BlockId::Node(failed)) {
        return None;
    }
    let (mut path, mut passed) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    while at != failed {
        if !seen.insert(at) {
            return None;
        }
        let (next, span) = lone(graph, cfg, at)?;
        path.push(span);
        passed.push(at);
        at = next;
    }
    Some((path, passed))
}

/// Where a node leads that can lead to one node alone, and neither asks a person nor is counted.
fn lone(graph: &Graph, cfg: &ControlFlowGraph, id: NodeId) -> Option<(NodeId, Span)> {
    let node = graph.nodes.get(id)?;
    let asks = matches!(node.work, Work::Interrupt { .. }) || !node.stops.is_empty();
    only_way(cfg, id).filter(|_| node.max_visits.is_none() && !asks)
}

/// Where a node leads, where that is one node and it has no other way than errors.
fn only_way(cfg: &ControlFlowGraph, id: NodeId) -> Option<(NodeId, Span)> {
    let transitions = cfg.transitions(BlockId::Node(id)).iter();
    let mut transitions = transitions.filter(|transition| transition.kind != EdgeKind::Error);
    let (transition, None) = (transitions.next()?, transitions.next()) else {
        return None;
    };
    match transition.successors.as_slice() {
        [successor] => match successor.to {
            BlockId::Node(next) => Some((next, successor.span)),
            _ => None,
        },
        _ => None,
    }
}

fn again(
    cfg: &ControlFlowGraph,
    id: NodeId,
    jump: &Jump,
    path: &[Span],
    always: bool,
) -> Diagnostic {
    let name = cfg.name(BlockId::Node(id));
    let message = match always {
        true => {
            format!("an error of `{name}` leads back to `{name}`, again and again while it fails")
        }
        false => {
            format!("this error of `{name}` leads back to `{name}`, again and again while it lasts")
        }
    };
    let mut found = Diagnostic::new(&codes::ERROR_LOOP, message, jump.span).help(format!(
        "say how often: `retry 3` tries the call again, `max_visits N -> TARGET` on `{name}` caps the rounds"
    ));
    if !always {
        found.level = Level::Warning;
    }
    for span in path {
        found = found.label(*span, "on the way back");
    }
    found
}

/// A handler that goes to `end` for every error, and neither writes nor sends anything.
fn diags_of_silence(route: &Route, of: &str, diags: &mut Diagnostics) {
    let silent = jumps(route).into_iter().find(|(jump, always)| {
        let ends = jump
            .to
            .iter()
            .all(|target| matches!(target.kind, TargetKind::End));
        *always && ends && jump.set.is_empty() && jump.emits.is_empty()
    });
    if let Some((jump, _)) = silent {
        diags.push(
            Diagnostic::new(
                &codes::ERROR_SWALLOWED,
                format!("every error of {of} ends here as if nothing had failed"),
                jump.span,
            )
            .help("leave a trace: `-> end { set { .. } }` or `{ emit .. }`; or name the errors that don't matter: `when error.kind == ..`"),
        );
    }
}
