//! `on_error`: handlers that only try again, and handlers that say nothing.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, Level, codes};
use crate::ir::NodeId;
use crate::resolve::program::{Graph, Jump, Route, TargetKind, Work};

use super::flow::{Cause, Flow, Spot};

/// Reports handlers that lead straight back to what has failed, and those that end as if nothing had happened.
pub fn handlers(graph: &Graph, flow: &Flow, diags: &mut Diagnostics) {
    for (id, node) in graph.nodes.entries() {
        let Some(route) = graph.on_error_of(id) else {
            continue;
        };
        for (jump, always) in jumps(route) {
            if let Some(path) = back(graph, flow, id, jump) {
                diags.push(again(flow, id, jump, &path, always));
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

/// The arrows from a handler's jump back to the node that failed, where each node on the way can go nowhere else and
/// nothing counts the rounds. A person who is asked on the way is no loop either.
fn back(graph: &Graph, flow: &Flow, failed: NodeId, jump: &Jump) -> Option<Vec<Span>> {
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
    let mut path = Vec::new();
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
        at = next;
    }
    Some(path)
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
