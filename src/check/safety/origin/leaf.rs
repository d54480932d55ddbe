//! Which names of its scope an expression's value is made from, and which of them a condition vouches for.
//!
//! What can't carry a text (truth values, numbers, sizes, times) counts as made from nothing.

use std::collections::HashMap;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, LogicalOp, UnaryOp};
use crate::ast::item::{Let, NamedArg, Require};
use crate::ast::node::TemplateText;
use crate::base::Span;
use crate::expr::template::{Printed, printed};
use crate::resolve::program::Words;

/// A name in scope and the fields selected from it: `state.plan.cmd`. An element of a list is `*`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<String>);

impl Path {
    /// The name in scope.
    pub fn root(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// Whether the other path is this one or a part of what it names.
    pub fn holds(&self, other: &Path) -> bool {
        other.0.starts_with(&self.0)
    }

    fn then(&self, field: &str) -> Path {
        let mut path = self.0.clone();
        path.push(field.to_owned());
        Path(path)
    }
}

/// A path and the place where it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// What is read.
    pub path: Path,
    /// Where.
    pub span: Span,
}

/// Names of `let`, of loops and of macros, with what they are made from.
pub type Env = HashMap<String, Vec<Leaf>>;

/// Paths that a condition vouches for.
pub type Vetted = Vec<Path>;

/// What the `let` names of a node are made from.
pub fn env(lets: &[Let]) -> Env {
    let mut env = Env::new();
    for bound in lets {
        let made_from = leaves(&bound.value, &env);
        env.insert(bound.name.node.clone(), made_from);
    }
    env
}

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

/// What a text is made from. In that of a named prompt only its parameters are in scope; what they are given stands
/// where the prompt is used, and so do the leaves.
pub fn text_leaves(words: &Words, env: &Env) -> Vec<Leaf> {
    let Some(used) = &words.from else {
        return template_leaves(&words.text, env.clone());
    };
    let given = |arg: &NamedArg| {
        let mut made_from = leaves(&arg.value, env);
        made_from
            .iter_mut()
            .for_each(|leaf| leaf.span = arg.value.span);
        (arg.name.node.clone(), made_from)
    };
    let params: Env = used.args.iter().map(given).collect();
    let shown = template_leaves(&words.text, params.clone());
    let place = |leaf: Leaf| {
        let mut all = params.values().flatten();
        let arg = all.find(|given| given.path.holds(&leaf.path))?;
        Some(Leaf {
            path: leaf.path,
            span: arg.span,
        })
    };
    shown.into_iter().filter_map(place).collect()
}

fn template_leaves(template: &TemplateText, mut env: Env) -> Vec<Leaf> {
    let mut all = Vec::new();
    for step in printed(template) {
        match step {
            Printed::Bind(name, value) => {
                let made_from = leaves(&value, &env);
                env.insert(name, made_from);
            }
            Printed::Shows(value) => all.extend(leaves(&value, &env)),
        }
    }
    unique(all)
}

/// What a value is made from, each path once.
pub fn leaves(expr: &Expr, env: &Env) -> Vec<Leaf> {
    unique(gather(expr, env))
}

fn unique(mut leaves: Vec<Leaf>) -> Vec<Leaf> {
    let mut seen = std::collections::HashSet::new();
    leaves.retain(|leaf| seen.insert(leaf.path.clone()));
    leaves
}

fn gather(expr: &Expr, env: &Env) -> Vec<Leaf> {
    match &expr.kind {
        ExprKind::Ident(name) => named(name, expr.span, env),
        ExprKind::Select { operand, field, .. } => {
            selected(gather(operand, env), &field.node, expr.span)
        }
        ExprKind::Index { operand, .. } => selected(gather(operand, env), "*", expr.span),
        ExprKind::Call {
            target,
            function,
            args,
        } => call(target.as_deref(), &function.node, args, env),
        ExprKind::Binary(op, left, right) if op.node == BinaryOp::Add => {
            let mut all = gather(left, env);
            all.extend(gather(right, env));
            all
        }
        ExprKind::Conditional(condition, yes, no) => {
            let mut all = without(gather(yes, env), &vetted(condition, true, env));
            all.extend(without(gather(no, env), &vetted(condition, false, env)));
            all
        }
        ExprKind::List(elements) => elements
            .iter()
            .flat_map(|e| gather(&e.value, env))
            .collect(),
        ExprKind::Map(entries) => {
            let parts = entries.iter().flat_map(|entry| [&entry.key, &entry.value]);
            parts.flat_map(|part| gather(part, env)).collect()
        }
        ExprKind::Record { fields, .. } => {
            fields.iter().flat_map(|f| gather(&f.value, env)).collect()
        }
        // Numbers and truth values.
        ExprKind::Binary(..)
        | ExprKind::Unary(..)
        | ExprKind::Logical(..)
        | ExprKind::Literal(_)
        | ExprKind::Error => Vec::new(),
    }
}

