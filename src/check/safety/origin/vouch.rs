//! What a condition vouches for: a path that is one of few values, or of a known form, where it holds.
//!
//! A comparison is worth as much as what it compares with. So each path comes with what that is made from, and vouches for
//! nothing where one of those is a source itself.

use std::rc::Rc;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::ast::item::Require;

use super::leaf::{Env, Leaf, Path, leaves};
use super::made::{EACH, Made};
use super::value::made;

/// A path that is vouched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouch {
    /// The path.
    pub path: Path,
    /// What it was compared with is made from these.
    pub relies: Rc<[Leaf]>,
}

/// Paths that a condition vouches for.
pub type Vetted = Vec<Vouch>;

/// What a macro's name is called while its condition is read: no path in scope begins so.
const BOUND: &str = "\u{0}";

/// What is vouched for behind these conditions.
pub fn guards<'a>(
    skips: impl Iterator<Item = &'a Expr>,
    requires: &'a [Require],
    env: &Env,
) -> Vetted {
    let mut all: Vetted = skips.flat_map(|when| vetted(when, false, env)).collect();
    let requires = requires.iter().map(|require| &require.condition);
    all.extend(requires.flat_map(|condition| vetted(condition, true, env)));
    all
}

/// What is vouched for where the condition has that truth.
pub fn vetted(condition: &Expr, truth: bool, env: &Env) -> Vetted {
    let told = told(condition, env);
    match truth {
        true => told.yes,
        false => told.no,
    }
}

/// What a condition vouches for where it holds, and where it doesn't.
#[derive(Debug, Default)]
pub struct Told {
    /// Where it holds.
    pub yes: Vetted,
    /// Where it doesn't.
    pub no: Vetted,
}

/// Both. Each part of the condition is looked at once.
pub fn told(condition: &Expr, env: &Env) -> Told {
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, of) => {
            let Told { yes, no } = told(of, env);
            Told { yes: no, no: yes }
        }
        ExprKind::Logical(op, operands) => {
            let parts = operands.iter().map(|operand| told(operand, env));
            let (yes, no): (Vec<Vetted>, Vec<Vetted>) =
                parts.map(|told| (told.yes, told.no)).unzip();
            let all = |parts: Vec<Vetted>| parts.into_iter().flatten().collect();
            match op {
                LogicalOp::And => Told {
                    yes: all(yes),
                    no: common(no),
                },
                LogicalOp::Or => Told {
                    yes: common(yes),
                    no: all(no),
                },
            }
        }
        ExprKind::Binary(op, left, right) => compared(op.node, left, right, env),
        ExprKind::Call {
            target,
            function,
            args,
        } => Told {
            yes: by_call(target.as_deref(), &function.node, args, env),
            no: Vec::new(),
        },
        _ => Told::default(),
    }
}

fn compared(op: BinaryOp, left: &Expr, right: &Expr, env: &Env) -> Told {
    if !matches!(op, BinaryOp::In | BinaryOp::Equal | BinaryOp::NotEqual) {
        return Told::default();
    }
    let (of, with) = (made(left, env), made(right, env));
    if op == BinaryOp::In {
        let among = with.part(EACH, None).leaves();
        return Told {
            yes: vouch(paths(left, &of.leaves()), &among),
            no: Vec::new(),
        };
    }
    let (of, with) = (of.leaves(), with.leaves());
    let mut known = Vec::new();
    if !is_null(right) {
        known.extend(vouch(paths(left, &of), &with));
    }
    if !is_null(left) {
        known.extend(vouch(paths(right, &with), &of));
    }
    let (yes, no) = match op {
        BinaryOp::Equal => (known, Vec::new()),
        _ => (Vec::new(), known),
    };
    Told { yes, no }
}

