//! `timeout-order`: a timeout that comes before another can, or before a retry begins.

use std::collections::HashMap;
use std::time::Duration;

use crate::base::name::list;
use crate::base::{Span, duration};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::Retry;
use crate::resolve::program::{Graph, Node, Work};

use super::cx::{Cx, call, retry_place, timeout_place};

/// Warns of nodes whose timeout, which holds for all they do, leaves no room for what is promised inside.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    let mut found: Vec<Found> = Vec::new();
    for (graph, node) in cx.nodes() {
        if let Some(limit) = node.timeout_ms.as_ref().map(|timeout| timeout.value) {
            found.extend(shorter_than_model(cx, (graph, node), limit));
            found.extend(shorter_than_wait(cx, (graph, node), limit));
            found.extend(shorter_than_tool(cx, (graph, node), limit));
        }
    }
    // What a graph says for all its nodes is one mistake, however many they are.
    let mut first: HashMap<(Span, Span, &str), usize> = HashMap::new();
    let mut groups: Vec<(Found, Vec<String>)> = Vec::new();
    for found in found {
        let at = *first
            .entry((found.place, found.other.0, found.other.1))
            .or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, nodes)) => nodes.push(found.node),
            None => {
                let node = found.node.clone();
                groups.push((found, vec![node]));
            }
        }
    }
    for (found, nodes) in groups {
        diags.push(found.report(&nodes));
    }
}

/// A node that gives up too early.
struct Found {
    node: String,
    /// Where its timeout is given.
    place: Span,
    /// What comes too late: "after 10s, before ..".
    why: String,
    /// The other time, and what becomes of it.
    other: (Span, &'static str),
    help: &'static str,
}

impl Found {
    fn report(self, nodes: &[String]) -> Diagnostic {
        let who = match nodes {
            [one] => format!("node `{one}` gives up"),
            _ => format!("nodes {} give up", list(nodes.iter().map(String::as_str))),
        };
        Diagnostic::new(
            &codes::TIMEOUT_ORDER,
            format!("{who} {}", self.why),
            self.place,
        )
        .label(self.other.0, self.other.1)
        .help(self.help)
    }
}

fn shorter_than_model(cx: &Cx<'_>, (graph, node): (&Graph, &Node), limit: u64) -> Option<Found> {
    let asked = call(node).and_then(|call| call.model);
    let own = asked.and_then(|id| Some((id, cx.program.models.get(id)?)));
    let (id, model) = own?;
    let longer = model.settings.timeout_ms.filter(|own| *own > limit);
    let (longer, place) = (longer?, cx.setting(id, "timeout")?);
    let why = format!(
        "after {}, before the {} that model `{}` is given",
        show(limit),
        show(longer),
        model.name.node
    );
    Some(Found {
        node: node.name.node.clone(),
        place: timeout_place(graph, node),
        why,
        other: (place, "never comes to pass in this node"),
        help: "give the node more time than the model, or the model less",
    })
}

fn shorter_than_tool(cx: &Cx<'_>, (graph, node): (&Graph, &Node), limit: u64) -> Option<Found> {
    if matches!(node.work, Work::Llm(_)) {
        return None;
    }
    let longer = node.tools().into_iter().find_map(|used| {
        let tool = cx.program.tools.get(used.node)?;
        let own = tool.timeout_ms.filter(|own| *own > limit)?;
        Some((tool, own))
    });
    let (tool, longer) = longer?;
    let why = format!(
        "after {}, before the {} that tool `{}` is given",
        show(limit),
        show(longer),
        tool.name.node
    );
    Some(Found {
        node: node.name.node.clone(),
        place: timeout_place(graph, node),
        why,
        other: (
            tool.name.span,
            "its `@timeout` never comes to pass in this node",
        ),
        help: "give the node more time than the tool, or the tool less",
    })
}

fn shorter_than_wait(cx: &Cx<'_>, (graph, node): (&Graph, &Node), limit: u64) -> Option<Found> {
    let asked = call(node).and_then(|call| call.model);
    let of_model = asked.and_then(|id| Some((id, cx.program.models.get(id)?)));
    let (retry, place) = match (node.retry.as_deref(), of_model) {
        (Some(retry), _) => (&retry.value, Some(retry_place(graph, node))),
        (None, Some((id, model))) => match &model.settings.retry {
            Some(retry) => (retry, cx.setting(id, "retry")),
            None => return None,
        },
        (None, None) => return None,
    };
    let never = |retry: &Retry| retry.attempts > 1 && retry.initial_ms >= limit;
    let place = place.filter(|_| never(retry))?;
    let why = format!(
        "after {}, before the first retry: that waits {}",
        show(limit),
        show(retry.initial_ms)
    );
    Some(Found {
        node: node.name.node.clone(),
        place: timeout_place(graph, node),
        why,
        other: (place, "nothing is ever tried again"),
        help: "give the node more time, or the retry a shorter `initial`",
    })
}

fn show(millis: u64) -> String {
    duration::show(Duration::from_millis(millis))
}
