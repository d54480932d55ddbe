//! `via barrier(a, b)`: the names that it waits for, and those that are written to it.

use std::collections::BTreeSet;

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::base::{Span, name};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{Channel, FieldId};
use crate::resolve::program::{Field, Graph};

/// Reports names that are written out and that a barrier does not wait for.
pub fn names(graph: &Graph, diags: &mut Diagnostics) {
    for (id, field) in graph.fields.entries() {
        let Channel::Barrier { names } = &field.channel else {
            continue;
        };
        let written = written(graph, id);
        let strange: Vec<&(&str, Span)> = written
            .iter()
            .filter(|(text, _)| !names.iter().any(|name| name == text))
            .collect();
        let texts: BTreeSet<&str> = strange.iter().map(|(text, _)| *text).collect();
        let lacking: Vec<&str> = names
            .iter()
            .map(String::as_str)
            .filter(|name| !written.iter().any(|(text, _)| text == name))
            .collect();
        if let (Some(text), [name], 1) = (texts.first(), lacking.as_slice(), texts.len())
            && is_node(graph, text)
            && !is_node(graph, name)
        {
            diags.push(misnamed(field, name, text, &strange));
            continue;
        }
        for (text, span) in strange {
            let message = format!("the barrier of `{}` waits for no `{text}`", field.name.node);
            let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            let known: Vec<&str> = quoted.iter().map(String::as_str).collect();
            let found = Diagnostic::new(&codes::BAD_VALUE, message, *span);
            let found = found.meant(*span, &format!("{text:?}"), known, "it waits for");
            diags.push(found.label(field.via.unwrap_or(field.span), "declared here"));
        }
    }
}

/// The name in the declaration is the one that is misspelt: what is written is the name of a node.
fn misnamed(field: &Field, name: &str, text: &str, places: &[&(&str, Span)]) -> Diagnostic {
    let at = field.via.unwrap_or(field.span);
    let message = format!(
        "the barrier of `{}` waits for `{name}`, which nothing writes to it",
        field.name.node
    );
    let mut found = Diagnostic::new(&codes::BAD_VALUE, message, at);
    for (_, place) in places.iter().take(6) {
        found = found.label(*place, format!("`{text}` is written here"));
    }
    match name::closest(name, [text]) {
        Some(_) => found.help(format!("did you mean `{text}`?")),
        None => found.help(format!("wait for `{text}`, or write `{name}`")),
    }
}

fn is_node(graph: &Graph, name: &str) -> bool {
    graph.nodes.iter().any(|node| node.name.node == name)
}

/// The texts that nodes and jumps write out for the field.
fn written(graph: &Graph, field: FieldId) -> Vec<(&str, Span)> {
    let lists = graph.sets().filter(|item| item.field == Some(field));
    let elements = lists.filter_map(|item| match &item.value.kind {
        ExprKind::List(elements) => Some(elements),
        _ => None,
    });
    elements
        .flatten()
        .filter_map(|element| text(&element.value))
        .collect()
}

fn text(expr: &Expr) -> Option<(&str, Span)> {
    match &expr.kind {
        ExprKind::Literal(Literal::String(text)) => Some((text, expr.span)),
        _ => None,
    }
}
