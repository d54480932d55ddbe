//! What is in scope of an expression besides the state: names with what they are made from, and what is vouched for.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::expr::{Expr, ExprKind};
use crate::ast::item::Let;
use crate::expr::fold::same::same;

use super::leaf::Leaf;
use super::made::Made;
use super::value::made;
use super::vouch::{Vetted, Vouch};

/// Most expressions that are known to be vouched for; of more the oldest are forgotten.
const MOST: usize = 256;

/// Names of `let`, of loops and of macros, with what they are made from.
#[derive(Debug, Clone, Default)]
pub struct Env {
    names: Rc<HashMap<String, Made>>,
    /// Expressions that are no path of their own, and that a condition vouches for here.
    vouched: Vec<Vouch>,
}

impl Env {
    /// No names.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a name is made from.
    pub fn get(&self, name: &str) -> Option<&Made> {
        self.names.get(name)
    }

    /// Gives a name of a loop or a macro. What is vouched for by that name was another.
    pub fn insert(&mut self, name: String, value: Made) {
        self.put(name, Some(value));
    }

    /// Gives a name, or takes it away, as [`Env::insert`]; what it was made from before.
    pub fn put(&mut self, name: String, value: Option<Made>) -> Option<Made> {
        self.vouched.retain(|vouch| !vouch.mentions(&name));
        let names = Rc::make_mut(&mut self.names);
        match value {
            Some(value) => names.insert(name, value),
            None => names.remove(&name),
        }
    }

    /// The same scope where that is vouched for too.
    pub fn knowing(&self, vetted: &Vetted) -> Self {
        let mut env = self.clone();
        let said = vetted.iter().filter(|vouch| vouch.said.is_some());
        env.vouched.extend(said.cloned());
        let more = env.vouched.len().saturating_sub(MOST);
        env.vouched.drain(..more);
        env
    }

    /// What vouches for an expression, word by word the same.
    pub fn vouches(&self, expr: &Expr) -> Option<Rc<[Leaf]>> {
        let said = |vouch: &&Vouch| vouch.said.as_ref().is_some_and(|said| same(said, expr));
        let found = self.vouched.iter().rev().find(said)?;
        Some(found.relies.clone())
    }
}

impl<const N: usize> From<[(String, Made); N]> for Env {
    fn from(names: [(String, Made); N]) -> Self {
        names.into_iter().collect()
    }
}

impl FromIterator<(String, Made)> for Env {
    fn from_iter<I: IntoIterator<Item = (String, Made)>>(names: I) -> Self {
        Self {
            names: Rc::new(names.into_iter().collect()),
            vouched: Vec::new(),
        }
    }
}

/// What the `let` names of a node are made from.
pub fn env(lets: &[Let]) -> Env {
    env_knowing(lets, &Vetted::new())
}

/// The same, where that is vouched for.
pub fn env_knowing(lets: &[Let], vetted: &Vetted) -> Env {
    let mut env = Env::new().knowing(vetted);
    for bound in lets {
        let made_from = made(&bound.value, &env);
        Rc::make_mut(&mut env.names).insert(bound.name.node.clone(), made_from);
    }
    env
}

/// Most parts of an expression that is held against others.
const LARGEST: usize = 32;

/// Whether an expression is small enough to be held against others.
pub fn is_small(expr: &Expr) -> bool {
    let mut open = vec![expr];
    let mut count = 0;
    while let Some(expr) = open.pop() {
        count += 1;
        if count > LARGEST || matches!(expr.kind, ExprKind::Error) {
            return false;
        }
        expr.each_part(|part| open.push(part));
    }
    true
}
