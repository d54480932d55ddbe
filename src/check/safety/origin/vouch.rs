//! What a condition vouches for: a path that is one of few values, or of a known form, where it holds.
//!
//! A comparison is worth as much as what it compares with. So each path comes with what that is made from, and vouches for
//! nothing where one of those is a source itself.
//!
//! It vouches for what it compares, not for what that was taken from: the first word of a text says nothing of the rest. A
//! path stands for its value wherever that is read; any other expression for itself alone, where the same words stand again.

use std::rc::Rc;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::expr::fold::same::same;
use crate::resolve::node::Require;

use super::bound::{Bound, each_of};
use super::env::{Env, is_small};
use super::leaf::{Leaf, Path, leaves};
use super::made::{EACH, ELEMENT, KEY, Made, is_index};
use super::value::made;

/// What is vouched for.
#[derive(Debug, Clone)]
pub struct Vouch {
    /// The path; of an expression that is none, one that nothing in scope has.
    pub path: Path,
    /// The expression, where it is no path.
    pub said: Option<Rc<Expr>>,
    /// All elements of the path, each for itself.
    pub each: bool,
    /// What it was compared with is made from these.
    pub relies: Rc<[Leaf]>,
}

impl Vouch {
    /// For all that it stands around.
    pub fn whole(relies: Rc<[Leaf]>) -> Self {
        Self {
            path: Path(Vec::new()),
            said: None,
            each: false,
            relies,
        }
    }

    /// Whether it vouches for a path.
    pub fn holds(&self, path: &Path) -> bool {
        let element = |step: &String| [ELEMENT, EACH, KEY].contains(&&**step) || is_index(step);
        let next = path.0.get(self.path.0.len());
        self.path.holds(path) && (!self.each || next.is_none_or(element))
    }

    /// Whether it vouches for the parameter of a tool itself.
    pub fn is_for(&self, name: &str) -> bool {
        self.path.0 == [name]
    }

    /// Whether it is for an expression that mentions the name.
    pub fn mentions(&self, name: &str) -> bool {
        let mut open: Vec<&Expr> = self.said.iter().map(|said| &**said).collect();
        while let Some(expr) = open.pop() {
            if matches!(&expr.kind, ExprKind::Ident(ident) if ident == name) {
                return true;
            }
            expr.each_part(|part| open.push(part));
        }
        false
    }
}

/// Paths that a condition vouches for.
pub type Vetted = Vec<Vouch>;

/// What the path of an expression that is none begins with.
const SAID: &str = "\u{1}";

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
    let facts = facts(condition, env);
    match truth {
        true => facts.yes,
        false => facts.no,
    }
}

/// What a condition vouches for where it holds, and where it doesn't.
#[derive(Debug, Default)]
pub struct ConditionFacts {
    /// Where it holds.
    pub yes: Vetted,
    /// Where it doesn't.
    pub no: Vetted,
}

/// Both. Each part of the condition is looked at once.
pub fn facts(condition: &Expr, env: &Env) -> ConditionFacts {
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, of) => {
            let ConditionFacts { yes, no } = facts(of, env);
            ConditionFacts { yes: no, no: yes }
        }
        ExprKind::Logical(op, operands) => {
            let parts = operands.iter().map(|operand| facts(operand, env));
            let (yes, no): (Vec<Vetted>, Vec<Vetted>) =
                parts.map(|facts| (facts.yes, facts.no)).unzip();
            let all = |parts: Vec<Vetted>| parts.into_iter().flatten().collect();
            match op {
                LogicalOp::And => ConditionFacts {
                    yes: all(yes),
                    no: common(no),
                },
                LogicalOp::Or => ConditionFacts {
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
        } => ConditionFacts {
            yes: by_call(target.as_deref(), &function.node, args, env),
            no: Vec::new(),
        },
        _ => ConditionFacts::default(),
    }
}

fn compared(op: BinaryOp, left: &Expr, right: &Expr, env: &Env) -> ConditionFacts {
    if !matches!(op, BinaryOp::In | BinaryOp::Equal | BinaryOp::NotEqual) {
        return ConditionFacts::default();
    }
    let (of, with) = (made(left, env), made(right, env));
    if op == BinaryOp::In {
        let among = with.part(EACH, None).leaves();
        return ConditionFacts {
            yes: vouch(left, &of, &among).into_iter().collect(),
            no: Vec::new(),
        };
    }
    let mut known = Vec::new();
    if !is_null(right) {
        known.extend(vouch(left, &of, &with.leaves()));
    }
    if !is_null(left) {
        known.extend(vouch(right, &with, &of.leaves()));
    }
    let (yes, no) = match op {
        BinaryOp::Equal => (known, Vec::new()),
        _ => (Vec::new(), known),
    };
    ConditionFacts { yes, no }
}

