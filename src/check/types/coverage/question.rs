//! From conditions to questions: what each part of a condition asks, and of what.

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::expr::Type;
use crate::expr::infer::path;

use super::super::cases::{Atom, Reader};
use super::super::range::{Range, comparison, number, turned};
use super::asked::{Questions, Reading};
use super::formula::Formula;
use super::space::{Space, Which};
use super::ties::{EQUAL, LESS, MORE};

/// Some answers to a question, or all but those.
pub struct Ask {
    /// Number of the question.
    pub of: usize,
    /// The answers.
    pub which: Which,
    /// Whether these are meant, or all others.
    pub truth: bool,
}

/// Most parts of conditions that are read. A `?:` and a comparison of conditions ask what their parts ask for both of its
/// values, so that each one within another doubles that.
const PARTS: usize = 50_000;

/// What a condition asks where it holds, or where it doesn't.
pub fn read<'e>(to: &mut Questions<'_, '_, 'e>, expr: &'e Expr, truth: bool) -> Formula<Ask> {
    to.parts += 1;
    if to.parts > PARTS {
        to.too_much = true;
        return to.whole(expr, truth);
    }
    match &expr.kind {
        ExprKind::Literal(Literal::Bool(value)) => Formula::Is(*value == truth),
        ExprKind::Unary(UnaryOp::Not, inner) => read(to, inner, !truth),
        ExprKind::Logical(op, operands) => {
            let parts = operands.iter().map(|part| read(to, part, truth)).collect();
            all(parts, (*op == LogicalOp::And) == truth)
        }
        ExprKind::Conditional(condition, yes, no) if to.reading == Reading::Deep => {
            let yes = [read(to, condition, true), read(to, yes, truth)];
            let no = [read(to, condition, false), read(to, no, truth)];
            Formula::Any([yes, no].map(|way| Formula::All(way.into())).into())
        }
        ExprKind::Binary(op, left, right) => match op.node {
            BinaryOp::Equal => equal(to, (left, right), truth),
            BinaryOp::NotEqual => equal(to, (left, right), !truth),
            BinaryOp::In => one_of(to, expr, (left, right), truth),
            op => match comparison(op, 0.0) {
                Some(_) => ordered(to, op, (left, right), truth),
                None => to.whole(expr, truth),
            },
        },
        ExprKind::Call {
            target: None,
            function,
            args,
        } if function.node == "has" => match args.as_slice() {
            [field] => has(to, expr, field, truth),
            _ => to.whole(expr, truth),
        },
        _ => to.whole(expr, truth),
    }
}

/// `a == b`
fn equal<'e>(
    to: &mut Questions<'_, '_, 'e>,
    (left, right): (&'e Expr, &'e Expr),
    truth: bool,
) -> Formula<Ask> {
    if let (Some(a), Some(b)) = (to.reader.atom(left), to.reader.atom(right)) {
        return Formula::Is((a == b) == truth);
    }
    for (subject, value) in [(left, right), (right, left)] {
        if let Some(at) = number(value, &to.reader.cx.program.types) {
            return numbers(to, subject, Range::point(at), truth);
        }
        if let Some(atom) = to.reader.atom(value) {
            return match atom {
                Atom::Bool(value) if is_condition(&to.reader, subject) => {
                    read(to, subject, value == truth)
                }
                _ => to.atom(subject, atom, truth),
            };
        }
        if is_empty(value) && sized(&to.reader.cx.quiet(subject)) {
            let size = to.size(subject);
            return to.within(size, Range::point(0.0), truth);
        }
    }
    let conditions = |expr| to.reader.cx.quiet(expr) == Type::Bool;
    let deep = to.reading == Reading::Deep;
    if deep && conditions(left) && conditions(right) {
        let ways = [true, false].map(|value| {
            Formula::All(vec![read(to, left, value), read(to, right, value == truth)])
        });
        return Formula::Any(ways.into());
    }
    let (question, _) = to.order(left, right);
    ask(question, Which::Some(vec![EQUAL]), truth)
}

/// `x in [a, b]` asks the same as `x == a || x == b`.
fn one_of<'e>(
    to: &mut Questions<'_, '_, 'e>,
    expr: &'e Expr,
    (item, list): (&'e Expr, &'e Expr),
    truth: bool,
) -> Formula<Ask> {
    match &list.kind {
        ExprKind::List(items) if items.iter().all(|item| !item.optional) => {
            let parts = items.iter();
            let parts = parts.map(|other| equal(to, (item, &other.value), truth));
            all(parts.collect(), !truth)
        }
        _ => to.whole(expr, truth),
    }
}

