//! What the value of an expression is made from.

use crate::ast::expr::{BinaryOp, Entry, Expr, ExprKind, Literal, UnaryOp};
use crate::base::Span;

use super::env::Env;
use super::function::call;
use super::leaf::{Leaf, Path};
use super::made::{EACH, ELEMENT, KEY, Made, index, is_index};
use super::vouch::{Vouch, facts};

/// What a value is made from, part by part.
pub fn made(expr: &Expr, env: &Env) -> Made {
    let made = made_of(expr, env);
    match env.vouches(expr) {
        Some(relies) => made.vouched(vec![Vouch::whole(relies)]),
        None => made,
    }
}

fn made_of(expr: &Expr, env: &Env) -> Made {
    match &expr.kind {
        ExprKind::Ident(name) => named(name, expr.span, env),
        ExprKind::Select { operand, field, .. } => {
            made(operand, env).part(&field.node, Some(expr.span))
        }
        ExprKind::Index {
            operand, index: at, ..
        } => {
            let of = made(operand, env);
            match &at.kind {
                ExprKind::Literal(Literal::Int(at)) => of.part(&index(*at), Some(expr.span)),
                _ => match written_key(at) {
                    Some(key) => of.part(key, Some(expr.span)),
                    // Which of its elements it is, is not told.
                    None => of.part(ELEMENT, Some(expr.span)).loose(),
                },
            }
        }
        ExprKind::Call {
            target,
            function,
            args,
        } => call(target.as_deref(), &function.node, args, env),
        // Texts, or lists that are put together.
        ExprKind::Binary(op, left, right) if op.node == BinaryOp::Add => {
            Made::any([made(left, env), made(right, env)]).loose()
        }
        ExprKind::Conditional(condition, yes, no) => {
            let facts = facts(condition, env);
            let (yes, no) = (
                made(yes, &env.knowing(&facts.yes)).vouched(facts.yes),
                made(no, &env.knowing(&facts.no)).vouched(facts.no),
            );
            Made::any([yes, no]).loose()
        }
        ExprKind::List(elements) => {
            let elements = elements.iter().map(|element| made(&element.value, env));
            Made::list(Made::any(elements).loose())
        }
        ExprKind::Map(entries) => map(entries, env),
        ExprKind::Record { fields, .. } => {
            let fields = fields.iter();
            let fields = fields.map(|field| (field.name.node.clone(), made(&field.value, env)));
            Made::parts(fields, Made::nothing())
        }
        ExprKind::Binary(op, left, right) if is_sum(op.node) => {
            Made::any([made(left, env), made(right, env)]).plain()
        }
        ExprKind::Unary(UnaryOp::Negate, of) => made(of, env).plain(),
        // Truth values.
        ExprKind::Binary(..)
        | ExprKind::Unary(..)
        | ExprKind::Logical(..)
        | ExprKind::Literal(_)
        | ExprKind::Error => Made::nothing(),
    }
}

/// Whether an operator gives a number or a time.
fn is_sum(op: BinaryOp) -> bool {
    use BinaryOp::{Divide, Modulo, Multiply, Subtract};
    matches!(op, Subtract | Multiply | Divide | Modulo)
}

fn map(entries: &[Entry], env: &Env) -> Made {
    let mut named = Vec::new();
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for entry in entries {
        let value = made(&entry.value, env);
        let key = written_key(&entry.key);
        named.extend(key.map(|key| (key.to_owned(), value.clone())));
        keys.push(made(&entry.key, env));
        values.push(value);
    }
    // A part whose key is not written out here may be under any that is computed.
    Made::map(Made::any(keys).loose(), Made::any(values).loose(), named)
}

/// A key that is written out, and is none of the steps that have a meaning here.
fn written_key(key: &Expr) -> Option<&str> {
    match &key.kind {
        ExprKind::Literal(Literal::String(key)) => {
            Some(&**key).filter(|key| ![ELEMENT, KEY, EACH].contains(key) && !is_index(key))
        }
        _ => None,
    }
}

fn named(name: &str, span: Span, env: &Env) -> Made {
    match env.get(name) {
        Some(known) => known.clone().at(span),
        None => Made::leaf(Leaf::new(Path(vec![name.to_owned()]), span)),
    }
}
