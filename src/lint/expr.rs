//! Expressions as written: which there are, and what is inside them.

use crate::ast::expr::{Expr, ExprKind};
use crate::ast::item::{NamedArg, ToolBody};
use crate::ast::node::{Ask, Emit, Jumps, Node, PropertyKind, SetItem};
use crate::ast::target::{Jump, Target, TargetKind};

/// The expressions directly inside one.
pub fn children(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Ident(_) | ExprKind::Error => Vec::new(),
        ExprKind::Select { operand, .. } | ExprKind::Unary(_, operand) => vec![operand],
        ExprKind::Index { operand, index, .. } => vec![operand, index],
        ExprKind::Call { target, args, .. } => target.as_deref().into_iter().chain(args).collect(),
        ExprKind::Binary(_, left, right) => vec![left, right],
        ExprKind::Logical(_, operands) => operands.iter().collect(),
        ExprKind::Conditional(condition, then, other) => vec![condition, then, other],
        ExprKind::List(elements) => elements.iter().map(|element| &element.value).collect(),
        ExprKind::Map(entries) => {
            let pairs = entries.iter().map(|entry| [&entry.key, &entry.value]);
            pairs.flatten().collect()
        }
        ExprKind::Record { fields, .. } => fields.iter().map(|field| &field.value).collect(),
    }
}

/// Whether it reads `state.FIELD` anywhere.
pub fn reads_field(expr: &Expr, field: &str) -> bool {
    fields_read(expr).contains(&field)
}

/// Fields of the state that it reads.
pub fn fields_read(expr: &Expr) -> Vec<&str> {
    let (mut open, mut found) = (vec![expr], Vec::new());
    while let Some(expr) = open.pop() {
        found.extend(state_field(expr));
        open.extend(children(expr));
    }
    found
}

/// The field of `state.FIELD`.
pub fn state_field(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Select { operand, field, .. } => match &operand.kind {
            ExprKind::Ident(name) if name == "state" => Some(&field.node),
            _ => None,
        },
        _ => None,
    }
}

/// All expressions of a node in the order written, `let`s included.
pub fn of_node(node: &Node) -> Vec<&Expr> {
    let mut found = Vec::new();
    if let crate::ast::node::Kind::Call { args, .. } = &node.kind {
        named(args, &mut found);
    }
    if let Some(target) = &node.edge {
        of_target(target, &mut found);
    }
    for property in &node.properties {
        of_property(&property.kind, &mut found);
    }
    found
}

/// All expressions of a property.
pub fn of_property<'a>(kind: &'a PropertyKind, found: &mut Vec<&'a Expr>) {
    match kind {
        PropertyKind::Messages(expr) | PropertyKind::MaxTurns(expr) | PropertyKind::Until(expr) => {
            found.push(expr)
        }
        PropertyKind::Ask(Ask::Fields(args)) | PropertyKind::With(args) => named(args, found),
        PropertyKind::Skip { condition, to } => {
            found.push(condition);
            to.iter().for_each(|jump| of_jump(jump, found));
        }
        PropertyKind::Let(bound) => found.push(&bound.value),
        PropertyKind::Require(require) => {
            found.push(&require.condition);
            found.extend(&require.message);
        }
        PropertyKind::Set(items) => found.extend(items.iter().map(|item| &item.value)),
        PropertyKind::Emit(emit) => of_emit(emit, found),
        PropertyKind::Goto(jumps) | PropertyKind::OnError(jumps) => of_jumps(jumps, found),
        PropertyKind::Timeout { to: Some(jump), .. } => of_jump(jump, found),
        PropertyKind::MaxVisits { limit, to } => {
            found.push(limit);
            of_jump(to, found);
        }
        PropertyKind::Cache { key, .. } => found.extend(key),
        _ => {}
    }
}

/// All expressions of a tool's body but its `let`s, which come first.
pub fn of_tool(body: &ToolBody) -> Vec<&Expr> {
    let mut found: Vec<&Expr> = body.lets.iter().map(|bound| &bound.value).collect();
    for require in &body.requires {
        found.push(&require.condition);
        found.extend(&require.message);
    }
    sets(&body.set, &mut found);
    body.emits.iter().for_each(|emit| of_emit(emit, &mut found));
    body.goto
        .iter()
        .for_each(|jumps| of_jumps(jumps, &mut found));
    found.extend(&body.returns);
    found
}

fn named<'a>(args: &'a [NamedArg], found: &mut Vec<&'a Expr>) {
    found.extend(args.iter().map(|arg| &arg.value));
}

fn sets<'a>(items: &'a [SetItem], found: &mut Vec<&'a Expr>) {
    found.extend(items.iter().map(|item| &item.value));
}

fn of_emit<'a>(emit: &'a Emit, found: &mut Vec<&'a Expr>) {
    named(&emit.fields, found);
    found.extend(&emit.when);
}

/// All expressions of a route.
pub fn of_jumps<'a>(jumps: &'a Jumps, found: &mut Vec<&'a Expr>) {
    match jumps {
        Jumps::Always(jump) => of_jump(jump, found),
        Jumps::Arms(arms, _) => {
            for arm in arms {
                found.extend(&arm.when);
                of_jump(&arm.jump, found);
            }
        }
    }
}

fn of_jump<'a>(jump: &'a Jump, found: &mut Vec<&'a Expr>) {
    of_target(&jump.target, found);
    sets(&jump.set, found);
    jump.emits.iter().for_each(|emit| of_emit(emit, found));
}

fn of_target<'a>(target: &'a Target, found: &mut Vec<&'a Expr>) {
    match &target.kind {
        TargetKind::Fail(message) => found.extend(message.as_deref()),
        TargetKind::Computed(expr) => found.push(expr),
        TargetKind::Each { items, with, .. } => {
            found.push(items);
            named(with, found);
        }
        TargetKind::All(targets) => targets.iter().for_each(|target| of_target(target, found)),
        _ => {}
    }
}
