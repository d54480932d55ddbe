//! `overwritten-messages`: a conversation whose last part replaces all before it.

use crate::ast::expr::Expr;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::Channel;
use crate::resolve::program::{Field, Graph, Node, Work};

use super::cx::{Cx, call};
use super::expr::{of_node, reads_field};
use super::messages_in_prompt::is_messages;

/// Warns where a node that asks a model writes what was said to a `list<message>` that keeps only the last
/// write, and some node hands that list to a model as its conversation.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    for graph in &cx.program.graphs {
        for (id, field) in graph.fields.entries() {
            let last = matches!(field.channel, Channel::Last | Channel::AnyLast);
            if !last || !is_messages(&field.ty.node) || !conversation(graph, field) {
                continue;
            }
            for node in graph.nodes.iter().filter(|node| speaks(node)) {
                for item in &node.set {
                    let keeps = keeps(cx, node, &field.name.node);
                    if item.field == Some(id) && !item.replace && !keeps {
                        diags.push(overwritten(field, node, item.name.span));
                    }
                }
            }
        }
    }
}

fn speaks(node: &Node) -> bool {
    call(node).is_some() || matches!(node.work, Work::Tools { .. })
}

/// Whether a node of the graph hands the field to a model.
fn conversation(graph: &Graph, field: &Field) -> bool {
    let mut handed = graph.nodes.iter().filter_map(handed);
    handed.any(|messages| reads_field(messages, &field.name.node))
}

/// The messages that a node hands to a model, or looks for tool calls in.
fn handed(node: &Node) -> Option<&Expr> {
    match &node.work {
        Work::Tools { messages, .. } => messages.as_ref(),
        _ => call(node)?.messages.as_ref(),
    }
}

/// Whether what the node writes holds what was there: it reads the field besides handing it over.
fn keeps(cx: &Cx<'_>, node: &Node, field: &str) -> bool {
    let handed = handed(node).map(|expr| expr.span);
    let written = cx.written(node).map(of_node).unwrap_or_default();
    let mut others = written.into_iter().filter(|expr| Some(expr.span) != handed);
    others.any(|expr| reads_field(expr, field))
}

fn overwritten(field: &Field, node: &Node, place: crate::base::Span) -> Diagnostic {
    let name = &field.name.node;
    let message = format!(
        "`{name}` keeps only the last write: what node `{}` writes replaces the conversation so far",
        node.name.node
    );
    Diagnostic::new(&codes::OVERWRITTEN_MESSAGES, message, place)
        .label(field.name.span, "declared without a reducer that gathers")
        .help(format!(
            "declare `{name}: list<message> via add_messages`; `{name} := ..` replaces on purpose"
        ))
}
