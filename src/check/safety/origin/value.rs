//! What the value of an expression is made from.

use crate::ast::expr::{BinaryOp, Entry, Expr, ExprKind, Literal};
use crate::base::Span;

use super::function::call;
use super::leaf::{Env, Leaf, Path};
use super::made::{EACH, ELEMENT, KEY, Made};
use super::vouch::told;

/// What a value is made from, part by part.
pub fn made(expr: &Expr, env: &Env) -> Made {
    match &expr.kind {
        ExprKind::Ident(name) => named(name, expr.span, env),
        ExprKind::Select { operand, field, .. } => {
            made(operand, env).part(&field.node, Some(expr.span))
        }
        ExprKind::Index { operand, index, .. } => {
            let step = written_key(index).unwrap_or(ELEMENT);
            made(operand, env).part(step, Some(expr.span))
        }
        ExprKind::Call {
            target,
            function,
            args,
        } => call(target.as_deref(), &function.node, args, env),
        // Texts, or lists that are put together.
        ExprKind::Binary(op, left, right) if op.node == BinaryOp::Add => {
            Made::any([made(left, env), made(right, env)])
        }
        ExprKind::Conditional(condition, yes, no) => {
            let told = told(condition, env);
            Made::any([
                made(yes, env).vouched(told.yes),
                made(no, env).vouched(told.no),
            ])
        }
        ExprKind::List(elements) => {
            let elements = elements.iter().map(|element| made(&element.value, env));
            Made::list(Made::any(elements))
        }
        ExprKind::Map(entries) => map(entries, env),
        ExprKind::Record { fields, .. } => {
            let fields = fields.iter();
            let fields = fields.map(|field| (field.name.node.clone(), made(&field.value, env)));
            Made::parts(fields, Made::nothing())
        }
        // Numbers and truth values.
        ExprKind::Binary(..)
        | ExprKind::Unary(..)
        | ExprKind::Logical(..)
        | ExprKind::Literal(_)
        | ExprKind::Error => Made::nothing(),
    }
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
    Made::map(Made::any(keys), Made::any(values), named)
}

/// A key that is written out, and is none of the steps that have a meaning here.
fn written_key(key: &Expr) -> Option<&str> {
    match &key.kind {
        ExprKind::Literal(Literal::String(key)) => {
            Some(&**key).filter(|key| ![ELEMENT, KEY, EACH].contains(key))
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
