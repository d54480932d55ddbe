//! When `let`s are computed and `require`s asked: by what uses them, not by where they are written.
//!
//! A `let` that something ahead of the work uses, itself or by another `let`, is computed ahead of it, any other behind it. A
//! `require` is asked as soon as the `let`s that it uses are there, so that it guards those behind it.

use std::collections::BTreeSet;

use crate::ast::expr::Expr;
use crate::ast::item::Let;
use crate::ast::node::TemplateText;
use crate::expr::infer::reads;
use crate::expr::{Scope, Type, template};

use super::exprs;
use super::node::{Node, Require};
use super::program::ToolBody;

/// The names of `let`s, by position.
pub struct Lets(Scope);

impl Lets {
    /// Of `let`s in order.
    pub fn new(lets: &[Let]) -> Self {
        let mut scope = Scope::default();
        for bound in lets {
            scope.declare(bound.name.node.as_str(), Type::Json);
        }
        Self(scope)
    }

    /// The `let`s that an expression names.
    pub fn named_in(&self, expr: &Expr) -> BTreeSet<usize> {
        let slots = reads(expr, &self.0).slots;
        slots.into_iter().map(|slot| slot.0 as usize).collect()
    }

    /// The `let`s that a text names.
    pub fn named_in_text(&self, text: &TemplateText) -> BTreeSet<usize> {
        let slots = template::reads(text, &self.0).slots;
        slots.into_iter().map(|slot| slot.0 as usize).collect()
    }
}

/// Puts the `let`s of a node that are computed ahead of its work first, and its `require`s in the order in which they are asked.
pub fn of_node(node: &mut Node) {
    if node.lets.is_empty() {
        return;
    }
    let names = Lets::new(&node.lets);
    let mut ahead = BTreeSet::new();
    let (mut used, texts) = exprs::of_work(&node.work);
    used.extend(node.cache.iter().filter_map(|cache| cache.key.as_ref()));
    for emit in node.emits.iter().filter(|emit| emit.on_start) {
        used.extend(exprs::of_emit(emit));
    }
    for require in &node.requires {
        used.push(&require.condition);
        used.extend(&require.message);
    }
    used.iter().for_each(|e| ahead.extend(names.named_in(e)));
    texts
        .iter()
        .for_each(|t| ahead.extend(names.named_in_text(t)));
    for (at, bound) in node.lets.iter().enumerate().rev() {
        if ahead.contains(&at) {
            let before = names.named_in(&bound.value).into_iter();
            ahead.extend(before.filter(|before| *before < at));
        }
    }
    node.lets_ahead = ahead.len();
    let lets = std::mem::take(&mut node.lets).into_iter().enumerate();
    let (first, last): (Vec<_>, Vec<_>) = lets.partition(|(at, _)| ahead.contains(at));
    node.lets = first
        .into_iter()
        .chain(last)
        .map(|(_, bound)| bound)
        .collect();
    let requires = std::mem::take(&mut node.requires);
    node.requires = in_order(requires.into_iter().collect(), &node.lets).into();
}

/// Puts the `require`s of a tool's body in the order in which they are asked.
pub fn of_body(body: &mut ToolBody) {
    body.requires = in_order(std::mem::take(&mut body.requires), &body.lets);
}

fn in_order(mut requires: Vec<Require>, lets: &[Let]) -> Vec<Require> {
    let names = Lets::new(lets);
    for require in &mut requires {
        let used = [&require.condition].into_iter().chain(&require.message);
        let last = used.flat_map(|expr| names.named_in(expr)).max();
        require.after_lets = last.map_or(0, |last| last + 1);
    }
    requires.sort_by_key(|require| require.after_lets);
    requires
}

/// What is computed or asked ahead of a node's work, or before a tool's body has an effect.
pub enum Preparation<'a> {
    /// A `let`.
    Let(&'a Let),
    /// A `require`.
    Require(&'a Require),
}

/// `let`s, and each `require` as soon as those are there that it needs.
pub fn preparations<'a>(lets: &'a [Let], requires: &'a [Require]) -> Vec<Preparation<'a>> {
    let mut all = Vec::with_capacity(lets.len() + requires.len());
    let mut requires = requires.iter().peekable();
    for (computed, bound) in lets.iter().enumerate() {
        while let Some(next) = requires.next_if(|next| next.after_lets <= computed) {
            all.push(Preparation::Require(next));
        }
        all.push(Preparation::Let(bound));
    }
    all.extend(requires.map(Preparation::Require));
    all
}
