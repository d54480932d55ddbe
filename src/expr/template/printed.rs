//! What a template shows, as expressions of the language: for rules that follow values and need no types.

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, RecordField};
use crate::ast::node::TemplateText;
use crate::ast::template::{Block, ELEMENT, Event, LOOP, Target, mentions, walk};
use crate::base::{Span, Spanned};

use super::super::function::jinja;
use super::lower::tree;

/// A step of a template.
#[derive(Debug, Clone)]
pub enum Printed {
    /// A name that stands for a value from here on: a loop's, or one that is set.
    Bind(String, Expr),
    /// A field of a namespace is set: that has a value more, wherever the namespace is read.
    Adds(String, Expr),
    /// A block begins.
    Open,
    /// It ends.
    Close {
        /// What it has bound is gone behind it; else it is one of several ways, and may not have been taken.
        scoped: bool,
    },
    /// A value that becomes part of the text.
    Shows(Expr),
}

/// What a template shows, in its order; nothing where it can't be parsed, which is reported by the check.
pub fn printed(template: &TemplateText) -> Vec<Printed> {
    let mut out = Vec::new();
    walk(&tree(template).body, &mut |event| match event {
        Event::Text(..) | Event::Expr(_) | Event::Set(_, None) => {}
        Event::Output(expr) => out.push(Printed::Shows(shown(expr))),
        Event::Set(target, Some(value)) => bind(target, &shown(value), &mut out),
        Event::Open(Block::Loop(each)) => {
            // What a list goes over, or the keys of a map.
            let element = call(Some(&each.over), "first", &[], each.over.span);
            out.push(Printed::Open);
            out.push(Printed::Bind(LOOP.to_owned(), around(&element)));
            bind(&each.target, &element, &mut out);
        }
        Event::Open(_) => out.push(Printed::Open),
        Event::Close(block) => out.push(Printed::Close {
            scoped: matches!(block, Block::Loop(_)),
        }),
    });
    out
}

fn bind(target: &Target, value: &Expr, out: &mut Vec<Printed>) {
    match target {
        Target::Name(name) => out.push(Printed::Bind(name.node.clone(), value.clone())),
        Target::Field(of, _) => out.push(Printed::Adds(of.node.clone(), value.clone())),
        Target::Several(parts, _) => parts.iter().for_each(|part| bind(part, value, out)),
    }
}

/// What a value is made from, without what only tells whether something holds.
fn shown(expr: &Expr) -> Expr {
    let span = expr.span;
    let boxed = |expr: &Expr| Box::new(shown(expr));
    let kind = match &expr.kind {
        ExprKind::Ident(_) | ExprKind::Error => expr.kind.clone(),
        ExprKind::Select { operand, field, .. } => ExprKind::Select {
            operand: boxed(operand),
            field: field.clone(),
            optional: false,
        },
        ExprKind::Index { operand, index, .. } => ExprKind::Index {
            operand: boxed(operand),
            index: Box::new(match index.kind {
                ExprKind::Literal(_) => (**index).clone(),
                _ => nothing(span),
            }),
            optional: false,
        },
        ExprKind::Call {
            target,
            function,
            args,
        } => return made(target.as_deref(), function, args, span),
        ExprKind::Conditional(_, yes, no) => return mixed([&**yes, &**no], span),
        ExprKind::List(_) | ExprKind::Map(_) => {
            let mut copy = expr.clone();
            copy.each_part_mut(|part| {
                if !matches!(part.kind, ExprKind::Literal(_)) {
                    *part = shown(part);
                }
            });
            return copy;
        }
        // Truth values and constants show nothing of what they were made from.
        _ => return nothing(span),
    };
    Expr { kind, span }
}

/// What a call is made from. A filter is followed as the method of that name.
fn made(target: Option<&Expr>, function: &Spanned<String>, args: &[Expr], span: Span) -> Expr {
    let name = function.node.as_str();
    let Some(of) = target else {
        return match (name, args) {
            ("[:]", [of, ..]) => shown(of),
            ("-", [of]) => shown(of),
            ("and" | "or" | "~" | "+" | "-" | "*" | "/" | "//" | "%" | "**", args) => {
                mixed(args, span)
            }
            _ => call(None, "namespace", args, span),
        };
    };
    if name == "|bool" || name.starts_with("is ") {
        return nothing(span);
    }
    // What goes over a list is followed as the macro is that does the same.
    if let ("|map" | "|groupby" | "|join" | "|sum", [element, key, rest @ ..]) = (name, args) {
        let (mut key, mut beside) = (key.clone(), rest.iter().map(shown).collect());
        take_beside(&mut key, &mut beside);
        let method = if name == "|groupby" { "groupby" } else { "map" };
        let mut made = call(Some(of), method, &[element.clone(), key], span);
        if name == "|sum" {
            made = call(Some(&made), "sum", &[], span);
        }
        return beside
            .into_iter()
            .fold(made, |made, more| added(made, more, span));
    }
    let selects = matches!(name, "|select" | "|reject" | "|selectattr" | "|rejectattr");
    if let (true, [element, ..]) = (selects, args) {
        return call(Some(of), "filter", &[element.clone(), nothing(span)], span);
    }
    let args = match jinja::has_key(name) {
        true => args.get(1..).unwrap_or_default(),
        false => args,
    };
    let method = match name {
        "|length" => "size",
        "|list" => "unique",
        name => name.trim_start_matches('|'),
    };
    call(Some(of), method, args, span)
}

fn call(target: Option<&Expr>, function: &str, args: &[Expr], span: Span) -> Expr {
    let kind = ExprKind::Call {
        target: target.map(|of| Box::new(shown(of))),
        function: Spanned::new(function.to_owned(), span),
        args: args.iter().map(shown).collect(),
    };
    Expr { kind, span }
}

/// A value that is made from several, or is one of them.
fn mixed<'a>(parts: impl IntoIterator<Item = &'a Expr>, span: Span) -> Expr {
    let all = parts.into_iter().map(shown);
    let all = all.reduce(|left, right| added(left, right, span));
    all.unwrap_or_else(|| nothing(span))
}

fn added(left: Expr, right: Expr, span: Span) -> Expr {
    let op = Spanned::new(BinaryOp::Add, span);
    let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
    Expr { kind, span }
}

/// Takes out of what is asked of each element the values that are no part of it: what a filter is given.
fn take_beside(key: &mut Expr, beside: &mut Vec<Expr>) {
    match mentions(key, ELEMENT) {
        true => key.each_part_mut(|part| take_beside(part, beside)),
        false => {
            let span = key.span;
            beside.push(shown(&std::mem::replace(key, nothing(span))));
        }
    }
}

/// What `loop` is where a loop goes over such elements: it knows those before and behind.
fn around(element: &Expr) -> Expr {
    let span = element.span;
    let field = |name: &str| RecordField {
        name: Spanned::new(name.to_owned(), span),
        value: element.clone(),
        optional: false,
    };
    let fields = ["previtem", "nextitem"].map(field);
    Expr {
        kind: ExprKind::Record {
            name: Spanned::new(LOOP.to_owned(), span),
            fields: fields.into_iter().collect(),
        },
        span,
    }
}

fn nothing(span: Span) -> Expr {
    Expr {
        kind: ExprKind::Literal(Literal::Null),
        span,
    }
}
