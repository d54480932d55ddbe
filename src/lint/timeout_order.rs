//! `timeout-order`: a timeout that comes before another can, or before a retry begins.

use std::time::Duration;

use crate::base::duration;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::Retry;
use crate::resolve::program::{Graph, Node, Work};

use super::cx::{Cx, call, retry_place, timeout_place};

/// Warns of nodes whose timeout, which holds for all they do, leaves no room for what is promised inside.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    for (graph, node) in cx.nodes() {
        if let Some(limit) = node.timeout_ms {
            shorter_than_model(cx, (graph, node), limit, diags);
            shorter_than_wait(cx, (graph, node), limit, diags);
            shorter_than_tool(cx, (graph, node), limit, diags);
        }
    }
}

fn shorter_than_model(
    cx: &Cx<'_>,
    (graph, node): (&Graph, &Node),
    limit: u64,
    diags: &mut Diagnostics,
) {
    let asked = call(node).and_then(|call| call.model);
    let own = asked.and_then(|id| Some((id, cx.program.models.get(id)?)));
    let Some((id, model)) = own else { return };
    let longer = model.settings.timeout_ms.filter(|own| *own > limit);
    let (Some(longer), Some(place)) = (longer, cx.setting(id, "timeout")) else {
        return;
    };
    let message = format!(
        "node `{}` gives up after {}, before the {} that model `{}` is given",
        node.name.node,
        show(limit),
        show(longer),
        model.name.node
    );
    let finding = Diagnostic::new(&codes::TIMEOUT_ORDER, message, timeout_place(graph, node))
        .label(place, "never comes to pass in this node");
    diags.push(finding.help("give the node more time than the model, or the model less"));
}

fn shorter_than_tool(
    cx: &Cx<'_>,
    (graph, node): (&Graph, &Node),
    limit: u64,
    diags: &mut Diagnostics,
) {
    if matches!(node.work, Work::Llm(_)) {
        return;
    }
    let longer = node.tools().into_iter().find_map(|used| {
        let tool = cx.program.tools.get(used.node)?;
        let own = tool.timeout_ms.filter(|own| *own > limit)?;
        Some((tool, own))
    });
    let Some((tool, longer)) = longer else { return };
    let message = format!(
        "node `{}` gives up after {}, before the {} that tool `{}` is given",
        node.name.node,
        show(limit),
        show(longer),
        tool.name.node
    );
    let finding = Diagnostic::new(&codes::TIMEOUT_ORDER, message, timeout_place(graph, node))
        .label(
            tool.name.span,
            "its `@timeout` never comes to pass in this node",
        );
    diags.push(finding.help("give the node more time than the tool, or the tool less"));
}

fn shorter_than_wait(
    cx: &Cx<'_>,
    (graph, node): (&Graph, &Node),
    limit: u64,
    diags: &mut Diagnostics,
) {
    let asked = call(node).and_then(|call| call.model);
    let of_model = asked.and_then(|id| Some((id, cx.program.models.get(id)?)));
    let (retry, place) = match (node.retry.as_deref(), of_model) {
        (Some(retry), _) => (retry, Some(retry_place(graph, node))),
        (None, Some((id, model))) => match &model.settings.retry {
            Some(retry) => (retry, cx.setting(id, "retry")),
            None => return,
        },
        (None, None) => return,
    };
    let never = |retry: &Retry| retry.attempts > 1 && retry.initial_ms >= limit;
    let Some(place) = place.filter(|_| never(retry)) else {
        return;
    };
    let message = format!(
        "node `{}` gives up after {}, before the first retry: that waits {}",
        node.name.node,
        show(limit),
        show(retry.initial_ms)
    );
    let finding = Diagnostic::new(&codes::TIMEOUT_ORDER, message, timeout_place(graph, node))
        .label(place, "nothing is ever tried again");
    diags.push(finding.help("give the node more time, or the retry a shorter `initial`"));
}

fn show(millis: u64) -> String {
    duration::show(Duration::from_millis(millis))
}