fn by_call(target: Option<&Expr>, function: &str, args: &[Expr], env: &Env) -> Vetted {
    match (function, target, args) {
        ("matches" | "startsWith", Some(of), [form, ..]) | ("matches", None, [of, form]) => {
            vouch(paths(of, &leaves(of, env)), &leaves(form, env))
        }
        // `allowed.exists(a, a == x)`
        ("exists" | "exists_one" | "existsOne", Some(among), [name, condition]) => {
            let among = made(among, env).part(EACH, None).leaves();
            let told = with_name(name, condition, env).into_iter();
            let others = told.filter(|vouch| vouch.path.root() != BOUND);
            others.map(|vouch| known_as(vouch, &among)).collect()
        }
        // `xs.all(x, x in allowed)` vouches for `xs`.
        ("all", Some(of), [name, condition]) => {
            let of = made(of, env).leaves();
            let told = with_name(name, condition, env).into_iter();
            let each = told.filter(|vouch| vouch.path.0 == [BOUND]);
            let each = each.map(|vouch| known_as(vouch, &of));
            each.flat_map(|vouch| vouch_all(&of, &vouch)).collect()
        }
        _ => Vec::new(),
    }
}

fn with_name(name: &Expr, condition: &Expr, env: &Env) -> Vetted {
    let ExprKind::Ident(name) = &name.kind else {
        return Vec::new();
    };
    let mut inner = env.clone();
    let bound = Leaf::new(Path(vec![BOUND.to_owned()]), condition.span);
    inner.insert(name.clone(), Made::leaf(bound));
    vetted(condition, true, &inner)
}

/// The same, where the macro's name stands for one of `among`.
fn known_as(vouch: Vouch, among: &[Leaf]) -> Vouch {
    let (named, mut relies): (Vec<Leaf>, Vec<Leaf>) =
        (vouch.relies.iter().cloned()).partition(|leaf| leaf.path.root() == BOUND);
    if !named.is_empty() {
        relies.extend(among.iter().cloned());
    }
    Vouch {
        relies: relies.into(),
        ..vouch
    }
}

fn vouch_all(leaves: &[Leaf], by: &Vouch) -> Vetted {
    let vouch = |leaf: &Leaf| Vouch {
        path: leaf.path.clone(),
        relies: by.relies.clone(),
    };
    leaves.iter().map(vouch).collect()
}

/// Vouches for paths by what they are compared with. Constants, members of enums among them, are made from nothing.
fn vouch(paths: Vec<Path>, with: &[Leaf]) -> Vetted {
    let from = |leaf: &&Leaf| {
        let root = leaf.path.root();
        root != "params" && !root.starts_with(char::is_uppercase)
    };
    let relies: Rc<[Leaf]> = with.iter().filter(from).cloned().collect();
    let paths = paths.into_iter();
    paths
        .map(|path| Vouch {
            path,
            relies: relies.clone(),
        })
        .collect()
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Literal::Null))
}

/// The paths of an operand that its leaves are, also within a function that keeps what it is told about (`url_host(x)`,
/// `x.lower()`).
fn paths(expr: &Expr, leaves: &[Leaf]) -> Vec<Path> {
    let keeps = match &expr.kind {
        ExprKind::Ident(_) | ExprKind::Select { .. } | ExprKind::Index { .. } => true,
        ExprKind::Call {
            target,
            function,
            args,
        } => match (function.node.as_str(), target, args.as_slice()) {
            ("url_host", None, [of]) => is_path(of),
            ("lower" | "upper" | "trim" | "url_host", Some(of), []) => is_path(of),
            _ => false,
        },
        _ => false,
    };
    // A member of an enum names nothing in scope.
    let upper = |leaf: &Leaf| leaf.path.root().starts_with(char::is_uppercase);
    match keeps && !leaves.iter().any(upper) {
        true => leaves.iter().map(|leaf| leaf.path.clone()).collect(),
        false => Vec::new(),
    }
}

fn is_path(expr: &Expr) -> bool {
    let mut at = expr;
    loop {
        at = match &at.kind {
            ExprKind::Ident(_) => return true,
            ExprKind::Select { operand, .. } | ExprKind::Index { operand, .. } => operand,
            ExprKind::Call {
                target: Some(of), ..
            } => of,
            _ => return false,
        };
    }
}

/// What all of several conditions vouch for.
fn common(parts: Vec<Vetted>) -> Vetted {
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_default();
    parts.fold(first, |known, part| {
        let both = |vouch: Vouch| {
            let other = part.iter().find(|other| other.path == vouch.path)?;
            let relies = vouch.relies.iter().chain(&*other.relies);
            Some(Vouch {
                relies: relies.cloned().collect(),
                ..vouch
            })
        };
        known.into_iter().filter_map(both).collect()
    })
}
