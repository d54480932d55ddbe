//! Writes that give a reducer what the field has already: `docs: state.docs + [x]` through `append` has each element twice.

use std::collections::BTreeSet;

use crate::ast::expr::{BinaryOp, Expr, ExprKind};
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, Level, codes};
use crate::expr::fold::inline::{LetValue, let_values};
use crate::expr::infer::path;
use crate::ir::{Channel, FieldMode, GraphId};
use crate::resolve::jumps::Maker;
use crate::resolve::program::{Field, Graph, Node, Program, SetItem};

use super::cfg::build::called_bodies;

/// Methods that give back elements or entries of what they are called on.
const PARTS: [&str; 9] = [
    "filter", "sort", "sort_by", "unique", "distinct", "reverse", "slice", "merge", "without",
];

/// Reports the writes of a graph, and those that bodies of tools make there.
pub fn writes(program: &Program, graph: &Graph, diags: &mut Diagnostics) {
    if !graph.fields.iter().any(|field| gathers(field).is_some()) {
        return;
    }
    own_writes(graph, |item, lets| {
        let field = item.field.and_then(|id| graph.fields.get(id));
        if let Some(field) = field.filter(|_| !item.replace) {
            let own = format!("state.{}", field.name.node);
            let found = found(field, item.name.span, &item.value, (own.as_str(), lets));
            found.into_iter().for_each(|found| diags.push(found));
        }
    });
    given_back(program, graph, diags);
    let mut reported = BTreeSet::new();
    let bodies = graph.nodes.iter();
    let bodies = bodies.flat_map(|node| called_bodies(program, node));
    for (_, body) in bodies {
        for item in body.writes().filter(|item| !item.replace) {
            let (name, value) = (&item.name, &item.value);
            let reads = body.reads.iter().any(|read| read.name.node == name.node);
            let field = graph.field(&name.node).and_then(|id| graph.fields.get(id));
            if let Some(field) = field.filter(|_| reads && reported.insert(name.span)) {
                let lets = let_values(&body.lets);
                let found = found(field, name.span, value, (name.node.as_str(), &lets));
                found.into_iter().for_each(|found| diags.push(found));
            }
        }
    }
}

/// Goes through the writes of a graph's nodes, entry and joins, with the `let`s that each sees.
fn own_writes<'a>(graph: &'a Graph, mut write: impl FnMut(&'a SetItem, &[LetValue])) {
    let nodes = graph.nodes.iter();
    let made: Vec<Vec<LetValue>> = nodes.map(|node| let_values(&node.lets)).collect();
    for (node, lets) in graph.nodes.iter().zip(&made) {
        node.set.iter().for_each(|item| write(item, lets));
    }
    for (maker, jump) in graph.jumps() {
        let lets = match maker {
            Maker::Node(id, _) => made.get(id.0 as usize).map_or(&[][..], Vec::as_slice),
            _ => &[],
        };
        jump.set.iter().for_each(|item| write(item, lets));
    }
}

/// Reports writes of called graphs to an `in out` field without a reducer that hold the value which their caller gave: it goes back
/// through the caller's reducer.
fn given_back(program: &Program, graph: &Graph, diags: &mut Diagnostics) {
    let calls = graph.nodes.iter().filter_map(Node::called);
    let called: BTreeSet<GraphId> = calls.map(|(called, _)| called).collect();
    for called in called.into_iter().filter_map(|id| program.graphs.get(id)) {
        own_writes(called, |item, lets| {
            let field = item.field.and_then(|id| called.fields.get(id));
            let passes = |f: &&Field| f.mode == FieldMode::InOut && f.channel == Channel::Last;
            let Some(field) = field.filter(passes) else {
                return;
            };
            let name = &field.name.node;
            let callers = graph.field(name).and_then(|id| graph.fields.get(id));
            let Some((callers, (by, level))) = callers.and_then(|f| Some((f, gathers(f)?))) else {
                return;
            };
            let own = format!("state.{name}");
            if let Some(part) = own_part(&item.value, &own, lets) {
                let message = format!(
                    "the write to `{name}` holds the value that the caller's field has already"
                );
                let (of, to) = (&called.name.node, &graph.name.node);
                let mut found = Diagnostic::new(&codes::GATHERED_TWICE, message, part)
                    .here(format!("`{of}` gives it back, and `{by}` of `{to}` puts it to what is there"))
                    .label(callers.name.span, format!("`via {by}`"))
                    .help(format!(
                        "declare `{name}` with that reducer in `{of}` too, and write only the part that is new"
                    ));
                found.level = level;
                diags.push(found);
            }
        });
    }
}

