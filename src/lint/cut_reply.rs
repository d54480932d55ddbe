//! `cut-reply`: a text that may have been cut off at `max_tokens` is taken for a whole one.

use std::collections::BTreeSet;

use crate::ast::expr::{Expr, ExprKind};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::GraphId;
use crate::resolve::exprs::of_node;

use super::cx::{Cx, call};

/// Notes each node that takes the text of a reply whose model has `max_tokens`, in a graph that nowhere asks why a
/// reply ended. One with an output type fails by itself.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    let asking: BTreeSet<GraphId> = (cx.program.graphs.entries())
        .filter(|(_, graph)| {
            let mut exprs = graph.nodes.iter().flat_map(of_node);
            exprs.any(|expr| reads(expr, &["finish"]))
        })
        .map(|(id, _)| id)
        .collect();
    for (id, graph) in cx.program.graphs.entries() {
        for node in graph.nodes.iter().filter(|_| !asking.contains(&id)) {
            let Some(call) = call(node).filter(|call| call.output.is_none()) else {
                continue;
            };
            let models = call.model.into_iter().flat_map(|model| cx.asked(model));
            let mut models = models.filter_map(|model| cx.program.models.get(model));
            let capped = models.find_map(|model| Some((model, model.settings.max_tokens?)));
            let taken = of_node(node)
                .into_iter()
                .any(|expr| reads(expr, &["text", "content"]));
            if let Some((model, most)) = capped.filter(|_| taken) {
                let message = format!(
                    "a reply to `{}` that is cut off at `max_tokens {most}` is taken for a whole one",
                    node.name.node
                );
                diags.push(
                    Diagnostic::new(&codes::CUT_REPLY, message, node.name.span)
                        .label(model.name.span, "cut off here")
                        .help("say what is to be done then: `ensure reply.finish != \"length\" else \"shorter\"`, or an arm on `reply.finish`"),
                );
            }
        }
    }
}

/// Whether a part of an expression is one of these fields of `reply`; of anything, for `finish`.
fn reads(expr: &Expr, fields: &[&str]) -> bool {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if let ExprKind::Select { operand, field, .. } = &expr.kind
            && fields.contains(&field.as_str())
            && (fields == ["finish"]
                || matches!(&operand.kind, ExprKind::Ident(name) if name == "reply"))
        {
            return true;
        }
        expr.each_part(|part| open.push(part));
    }
    false
}