fn named(name: &str, span: Span, env: &Env) -> Vec<Leaf> {
    match env.get(name) {
        Some(known) => known
            .iter()
            .map(|leaf| Leaf {
                path: leaf.path.clone(),
                span,
            })
            .collect(),
        None => vec![Leaf {
            path: Path(vec![name.to_owned()]),
            span,
        }],
    }
}

fn selected(of: Vec<Leaf>, field: &str, span: Span) -> Vec<Leaf> {
    of.into_iter()
        .map(|leaf| Leaf {
            path: leaf.path.then(field),
            span,
        })
        .collect()
}

/// Leaves that nothing vouches for.
pub fn without(leaves: Vec<Leaf>, vetted: &Vetted) -> Vec<Leaf> {
    leaves
        .into_iter()
        .filter(|leaf| !vetted.iter().any(|path| path.holds(&leaf.path)))
        .collect()
}

/// Functions whose result is a truth value, a number or a time.
const PLAIN: [&str; 24] = [
    "size",
    "has",
    "all",
    "exists",
    "exists_one",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "int",
    "uint",
    "float",
    "double",
    "bool",
    "timestamp",
    "duration",
    "sum",
    "hasValue",
    "indexOf",
    "lastIndexOf",
    "now",
    "uuid",
    "random",
    "stale",
];

fn call(target: Option<&Expr>, function: &str, args: &[Expr], env: &Env) -> Vec<Leaf> {
    if PLAIN.contains(&function) {
        return Vec::new();
    }
    let of = target.map_or_else(Vec::new, |target| gather(target, env));
    if target.is_some()
        && let Some(made) = over_elements(&of, function, args, env)
    {
        return made;
    }
    let mut all = of;
    all.extend(args.iter().flat_map(|arg| gather(arg, env)));
    all
}

/// What a macro gives that binds a name to the elements of `of`.
fn over_elements(of: &[Leaf], function: &str, args: &[Expr], env: &Env) -> Option<Vec<Leaf>> {
    let names = |count: usize| -> Option<Vec<&str>> {
        let names = args.get(..count)?.iter().map(|arg| match &arg.kind {
            ExprKind::Ident(name) => Some(name.as_str()),
            _ => None,
        });
        names.collect()
    };
    let element = || -> Vec<Leaf> {
        let path = |leaf: &Leaf| Leaf {
            path: leaf.path.then("*"),
            span: leaf.span,
        };
        of.iter().map(path).collect()
    };
    let bound = |names: &[&str], values: Vec<Leaf>| -> Env {
        let mut env = env.clone();
        for name in names {
            env.insert((*name).to_owned(), values.clone());
        }
        env
    };
    match function {
        "filter" | "find" | "sort_by" => {
            let name = names(1)?;
            let inner = bound(&name, element());
            let kept = match (function, args.get(1)) {
                ("filter" | "find", Some(condition)) => {
                    let vetted = vetted(condition, true, &inner);
                    let holds = |leaf: &Leaf| {
                        let one = leaf.path.then("*");
                        vetted.iter().any(|path| path.holds(&one))
                    };
                    of.iter().filter(|leaf| !holds(leaf)).cloned().collect()
                }
                _ => of.to_vec(),
            };
            Some(match function {
                "find" => selected_all(kept),
                _ => kept,
            })
        }
        "map" | "optMap" | "flatMap" => {
            let name = names(1)?;
            let inner = bound(&name, element());
            Some(gather(args.last()?, &inner))
        }
        "transformList" | "transformMap" => {
            let name = names(2)?;
            let inner = bound(&name, element());
            Some(gather(args.last()?, &inner))
        }
        "to_map" | "group_by" => {
            let name = names(1)?;
            let inner = bound(&name, element());
            let mut all: Vec<Leaf> = match function {
                "group_by" => of.to_vec(),
                _ => Vec::new(),
            };
            let rest = args.get(1..).unwrap_or_default();
            all.extend(rest.iter().flat_map(|arg| gather(arg, &inner)));
            Some(all)
        }
        "bind" => {
            let name = names(1)?;
            let inner = bound(&name, gather(args.get(1)?, env));
            Some(gather(args.get(2)?, &inner))
        }
        "fold" => {
            let both = names(2)?;
            let first = gather(args.get(2)?, env);
            let mut inner = bound(both.get(1..).unwrap_or_default(), element());
            inner.insert((*both.first()?).to_owned(), first.clone());
            let mut all = gather(args.get(3)?, &inner);
            all.extend(first);
            Some(all)
        }
        _ => None,
    }
}

