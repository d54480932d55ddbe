//! First values of fields: where one is needed, and which one is offered.

use crate::ast::expr::{Expr, ExprKind};
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::{Type, TypeTable};
use crate::ir::Channel;
use crate::resolve::program::{Field, Graph, Program, Reducer};

use super::types::flow_state::{begins_set, gathers_unset};

/// Adds to a finding about a field without a first value what to do: to `write` it, or to give it a value to begin with. The
/// fix writes the empty value of its type; see [`or_null`] for types that have none.
pub fn ways_out(found: Diagnostic, types: &TypeTable, field: &Field, write: &str) -> Diagnostic {
    let shown = types.show(&field.ty.node);
    let first = empty_value(field);
    let found = found.help(format!(
        "{write}, or give it a first value: `= {}` behind its type, or the type `{shown}?`",
        first.unwrap_or("..")
    ));
    match first {
        Some(first) => {
            let type_or_via = field.via.unwrap_or(field.ty.span);
            found.fix(behind(type_or_via), format!(" = {first}"))
        }
        None => found,
    }
}

/// Adds the fix that makes a field `T?` where its type has no empty value: only where nothing reads the field, as each
/// read would have to deal with null.
pub fn or_null(found: Diagnostic, field: &Field) -> Diagnostic {
    match (empty_value(field), &field.ty.node) {
        (Some(_), _) | (None, Type::Union(_)) => found,
        (None, _) => found.fix(behind(field.ty.span), "?"),
    }
}

fn behind(span: Span) -> Span {
    Span {
        start: span.end,
        ..span
    }
}

/// The value of a type that holds nothing, where the field may have it.
fn empty_value(field: &Field) -> Option<&'static str> {
    if !field.constraints.is_empty() {
        return None;
    }
    match &field.ty.node {
        Type::String => Some("\"\""),
        Type::Int => Some("0"),
        Type::Float => Some("0.0"),
        Type::Bool => Some("false"),
        Type::List(_) => Some("[]"),
        Type::Map(_) => Some("{}"),
        _ => None,
    }
}

/// Reports fields under a reducer of one's own that begin without a value, where the reducer reads the value so far.
pub fn missing(program: &Program, graph: &Graph, diags: &mut Diagnostics) {
    for field in graph.fields.iter().filter(|field| gathers_unset(field)) {
        let Channel::Own { reducer } = field.channel else {
            continue;
        };
        let Some(reducer) = program.reducers.get(reducer) else {
            continue;
        };
        let Some(read) = reads_old(reducer).filter(|_| !field.via_wrong && begins_set(field))
        else {
            continue;
        };
        let (name, by) = (&field.name.node, &reducer.name.node);
        let shown = program.types.show(&field.ty.node);
        diags.push(
            Diagnostic::new(
                &codes::READ_BEFORE_WRITE,
                format!(
                    "`{name}` has no first value, which its reducer `{by}` reads at the first write"
                ),
                field.name.span,
            )
            .about(field.name.span)
            .here("declared without a first value")
            .label(read.span, "read here")
            .help(format!("give it one, `{name}: {shown} via {by} = ..`")),
        );
    }
}

/// Where a reducer reads the value so far.
fn reads_old(reducer: &Reducer) -> Option<&Expr> {
    let mut open = vec![&reducer.body];
    while let Some(expr) = open.pop() {
        if matches!(&expr.kind, ExprKind::Ident(name) if *name == reducer.old.name.node) {
            return Some(expr);
        }
        expr.each_part(|part| open.push(part));
    }
    None
}
