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
    let lone = Lone::of(graph, cfg);
    for (id, node) in graph.nodes.entries() {
        let Some(route) = graph.on_error_of(id) else {
            continue;
        };
        for (number, (jump, always)) in jumps(route).into_iter().enumerate() {
            if let Some((path, passed)) = back(graph, &lone, id, jump)
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
    lone: &Lone,
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
    if capped(failed) || !lone.may_lead(at, failed) {
        return None;
    }
    let (mut path, mut passed) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    while at != failed {
        if !seen.insert(at) {
            return None;
        }
        let (next, span) = lone.next(at)?;
        path.push(span);
        passed.push(at);
        at = next;
    }
    Some((path, passed))
}

/// Where nodes lead that can lead to one node alone, and neither ask a person nor are counted.
struct Lone {
    next: Vec<Option<(NodeId, Span)>>,
    /// When a node is come to and left, walking back from where such ways end; none in a circle of them.
    times: Vec<Option<(usize, usize)>>,
}

impl Lone {
    fn of(graph: &Graph, cfg: &ControlFlowGraph) -> Self {
        let nodes = graph.nodes.entries();
        let next: Vec<Option<(NodeId, Span)>> = nodes
            .map(|(id, node)| {
                let asks = matches!(node.work, Work::Interrupt { .. }) || !node.stops.is_empty();
                let only = only_way(cfg, id)?;
                (node.max_visits.is_none() && !asks).then_some(only)
            })
            .collect();
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); next.len()];
        for (from, to) in next.iter().enumerate() {
            let list = to.and_then(|(to, _)| before.get_mut(to.0 as usize));
            list.into_iter().for_each(|list| list.push(from));
        }
        let mut times = vec![None; next.len()];
        let mut clock = 0;
        for (root, _) in next.iter().enumerate().filter(|(_, to)| to.is_none()) {
            // Each node stands there twice: when it is come to, and when it is left.
            let mut open = vec![(root, false)];
            while let Some((at, leaving)) = open.pop() {
                clock += 1;
                let Some(slot) = times.get_mut(at) else {
                    continue;
                };
                match (leaving, slot) {
                    (true, Some((_, left))) => *left = clock,
                    (_, slot) => {
                        *slot = Some((clock, clock));
                        open.push((at, true));
                        let before = before.get(at).into_iter().flatten();
                        open.extend(before.map(|from| (*from, false)));
                    }
                }
            }
        }
        Self { next, times }
    }

    fn next(&self, id: NodeId) -> Option<(NodeId, Span)> {
        self.next.get(id.0 as usize).copied().flatten()
    }

    /// Whether following the ways from one node comes to another, as far as is known without following them.
    fn may_lead(&self, from: NodeId, to: NodeId) -> bool {
        let times = |id: NodeId| self.times.get(id.0 as usize).copied().flatten();
        match (times(from), times(to)) {
            (Some(from), Some(to)) => to.0 <= from.0 && from.1 <= to.1,
            (Some(_), None) => false,
            (None, _) => true,
        }
    }
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