fn selected_all(of: Vec<Leaf>) -> Vec<Leaf> {
    of.into_iter()
        .map(|leaf| Leaf {
            path: leaf.path.then("*"),
            ..leaf
        })
        .collect()
}

/// Paths that are one of few values, or of a known form, where the condition has that truth.
pub fn vetted(condition: &Expr, truth: bool, env: &Env) -> Vetted {
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, of) => vetted(of, !truth, env),
        ExprKind::Logical(op, operands) => {
            let parts = operands.iter().map(|operand| vetted(operand, truth, env));
            match (*op == LogicalOp::And) == truth {
                true => parts.flatten().collect(),
                false => common(parts.collect()),
            }
        }
        ExprKind::Binary(op, left, right) => {
            let tells = match op.node {
                BinaryOp::Equal | BinaryOp::In => truth,
                BinaryOp::NotEqual => !truth,
                _ => false,
            };
            match (tells, op.node) {
                (false, _) => Vec::new(),
                (true, BinaryOp::In) => place(left, env),
                (true, _) => match (place(left, env), place(right, env)) {
                    (known, other) if other.is_empty() && !is_null(right) => known,
                    (known, other) if known.is_empty() && !is_null(left) => other,
                    _ => Vec::new(),
                },
            }
        }
        ExprKind::Call {
            target: Some(target),
            function,
            args,
        } if truth => match function.node.as_str() {
            "matches" | "startsWith" => place(target, env),
            // `allowed.exists(a, a == x)`
            "exists" | "exists_one" => args
                .get(1)
                .map_or_else(Vec::new, |body| vetted(body, true, &shadowed(args, env))),
            "all" => each(target, args, env),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Literal(crate::ast::expr::Literal::Null)
    )
}

/// The macro's name stands for nothing that is known outside.
fn shadowed(args: &[Expr], env: &Env) -> Env {
    let mut env = env.clone();
    if let Some(ExprKind::Ident(name)) = args.first().map(|arg| &arg.kind) {
        env.insert(name.clone(), Vec::new());
    }
    env
}

/// `xs.all(x, x in allowed)` vouches for `xs`.
fn each(target: &Expr, args: &[Expr], env: &Env) -> Vetted {
    let of = gather(target, env);
    let [name, condition] = args else {
        return Vec::new();
    };
    let ExprKind::Ident(name) = &name.kind else {
        return Vec::new();
    };
    let mut inner = env.clone();
    inner.insert(name.clone(), selected_all(of.clone()));
    let told = vetted(condition, true, &inner);
    let whole = of.into_iter().map(|leaf| leaf.path);
    let whole = whole.filter(|path| told.contains(&path.then("*")));
    whole.collect()
}

/// The path of an operand, also within a function that keeps what it is told about (`url_host(x)`, `x.lower()`).
fn place(expr: &Expr, env: &Env) -> Vetted {
    let paths = |leaves: Vec<Leaf>| leaves.into_iter().map(|leaf| leaf.path).collect();
    match &expr.kind {
        ExprKind::Ident(_) | ExprKind::Select { .. } | ExprKind::Index { .. } => {
            // A member of an enum names nothing in scope.
            let upper = |leaf: &Leaf| leaf.path.root().starts_with(char::is_uppercase);
            let found = gather(expr, env);
            match found.iter().any(upper) {
                true => Vec::new(),
                false => paths(found),
            }
        }
        ExprKind::Call {
            target,
            function,
            args,
        } => match (function.node.as_str(), target, args.as_slice()) {
            ("url_host", None, [of]) => place(of, env),
            ("lower" | "upper" | "trim" | "url_host", Some(of), []) => place(of, env),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn common(parts: Vec<Vetted>) -> Vetted {
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_default();
    let rest: Vec<Vetted> = parts.collect();
    first
        .into_iter()
        .filter(|path| rest.iter().all(|other| other.contains(path)))
        .collect()
}
