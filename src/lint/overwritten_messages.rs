//! `overwritten-messages`: a conversation whose last part replaces all before it.

use std::collections::BTreeSet;

use crate::ast::expr::Expr;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{Channel, FieldId};
use crate::resolve::exprs::of_node;
use crate::resolve::program::{Field, Graph, Node, Work};

use super::cx::{Cx, call};
use super::expr::{fields_read, reads_field};
use super::messages_in_prompt::is_messages;

/// Warns where a node that asks a model writes what was said to a `list<message>` that keeps only the last
/// write, and some node hands that list to a model as its conversation.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    for graph in &cx.program.graphs {
        let lossy = lossy(graph);
        if lossy.is_empty() {
            continue;
        }
        for node in graph.nodes.iter().filter(|node| speaks(node)) {
            for item in node.set.iter().filter(|item| !item.replace) {
                let field = item.field.filter(|field| lossy.contains(field));
                let field = field.and_then(|id| graph.fields.get(id));
                if let Some(field) = field.filter(|field| !keeps(node, &field.name.node)) {
                    diags.push(overwritten(field, node, item.name.span));
                }
            }
        }
    }
}

/// Fields of messages that keep the last write, and that a node hands to a model.
fn lossy(graph: &Graph) -> BTreeSet<FieldId> {
    let fields = graph.fields.entries().filter(|(_, field)| {
        let last = matches!(field.channel, Channel::Last | Channel::AnyLast);
        last && is_messages(&field.ty.node)
    });
    let mut fields: BTreeSet<FieldId> = fields.map(|(id, _)| id).collect();
    if !fields.is_empty() {
        let handed = graph.nodes.iter().filter_map(handed);
        let read = handed.flat_map(fields_read);
        let read: BTreeSet<FieldId> = read.filter_map(|name| graph.field(name)).collect();
        fields.retain(|field| read.contains(field));
    }
    fields
}

fn speaks(node: &Node) -> bool {
    call(node).is_some() || matches!(node.work, Work::Tools { .. })
}

/// The messages that a node hands to a model, or looks for tool calls in.
fn handed(node: &Node) -> Option<&Expr> {
    match &node.work {
        Work::Tools { messages, .. } => messages.as_deref(),
        _ => call(node)?.messages.as_ref(),
    }
}

/// Whether what the node writes holds what was there: it reads the field besides handing it over.
fn keeps(node: &Node, field: &str) -> bool {
    let handed = handed(node).map(|expr| expr.span);
    let written = of_node(node);
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
