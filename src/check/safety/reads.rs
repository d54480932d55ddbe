//! What an expression mentions, by name and without types.

use std::collections::BTreeMap;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal};
use crate::ast::item::Let;

/// A name that an expression mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mention<'a> {
    /// `state.field`
    Field(&'a str),
    /// A part of one: `state.field.part`.
    FieldPart(&'a str, &'a str),
    /// Another name in scope, such as `answer`.
    Name(&'a str),
    /// A part of one: `answer.ok`.
    Part(&'a str, &'a str),
}

impl<'a> Mention<'a> {
    /// The field of the state that is mentioned, or a part of.
    pub fn field(self) -> Option<&'a str> {
        match self {
            Mention::Field(name) | Mention::FieldPart(name, _) => Some(name),
            Mention::Name(_) | Mention::Part(..) => None,
        }
    }
}

/// What a name is replaced by: `let` names of a node.
pub type Lets<'a> = BTreeMap<&'a str, Vec<Mention<'a>>>;

/// What `let` names of a node come to, in order.
pub fn lets(lets: &[Let]) -> Lets<'_> {
    let mut known = Lets::new();
    for bound in lets {
        let mentions = mentions(&bound.value, &known);
        known.insert(&bound.name.node, mentions);
    }
    known
}

/// All that an expression mentions, `let` names replaced by what they mention, each once.
pub fn mentions<'a>(expr: &'a Expr, lets: &Lets<'a>) -> Vec<Mention<'a>> {
    gather(expr, lets, &|_| false)
}

/// What of it is used: not what is only asked whether it is there.
pub fn used<'a>(expr: &'a Expr, lets: &Lets<'a>) -> Vec<Mention<'a>> {
    let is_null = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(Literal::Null));
    gather(expr, lets, &|expr| match &expr.kind {
        ExprKind::Binary(op, left, right) => {
            matches!(op.node, BinaryOp::Equal | BinaryOp::NotEqual)
                && (is_null(left) || is_null(right))
        }
        ExprKind::Call { function, .. } => function.node == "has",
        _ => false,
    })
}

fn gather<'a>(
    expr: &'a Expr,
    lets: &Lets<'a>,
    passed_over: &dyn Fn(&Expr) -> bool,
) -> Vec<Mention<'a>> {
    let mut found = Vec::new();
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.kind {
            _ if passed_over(expr) => {}
            ExprKind::Ident(name) => match lets.get(name.as_str()) {
                Some(known) => found.extend(known),
                None => found.push(Mention::Name(name)),
            },
            ExprKind::Select { operand, field, .. } if is_state(operand) => {
                found.push(Mention::Field(&field.node));
            }
            ExprKind::Select { operand, field, .. } => match whole(operand, lets) {
                Some(Mention::Name(of)) => found.push(Mention::Part(of, &field.node)),
                Some(Mention::Field(of)) => found.push(Mention::FieldPart(of, &field.node)),
                _ => open.push(operand),
            },
            _ => open.extend(expr.parts()),
        }
    }
    found.sort();
    found.dedup();
    found
}

/// What stands for itself: a name, or a field of the state. A `let` that is one of them stands for it.
fn whole<'a>(expr: &'a Expr, lets: &Lets<'a>) -> Option<Mention<'a>> {
    match &expr.kind {
        ExprKind::Ident(name) => match lets.get(name.as_str()).map(Vec::as_slice) {
            None => Some(Mention::Name(name)),
            Some([one]) => Some(*one),
            Some(_) => None,
        },
        ExprKind::Select { operand, field, .. } if is_state(operand) => {
            Some(Mention::Field(&field.node))
        }
        _ => None,
    }
}

fn is_state(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Ident(name) if name == "state")
}