/// The name of a reducer that puts a write together with what is there, and how bad the field's own value in it is.
fn gathers(field: &Field) -> Option<(&'static str, Level)> {
    Some(match &field.channel {
        Channel::Append => ("append", Level::Error),
        Channel::Add => ("add", Level::Error),
        Channel::Union => ("union", Level::Warning),
        Channel::Merge => ("merge", Level::Warning),
        Channel::DeepMerge => ("deep_merge", Level::Warning),
        Channel::Upsert { .. } => ("upsert", Level::Warning),
        Channel::AddMessages => ("add_messages", Level::Warning),
        _ => return None,
    })
}

fn found(
    field: &Field,
    name: Span,
    value: &Expr,
    (own, lets): (&str, &[LetValue]),
) -> Option<Diagnostic> {
    let (by, level) = gathers(field)?;
    let part = own_part(value, own, lets)?;
    let written = &field.name.node;
    let then = match level {
        Level::Error => format!("`{by}` adds it to what is there: it counts twice"),
        _ => format!("`{by}` has it already, and old values overwrite what tasks beside write"),
    };
    let message = format!("the write to `{written}` holds the value that the field has already");
    let mut found = Diagnostic::new(&codes::GATHERED_TWICE, message, part).here(then);
    found.level = level;
    Some(match new_part(value, own, lets) {
        Some((old, new)) => found
            .help(format!(
                "write only the part that is new, or the whole past the reducer: `{written} := ..`"
            ))
            .fix(
                Span::new(old.file, old.start as usize, new.start as usize),
                "",
            ),
        None => found
            .help(format!(
                "write `{written} := ..`: behind `:` the reducer puts it to what is there"
            ))
            .fix(
                Span::new(name.file, name.end as usize, value.span.start as usize),
                " := ",
            ),
    })
}

/// Of `own + new` the spans of both, where all that comes behind the first is new.
fn new_part(value: &Expr, own: &str, lets: &[LetValue]) -> Option<(Span, Span)> {
    let (mut at, mut new) = (value, None);
    while let ExprKind::Binary(op, left, right) = &at.kind {
        if op.node != BinaryOp::Add || own_part(right, own, lets).is_some() {
            return None;
        }
        new = Some(right.span);
        at = left;
    }
    let is_own = path(at).is_some_and(|path| path == own);
    is_own.then_some((at.span, new?))
}

/// Where a value has a field's own value as a part.
fn own_part(value: &Expr, own: &str, lets: &[LetValue]) -> Option<Span> {
    let parts = parts(value, lets).into_iter();
    let own = parts.filter(|(path, _)| path == own);
    own.map(|(_, span)| span).next()
}

/// The paths whose values are parts of an expression's value, in order: not those of conditions, indices and sizes.
fn parts(expr: &Expr, lets: &[LetValue]) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Ident(_) | ExprKind::Select { .. } => {
                let name = path(expr);
                let known = lets
                    .iter()
                    .rfind(|known| name.as_ref() == Some(&known.name));
                match known {
                    Some(known) => {
                        let inside = parts(&known.value, &[]).into_iter();
                        found.extend(inside.map(|(path, _)| (path, expr.span)));
                    }
                    None => found.extend(name.map(|name| (name, expr.span))),
                }
            }
            ExprKind::Binary(op, left, right) => match op.node {
                BinaryOp::Add => open.extend([&**right, &**left]),
                BinaryOp::Subtract => open.push(left),
                _ => {}
            },
            ExprKind::Conditional(_, yes, no) => open.extend([&**no, &**yes]),
            ExprKind::Call {
                target: Some(target),
                function,
                args,
            } => match (function.node.as_str(), args.as_slice()) {
                (name, _) if PARTS.contains(&name) => open.push(target),
                ("fold", [_, _, first, _]) => open.push(first),
                _ => {}
            },
            _ => {}
        }
    }
    found
}