fn by_call(target: Option<&Expr>, function: &str, args: &[Expr], env: &Env) -> Vetted {
    match (function, target, args) {
        ("matches" | "startsWith", Some(of), [form, ..]) | ("matches", None, [of, form]) => {
            let known = vouch(of, &made(of, env), &leaves(form, env));
            known.into_iter().collect()
        }
        // `allowed.exists(a, a == x)`
        ("exists" | "exists_one" | "existsOne", Some(among), [name, condition]) => {
            let among = made(among, env).part(EACH, None).leaves();
            let Some(bound) = Bound::of(name, condition) else {
                return Vec::new();
            };
            let facts = bound.facts(condition, env).into_iter();
            let others = facts.filter(|vouch| bound.under(vouch).is_none());
            let others = others.filter(|vouch| !vouch.mentions(bound.name));
            others.map(|vouch| bound.known_as(vouch, &among)).collect()
        }
        // `xs.all(x, x in allowed)` vouches for the elements of `xs`.
        ("all", Some(over), [name, condition]) => {
            let of = made(over, env);
            let Some(bound) = Bound::of(name, condition) else {
                return Vec::new();
            };
            let all = of.leaves();
            let facts = bound.facts(condition, env).into_iter();
            let each = facts.filter_map(|vouch| {
                let rest = bound.under(&vouch)?.to_vec();
                let relies = bound.known_as(vouch, &all).relies;
                each_of(over, &of, rest, relies)
            });
            each.collect()
        }
        _ => Vec::new(),
    }
}

/// Vouches for what is compared by what it is compared with. Constants, members of enums among them, are made from nothing.
fn vouch(compared: &Expr, of: &Made, with: &[Leaf]) -> Option<Vouch> {
    let from = |leaf: &&Leaf| {
        let root = leaf.path.root();
        root != "params" && !root.starts_with(char::is_uppercase)
    };
    let relies: Rc<[Leaf]> = with.iter().filter(from).cloned().collect();
    match of.itself() {
        // A member of an enum names nothing in scope.
        Some(leaf) if leaf.path.root().starts_with(char::is_uppercase) => None,
        Some(leaf) => Some(Vouch {
            path: leaf.path.clone(),
            said: None,
            each: false,
            relies,
        }),
        None if of.is_nothing() => None,
        None => said(within(compared), relies),
    }
}

/// Vouches for an expression, where it stands again as it is here.
pub(super) fn said(expr: &Expr, relies: Rc<[Leaf]>) -> Option<Vouch> {
    let constant = matches!(expr.kind, ExprKind::Literal(_) | ExprKind::List(_));
    (!constant && is_small(expr)).then(|| Vouch {
        path: Path(vec![SAID.to_owned()]),
        said: Some(Rc::new(expr.clone())),
        each: false,
        relies,
    })
}

/// What a function that keeps all of a text is given.
fn within(mut expr: &Expr) -> &Expr {
    while let ExprKind::Call {
        target,
        function,
        args,
    } = &expr.kind
    {
        expr = match (function.node.as_str(), target, args.as_slice()) {
            ("url_host", None, [of]) => of,
            ("lower" | "upper" | "trim" | "url_host", Some(of), []) => of,
            _ => return expr,
        };
    }
    expr
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Literal::Null))
}

/// What all of several conditions vouch for.
fn common(parts: Vec<Vetted>) -> Vetted {
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_default();
    let alike = |a: &Vouch, b: &Vouch| {
        let said = match (&a.said, &b.said) {
            (Some(a), Some(b)) => same(a, b),
            (None, None) => true,
            _ => false,
        };
        a.path == b.path && a.each == b.each && said
    };
    parts.fold(first, |known, part| {
        let both = |vouch: Vouch| {
            let other = part.iter().find(|other| alike(other, &vouch))?;
            let relies = vouch.relies.iter().chain(&*other.relies);
            Some(Vouch {
                relies: relies.cloned().collect(),
                ..vouch
            })
        };
        known.into_iter().filter_map(both).collect()
    })
}
