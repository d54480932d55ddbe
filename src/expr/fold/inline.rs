//! `let`s read in their place: an expression with what they stand for instead of their names.
//!
//! What a condition says doesn't change where it, or a part of it, gets a name: whoever reads conditions reads them so.

use std::borrow::Cow;

use crate::ast::expr::{Expr, ExprKind};
use crate::ast::item::Let;

use super::super::infer::{macros, reads};
use super::super::scope::Scope;
use super::any;

/// Most parts that names add to the expressions of one place: names of names may double with each.
const MOST: usize = 4096;

/// What a `let` stands for, with the `let`s that it names itself read in their place.
#[derive(Debug, Clone)]
pub struct LetValue {
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub value: Expr,
    /// Whether something that it reads has been written since it was computed: it stands for the value of before.
    pub stale: bool,
}

/// What these `let`s stand for, in the order in which they are computed.
pub fn let_values<'l>(lets: impl IntoIterator<Item = &'l Let>) -> Vec<LetValue> {
    let mut known = Vec::new();
    for bound in lets {
        bind(&mut known, bound);
    }
    known
}

/// Adds what a `let` stands for.
pub fn bind(known: &mut Vec<LetValue>, bound: &Let) {
    let value = Inliner::new(known).read(&bound.value).into_owned();
    known.push(LetValue {
        name: bound.name.node.clone(),
        value,
        stale: false,
    });
}

/// An expression where these `let`s are there.
pub fn inlined<'e>(expr: &'e Expr, lets: &[LetValue]) -> Cow<'e, Expr> {
    Inliner::new(lets).read(expr)
}

/// Reads the expressions of one place.
pub struct Inliner<'l> {
    lets: &'l [LetValue],
    /// Names that macros bind around this part.
    bound: Vec<String>,
    /// So many parts may come in yet.
    left: usize,
}

impl<'l> Inliner<'l> {
    /// Where these `let`s are there.
    pub fn new(lets: &'l [LetValue]) -> Self {
        Self {
            lets,
            bound: Vec::new(),
            left: MOST,
        }
    }

    /// Where these names mean something else than the `let`s.
    pub fn under(mut self, bound: impl IntoIterator<Item = String>) -> Self {
        self.bound.extend(bound);
        self
    }

    /// An expression without the names of `let`s; one that would be too large keeps them.
    pub fn read<'e>(&mut self, expr: &'e Expr) -> Cow<'e, Expr> {
        let known = |name: &str| self.lets.iter().any(|known| known.name == name);
        let named = |part: &Expr| matches!(&part.kind, ExprKind::Ident(name) if known(name));
        if self.lets.is_empty() || !any(expr, named) {
            return Cow::Borrowed(expr);
        }
        let mut copy = expr.clone();
        self.part(&mut copy);
        Cow::Owned(copy)
    }

    fn part(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Ident(name) => {
                if let Some(value) = self.value_of(name) {
                    *expr = value.clone();
                }
            }
            ExprKind::Call {
                target,
                function,
                args,
            } => {
                let bound = target.as_ref().and_then(|_| macros::bound(function, args));
                let (vars, outside) = bound.unwrap_or_default();
                target.iter_mut().for_each(|target| self.part(target));
                let depth = self.bound.len();
                for (at, arg) in args.iter_mut().skip(vars.len()).enumerate() {
                    if at == outside {
                        self.bound.extend(vars.iter().cloned());
                    }
                    self.part(arg);
                }
                self.bound.truncate(depth);
            }
            _ => expr.each_part_mut(|part| self.part(part)),
        }
    }

    /// What a name stands for here. What gives another value each time, or speaks of a name that a macro binds here, keeps its name.
    fn value_of(&mut self, name: &str) -> Option<&'l Expr> {
        let is_bound = |name: &str| self.bound.iter().any(|bound| bound == name);
        let found = self.lets.iter().rfind(|known| known.name == name)?;
        let hides = |part: &Expr| matches!(&part.kind, ExprKind::Ident(name) if is_bound(name));
        if is_bound(name)
            || found.stale
            || reads(&found.value, &Scope::default()).effects
            || any(&found.value, hides)
        {
            return None;
        }
        self.left = self.left.checked_sub(size(&found.value))?;
        Some(&found.value)
    }
}

fn size(expr: &Expr) -> usize {
    let (mut open, mut parts) = (vec![expr], 0);
    while let Some(expr) = open.pop() {
        parts += 1;
        expr.each_part(|part| open.push(part));
    }
    parts
}
