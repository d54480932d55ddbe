//! `cut-reply`: a text that may have been cut off at `max_tokens` is taken for a whole one.

use crate::ast::expr::{Expr, ExprKind};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::exprs::of_node;

use super::cx::{Cx, call};

/// Notes each node that takes the text of a reply whose model has `max_tokens` and doesn't ask why the reply ended, in a graph that
/// asks it of no message it keeps either. One with an output type fails by itself.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    for graph in cx.program.graphs.iter() {
        let mut exprs = graph.nodes.iter().flat_map(of_node);
        if exprs.any(|expr| reads(expr, &["finish"], false)) {
            continue;
        }
        for node in &graph.nodes {
            let Some(call) = call(node).filter(|call| call.output.is_none()) else {
                continue;
            };
            let models = call.model.into_iter().flat_map(|model| cx.asked(model));
            let mut models = models.filter_map(|model| cx.program.models.get(model));
            let capped = models.find_map(|model| Some((model, model.settings.max_tokens?)));
            let exprs = of_node(node);
            let taken = |fields| exprs.iter().any(|expr| reads(expr, fields, true));
            let whole = taken(&["text", "content"]) && !taken(&["finish"]);
            if let Some((model, most)) = capped.filter(|_| whole) {
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

/// Whether a part of an expression is one of these fields of `reply`, or of anything else.
fn reads(expr: &Expr, fields: &[&str], of_reply: bool) -> bool {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if let ExprKind::Select { operand, field, .. } = &expr.kind
            && fields.contains(&field.as_str())
            && matches!(&operand.kind, ExprKind::Ident(name) if name == "reply") == of_reply
        {
            return true;
        }
        expr.each_part(|part| open.push(part));
    }
    false
}
