//! Whether two expressions are written alike.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::discriminant;

use crate::ast::expr::{Expr, ExprKind};

/// A number that is equal for expressions that are the [`same`], so that one is found among many.
pub fn fingerprint(expr: &Expr) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        discriminant(&expr.kind).hash(&mut hasher);
        match &expr.kind {
            ExprKind::Literal(literal) => format!("{literal:?}").hash(&mut hasher),
            ExprKind::Ident(name) => name.hash(&mut hasher),
            ExprKind::Select { field, .. } => field.node.hash(&mut hasher),
            ExprKind::Call { function, .. } => function.node.hash(&mut hasher),
            ExprKind::Binary(op, ..) => discriminant(&op.node).hash(&mut hasher),
            _ => {}
        }
        expr.each_part(|part| open.push(part));
    }
    hasher.finish()
}

/// Whether two expressions are the same but for their places, so that they have the same value as long as
/// nothing is written between them.
pub fn same(left: &Expr, right: &Expr) -> bool {
    let mut open = vec![(left, right)];
    while let Some((left, right)) = open.pop() {
        let pairs = match (&left.kind, &right.kind) {
            (ExprKind::Literal(a), ExprKind::Literal(b)) if a == b => Vec::new(),
            (ExprKind::Ident(a), ExprKind::Ident(b)) if a == b => Vec::new(),
            (
                ExprKind::Select {
                    operand: a,
                    field: x,
                    optional: p,
                },
                ExprKind::Select {
                    operand: b,
                    field: y,
                    optional: q,
                },
            ) if x.node == y.node && p == q => vec![(&**a, &**b)],
            (
                ExprKind::Index {
                    operand: a,
                    index: i,
                    optional: p,
                },
                ExprKind::Index {
                    operand: b,
                    index: j,
                    optional: q,
                },
            ) if p == q => vec![(&**a, &**b), (&**i, &**j)],
            (
                ExprKind::Call {
                    target: a,
                    function: f,
                    args: xs,
                },
                ExprKind::Call {
                    target: b,
                    function: g,
                    args: ys,
                },
            ) if f.node == g.node && a.is_some() == b.is_some() && xs.len() == ys.len() => {
                let targets = a.as_deref().into_iter().zip(b.as_deref());
                targets.chain(xs.iter().zip(ys)).collect()
            }
            (ExprKind::Unary(p, a), ExprKind::Unary(q, b)) if p == q => vec![(&**a, &**b)],
            (ExprKind::Binary(p, a, x), ExprKind::Binary(q, b, y)) if p.node == q.node => {
                vec![(&**a, &**b), (&**x, &**y)]
            }
            (ExprKind::Logical(p, xs), ExprKind::Logical(q, ys))
                if p == q && xs.len() == ys.len() =>
            {
                xs.iter().zip(ys).collect()
            }
            (ExprKind::Conditional(a, b, c), ExprKind::Conditional(x, y, z)) => {
                vec![(&**a, &**x), (&**b, &**y), (&**c, &**z)]
            }
            (ExprKind::List(xs), ExprKind::List(ys)) if xs.len() == ys.len() => {
                if xs.iter().zip(ys).any(|(x, y)| x.optional != y.optional) {
                    return false;
                }
                xs.iter()
                    .map(|x| &x.value)
                    .zip(ys.iter().map(|y| &y.value))
                    .collect()
            }
            _ => return false,
        };
        open.extend(pairs);
    }
    true
}