/// `a < b` and its like.
fn ordered<'e>(
    to: &mut Questions<'_, '_, 'e>,
    op: BinaryOp,
    (left, right): (&'e Expr, &'e Expr),
    truth: bool,
) -> Formula<Ask> {
    let types = &to.reader.cx.program.types;
    let (a, b) = (number(left, types), number(right, types));
    if let (Some(a), Some(range)) = (a, b.and_then(|b| comparison(op, b))) {
        return Formula::Is(Range::point(a).within(range) == truth);
    }
    let sides = match (a, b) {
        (_, Some(at)) => Some((left, Some(op), at)),
        (Some(at), None) => Some((right, turned(op), at)),
        _ => None,
    };
    let range = sides.and_then(|(subject, op, at)| Some((subject, comparison(op?, at)?)));
    if let Some((subject, range)) = range {
        return numbers(to, subject, range, truth);
    }
    let (question, turns) = to.order(left, right);
    for side in [left, right] {
        let value = to.value(side);
        to.least(value);
    }
    let op = if turns { turned(op) } else { Some(op) };
    let which = match op {
        Some(BinaryOp::Less) => vec![LESS],
        Some(BinaryOp::LessEqual) => vec![LESS, EQUAL],
        Some(BinaryOp::Greater) => vec![MORE],
        _ => vec![EQUAL, MORE],
    };
    ask(question, Which::Some(which), truth)
}

/// A number of a place, or a size.
fn numbers<'e>(
    to: &mut Questions<'_, '_, 'e>,
    subject: &'e Expr,
    range: Range,
    truth: bool,
) -> Formula<Ask> {
    let question = to.value(subject);
    to.within(question, range, truth)
}

/// `has(x.f)`: which of several records `x` is, or that a field is not null.
fn has<'e>(
    to: &mut Questions<'_, '_, 'e>,
    expr: &'e Expr,
    field: &'e Expr,
    truth: bool,
) -> Formula<Ask> {
    let ExprKind::Select {
        operand,
        field: name,
        optional: false,
    } = &field.kind
    else {
        return to.whole(expr, truth);
    };
    let types = &to.reader.cx.program.types;
    let Type::Union(members) = to.reader.cx.quiet(operand).without_null() else {
        return match to.reader.cx.quiet(field) {
            Type::Nullable(_) | Type::Json => to.atom(field, Atom::Null, !truth),
            _ => to.whole(expr, truth),
        };
    };
    let (mut surely, mut perhaps) = (Vec::new(), Vec::new());
    for (at, member) in (0..).zip(members.iter()) {
        let Type::Record(id) = member else {
            return to.whole(expr, truth);
        };
        let fields = types.records.get(*id).into_iter().flat_map(|r| &r.fields);
        match fields.into_iter().find(|known| known.name == name.node) {
            Some(known) if known.ty.admits_null() => perhaps.push(at),
            Some(_) => surely.push(at),
            None => {}
        }
    }
    let key = format!("{} is", to.name(operand));
    let question = to.question(key, || Space::Of(members.len() as u32));
    let surely = ask(question, Which::Some(surely), truth);
    if perhaps.is_empty() {
        return surely;
    }
    let parts = [
        ask(question, Which::Some(perhaps), truth),
        to.whole(expr, truth),
    ];
    all(vec![surely, all(parts.into(), truth)], !truth)
}

/// Some answers to a question.
pub(super) fn ask(of: usize, which: Which, truth: bool) -> Formula<Ask> {
    Formula::Ask(Ask { of, which, truth })
}

fn all(parts: Vec<Formula<Ask>>, all: bool) -> Formula<Ask> {
    match all {
        true => Formula::All(parts),
        false => Formula::Any(parts),
    }
}

/// Whether an expression is a condition by itself, and not a place that holds `true` or `false`.
fn is_condition(reader: &Reader, expr: &Expr) -> bool {
    path(expr).is_none() && reader.cx.quiet(expr) == Type::Bool
}

/// `[]`, `{}`
fn is_empty(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::List(items) => items.is_empty(),
        ExprKind::Map(entries) => entries.is_empty(),
        _ => false,
    }
}

/// Whether being empty is the same as having the size 0.
fn sized(ty: &Type) -> bool {
    matches!(ty.without_null(), Type::List(_) | Type::Map(_))
}
