//! Names: loop variables, slots, `state` and its fields, enum members, types.
//!
//! A dotted name is one name where a slot is called so (`a.b` of a `.b` on another `a`): the
//! longest such prefix counts, as in CEL.

use crate::ast::expr::{Expr, ExprKind};
use crate::base::{Span, name::closest};
use crate::expr::scope::Slot;
use crate::expr::ty::EnumType;
use crate::expr::ty::TYPE_NAMES;
use crate::value::{Map, Str, Value};

use super::compiler::{Compiler, error};
use super::literal::constant;
use super::machine::{Node, node};
use super::select::select;
use super::{CompileError, ErrorKind, EvalError};

/// Those of protocol buffers, which are values too.
const WELL_KNOWN: &[&str] = &["google.protobuf.Timestamp", "google.protobuf.Duration"];

/// The parts of `a.b.c` with the span up to each; `None` for anything else.
pub(super) fn path(expr: &Expr) -> Option<Vec<(&str, Span)>> {
    match &expr.kind {
        ExprKind::Ident(name) => Some(vec![(name.as_str(), expr.span)]),
        ExprKind::Select {
            operand,
            field,
            optional: false,
        } => {
            let mut parts = path(operand)?;
            parts.push((field.as_str(), expr.span));
            Some(parts)
        }
        _ => None,
    }
}

pub(super) fn compile(compiler: &Compiler<'_>, expr: &Expr) -> Result<Node, CompileError> {
    let parts = path(expr).unwrap_or_default();
    compile_path(compiler, &parts, expr.span)
}

/// Whether the first part of a path is a value in scope, so that the path is no qualified name.
pub(super) fn is_value(compiler: &Compiler<'_>, name: &str) -> bool {
    compiler.local(name).is_some()
        || compiler.scope.slot(name).is_some()
        || (name == "state" && compiler.scope.state.is_some())
}

/// Whether an expression is the `state` of the scope.
pub(super) fn is_state(compiler: &Compiler<'_>, expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Ident(name) if name == "state")
        && compiler.local("state").is_none()
        && compiler.scope.slot("state").is_none()
        && compiler.scope.state.is_some()
}

pub(super) fn compile_path(
    compiler: &Compiler<'_>,
    parts: &[(&str, Span)],
    span: Span,
) -> Result<Node, CompileError> {
    let Some(((first, first_span), rest)) = parts.split_first() else {
        return Err(error(span, "expected a name"));
    };
    if let Some(local) = compiler.local(first) {
        let variable = Node::new(move |machine| Ok(machine.local(local)));
        return Ok(selects(variable, rest));
    }
    if let Some((slot, len)) = slot(compiler, parts) {
        let name = joined(parts.get(..len).unwrap_or_default());
        let span = parts.get(len - 1).map_or(span, |(_, span)| *span);
        let named = Node::new(move |machine| {
            let value = machine.env.slot(slot);
            value.ok_or_else(|| no_value(span, &name))
        });
        return Ok(selects(named, parts.get(len..).unwrap_or_default()));
    }
    if *first == "state" && compiler.scope.state.is_some() {
        return state(compiler, rest);
    }
    let types = compiler.types;
    let found = types.enum_named(first).and_then(|id| types.enums.get(id));
    if let Some(found) = found {
        return member(found, *first_span, rest);
    }
    let name = joined(parts);
    if [TYPE_NAMES, WELL_KNOWN]
        .iter()
        .any(|names| names.contains(&name.as_str()))
    {
        return Ok(constant(Value::Type(type_name(&joined(parts)))));
    }
    let known = compiler
        .vars()
        .chain(compiler.scope.names.iter().map(|(name, _)| name.as_str()))
        .chain(compiler.scope.state.is_some().then_some("state"))
        .chain(types.enums.iter().map(|e| e.name.as_str()));
    let message = format!("unknown name `{first}`");
    Err(error(*first_span, meant(message, first, known)))
}

/// `Handoff.cake_man`: the member's name as text.
fn member(found: &EnumType, span: Span, rest: &[(&str, Span)]) -> Result<Node, CompileError> {
    let Some(((member, member_span), rest)) = rest.split_first() else {
        let message = format!("`{}` is an enum; name one of its members", found.name);
        return Err(error(span, message));
    };
    let names = || found.members.iter().map(|m| m.name.as_str());
    if names().any(|name| name == *member) {
        return Ok(selects(constant(Value::from(*member)), rest));
    }
    let message = format!("enum `{}` has no member `{member}`", found.name);
    Err(error(*member_span, meant(message, member, names())))
}

/// The name that `type(x)` gives for a type that has two.
fn type_name(written: &str) -> Str {
    match written {
        "float" => "double".into(),
        "timestamp" => "google.protobuf.Timestamp".into(),
        "duration" => "google.protobuf.Duration".into(),
        other => other.into(),
    }
}

/// The slot of the longest prefix that is one, and how many parts that takes.
fn slot(compiler: &Compiler<'_>, parts: &[(&str, Span)]) -> Option<(Slot, usize)> {
    (1..=parts.len()).rev().find_map(|len| {
        let slot = compiler.scope.slot(&joined(parts.get(..len)?))?;
        Some((slot, len))
    })
}

fn joined(parts: &[(&str, Span)]) -> String {
    let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
    names.join(".")
}

/// `state.x`, or `state` alone.
fn state(compiler: &Compiler<'_>, rest: &[(&str, Span)]) -> Result<Node, CompileError> {
    let fields = compiler.scope.state.as_deref();
    let names = || fields.into_iter().flatten().map(|(name, _)| name.as_str());
    let Some(((field, span), rest)) = rest.split_first() else {
        // A map of the fields that have a value.
        let names: Vec<Str> = names().map(Str::from).collect();
        return node(move |machine| {
            let fields = (0..).zip(&names);
            let set = fields.filter_map(|(index, name)| {
                let value = machine.env.field(index)?;
                Some((name.clone(), value))
            });
            Ok(Value::Map(set.collect::<Map>()))
        });
    };
    let Some((index, _)) = compiler.scope.field(field) else {
        let message = format!("`state` has no field `{field}`");
        return Err(error(*span, meant(message, field, names())));
    };
    let (span, name) = (*span, format!("state.{field}"));
    let read = Node::new(move |machine| {
        let value = machine.env.field(index);
        value.ok_or_else(|| no_value(span, &name))
    });
    Ok(selects(read, rest))
}

/// `message`, and the close name that may have been meant.
pub(super) fn meant<'a>(
    message: String,
    written: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> String {
    match closest(written, known) {
        Some(name) => format!("{message}; did you mean `{name}`?"),
        None => message,
    }
}

fn selects(mut node: Node, parts: &[(&str, Span)]) -> Node {
    for (field, span) in parts {
        node = select(node, field, *span);
    }
    node
}

fn no_value(span: Span, name: &str) -> Box<EvalError> {
    EvalError::boxed(
        span,
        ErrorKind::NoValue,
        format!("`{name}` has no value yet"),
    )
}
