//! When `let`s are computed and `require`s asked: by what uses them, not by where they are written.
//!
//! A `let` that something ahead of the work uses, itself or by another `let`, is computed ahead of it, any other behind it. One
//! that an `ensure` or `permit` uses and that reads what the work gives is computed with each reply or answer, ahead of these; where
//! something behind the work uses it too, it is computed there again. A `require` is asked as soon as the `let`s that it uses are
//! there, so that it guards those behind it.

use std::collections::BTreeSet;

use crate::ast::expr::Expr;
use crate::ast::item::Let;
use crate::ast::node::TemplateText;
use crate::expr::infer::reads;
use crate::expr::{Scope, template};

use super::exprs;
use super::node::{Node, Require};
use super::program::ToolBody;

/// The names of `let`s, by position.
pub struct Lets(Scope);

impl Lets {
    /// Of `let`s in order.
    pub fn new(lets: &[Let]) -> Self {
        Self(Scope::of_names(lets.iter().map(|bound| &bound.name.node)))
    }

    /// Adds those that these name, directly or not.
    fn close(&self, lets: &[Let], all: &mut BTreeSet<usize>) {
        for (at, bound) in lets.iter().enumerate().rev() {
            if all.contains(&at) {
                let before = self.named_in(&bound.value).into_iter();
                all.extend(before.filter(|before| *before < at));
            }
        }
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

/// Puts the `let`s of a node in the order in which they are computed, and its `require`s in that in which they are asked.
pub fn of_node(node: &mut Node) {
    if node.lets.is_empty() {
        return;
    }
    let names = Lets::new(&node.lets);
    let mut ahead = used_ahead(node, &names);
    let (late, behind) = (late(node, &names), used_behind(node, &names));
    let mut asked: BTreeSet<usize> = exprs::of_result(&node.work)
        .iter()
        .flat_map(|expr| names.named_in(expr))
        .collect();
    names.close(&node.lets, &mut asked);
    ahead.extend(asked.difference(&late));
    names.close(&node.lets, &mut ahead);
    let mut again = BTreeSet::new();
    for at in asked.difference(&ahead) {
        let value = node.lets.get(*at).map(|bound| names.named_in(&bound.value));
        if behind.contains(at) || value.is_some_and(|named| !named.is_disjoint(&again)) {
            again.insert(*at);
        }
    }
    let group = |at: &usize| match () {
        () if ahead.contains(at) => 0,
        () if again.contains(at) => 2,
        () if asked.contains(at) => 1,
        () => 3,
    };
    let mut order: Vec<usize> = (0..node.lets.len()).collect();
    order.sort_by_key(group);
    let first = |least| order.iter().filter(|at| group(at) < least).count();
    node.lets_ahead = first(1);
    node.lets_within = first(1)..first(3);
    node.lets_behind = first(2);
    let lets = order.iter().filter_map(|at| node.lets.get(*at).cloned());
    node.lets = lets.collect();
    let requires = std::mem::take(&mut node.requires);
    node.requires = in_order(requires.into_iter().collect(), &node.lets).into();
}

/// The `let`s that something ahead of the work uses.
fn used_ahead(node: &Node, names: &Lets) -> BTreeSet<usize> {
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
    ahead
}

/// The `let`s that something behind the work uses, itself or by another.
fn used_behind(node: &Node, names: &Lets) -> BTreeSet<usize> {
    let (used, texts) = exprs::behind_work(node);
    let mut behind: BTreeSet<usize> = used.iter().flat_map(|e| names.named_in(e)).collect();
    behind.extend(texts.iter().flat_map(|t| names.named_in_text(t)));
    names.close(&node.lets, &mut behind);
    behind
}

/// The `let`s that read what the work gives and an `ensure` or `permit` may read, themselves or by another.
fn late(node: &Node, names: &Lets) -> BTreeSet<usize> {
    let given = Scope::of_names(
        node.work
            .gives()
            .iter()
            .filter(|name| **name != "transcript"),
    );
    let mut late = BTreeSet::new();
    for (at, bound) in node.lets.iter().enumerate() {
        let own = !reads(&bound.value, &given).slots.is_empty();
        if own || !names.named_in(&bound.value).is_disjoint(&late) {
            late.insert(at);
        }
    }
    late
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
