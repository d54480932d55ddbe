//! `on_error`: handlers that only try again, and handlers that say nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, Level, codes};
use crate::expr::infer::{path, reads};
use crate::expr::scope::StateFields;
use crate::expr::{Scope, Type};
use crate::ir::{FieldId, NodeId};
use crate::resolve::program::{Graph, Jump, Route, SetItem, TargetKind, Work};

use super::flow::race::writes_of;
use super::flow::{Cause, Flow, Spot};

/// Reports handlers that lead straight back to what has failed, and those that end as if nothing had happened.
pub fn handlers(graph: &Graph, flow: &Flow, diags: &mut Diagnostics) {
    for (id, node) in graph.nodes.entries() {
        let Some(route) = graph.on_error_of(id) else {
            continue;
        };
        for (number, (jump, always)) in jumps(route).into_iter().enumerate() {
            if let Some((path, passed)) = back(graph, flow, id, jump) {
                if !counted(graph, flow, route, (number, jump), &passed) {
                    let all = always && jumps(route).len() == 1;
                    diags.push(again(flow, id, jump, &path, all));
                }
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
    flow: &Flow,
    route: &Route,
    (number, jump): (usize, &Jump),
    passed: &[NodeId],
) -> bool {
    let Route::Arms(arms, _) = route else {
        return false;
    };
    let mut written: BTreeSet<FieldId> = jump.set.iter().filter_map(SetItem::writes).collect();
    for id in passed {
        written.extend(writes_of(flow, *id).into_iter().map(|write| write.field));
    }
    let state = graph.fields.iter();
    let state = state.map(|field| (field.name.node.clone(), field.ty.node.clone()));
    let mut scope = Scope {
        state: Some(Arc::new(state.collect::<StateFields>())),
        ..Scope::default()
    };
    let run = scope.declare("run", Type::Error);
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
    flow: &Flow,
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
        graph
            .nodes
            .get(id)
            .is_none_or(|node| node.max_visits.is_some())
    };
    if capped(failed) {
        return None;
    }
    let (mut path, mut passed) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    while at != failed {
        let node = graph.nodes.get(at)?;
        let asks = matches!(node.work, Work::Interrupt { .. }) || !node.stops.is_empty();
        if capped(at) || asks || !seen.insert(at) {
            return None;
        }
        let mut ways = flow
            .ways(Spot::Node(at))
            .iter()
            .filter(|way| way.cause != Cause::Error);
        let (way, None) = (ways.next()?, ways.next()) else {
            return None;
        };
        let [goal] = way.goals.as_slice() else {
            return None;
        };
        let Spot::Node(next) = goal.to else {
            return None;
        };
        path.push(goal.span);
        passed.push(at);
        at = next;
    }
    Some((path, passed))
}

fn again(flow: &Flow, id: NodeId, jump: &Jump, path: &[Span], always: bool) -> Diagnostic {
    let name = flow.name(Spot::Node(id));
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
