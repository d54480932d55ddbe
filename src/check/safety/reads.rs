//! What an expression mentions, by name and without types.

use std::collections::BTreeMap;

use crate::ast::expr::{Expr, ExprKind};
use crate::ast::item::Let;

/// A name that an expression mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mention<'a> {
    /// `state.field`
    Field(&'a str),
    /// Another name in scope, such as `answer`.
    Name(&'a str),
    /// A part of one: `answer.ok`.
    Part(&'a str, &'a str),
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
    let mut found = Vec::new();
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Ident(name) => match lets.get(name.as_str()) {
                Some(known) => found.extend(known),
                None => found.push(Mention::Name(name)),
            },
            ExprKind::Select { operand, field, .. } if is_state(operand) => {
                found.push(Mention::Field(&field.node));
            }
            ExprKind::Select { operand, field, .. } => match name(operand, lets) {
                Some(of) => found.push(Mention::Part(of, &field.node)),
                None => open.push(operand),
            },
            _ => open.extend(expr.parts()),
        }
    }
    found.sort();
    found.dedup();
    found
}

/// A name that stands for itself.
fn name<'a>(expr: &'a Expr, lets: &Lets<'a>) -> Option<&'a str> {
    match &expr.kind {
        ExprKind::Ident(name) => Some(name.as_str()).filter(|name| !lets.contains_key(name)),
        _ => None,
    }
}

fn is_state(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Ident(name) if name == "state")
}
