//! `unsafe-retry`: a call that writes and may be made twice, or that `retry` stands around in vain.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::flow::ToolEffect;
use crate::ir::{ErrorKind, Retry, ToolId};
use crate::resolve::program::Work;

use super::cx::{Cx, retry_place};

/// Failures after which nobody knows whether the call has had its effect.
const IN_DOUBT: [ErrorKind; 5] = [
    ErrorKind::Timeout,
    ErrorKind::ServerError,
    ErrorKind::Network,
    ErrorKind::ToolError,
    ErrorKind::InvalidOutput,
];

/// Warns of a `retry` that holds for a tool which writes and is not said to be idempotent.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    let mut seen: BTreeSet<(Span, ToolId)> = BTreeSet::new();
    for (graph, node) in cx.nodes() {
        let again = node
            .retry
            .as_deref()
            .is_some_and(|own| in_doubt(&own.value));
        if !again || matches!(node.work, Work::Llm(_)) {
            continue;
        }
        for used in node.tools() {
            let Some(tool) = cx.program.tools.get(used.node) else {
                continue;
            };
            let safe = tool.effect == ToolEffect::Read || tool.idempotent == Some(true);
            let place = retry_place(graph, node);
            if safe || tool.body.is_some() || !seen.insert((place, used.node)) {
                continue;
            }
            let name = &tool.name.node;
            // One that must not be made twice is not: `retry` promises more than it does.
            let once = tool.idempotent == Some(false);
            let (message, mark) = match once {
                true => (
                    format!(
                        "a failed call of `{name}` is not made again where it may have written already, whatever `retry` says"
                    ),
                    "marked `@idempotent(false)`",
                ),
                false => (
                    format!(
                        "a failed call of `{name}` is made again, which writes and may have written already"
                    ),
                    "not marked `@idempotent`",
                ),
            };
            let finding = Diagnostic::new(&codes::UNSAFE_RETRY, message, place)
                .label(tool.name.span, mark)
                .label(used.span, "called here");
            diags.push(finding.help(help(&node.work, name)));
        }
    }
}

fn in_doubt(retry: &Retry) -> bool {
    retry.attempts > 1 && retry.on.iter().any(|kind| IN_DOUBT.contains(kind))
}

fn help(work: &Work, name: &str) -> String {
    let mark = format!("mark `{name}` with `@idempotent` if a second call does no harm");
    match work {
        Work::Agent { .. } => format!("{mark}, or give the `retry` to the model alone"),
        _ => format!("{mark}, or take the `retry` away: `on [rate_limit]` is safe"),
    }
}
