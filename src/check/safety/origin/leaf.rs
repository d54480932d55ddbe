//! Which names of its scope an expression's value, or a text, is made from.
//!
//! What says little of what it is made from (truth values, sizes, positions) counts as made from nothing; numbers and times say
//! that they are ([`Leaf::plain`]).

use std::rc::Rc;

use crate::ast::expr::Expr;
use crate::ast::item::NamedArg;
use crate::base::Span;
use crate::resolve::program::Words;

use super::env::Env;
use super::made::{EACH, ELEMENT, KEY, Made, is_index};
use super::text::template_leaves;
use super::value::made;
use super::vouch::Vetted;

/// A name in scope and the steps from it: `state.plan.cmd`. Elements, values and keys have steps of their own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<String>);

impl Path {
    /// The name in scope.
    pub fn root(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// Whether the other path is this one or a part of what it names. What holds for each element does for one by its number.
    pub fn holds(&self, other: &Path) -> bool {
        let same = |(a, b): (&String, &String)| {
            let element = |step: &str| step == ELEMENT || step == EACH;
            a == b || element(a) && (element(b) || is_index(b))
        };
        self.0.len() <= other.0.len() && self.0.iter().zip(&other.0).all(same)
    }

    /// A part of what it names.
    pub fn then(&self, step: &str) -> Path {
        let mut path = self.0.clone();
        path.push(step.to_owned());
        Path(path)
    }

    /// As it is written in a message: `state.plans[..].cmd`.
    pub fn shown(&self) -> String {
        let mut text = String::new();
        for step in &self.0 {
            match step.as_str() {
                ELEMENT | EACH => text.push_str("[..]"),
                KEY => text.push_str(".keys()"),
                step if is_index(step) => text.push_str(step),
                name => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(name);
                }
            }
        }
        text
    }
}

/// A path and the place where it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// What is read.
    pub path: Path,
    /// Where.
    pub span: Span,
    /// Conditions that vouch for it, each by what it compares with: one that comes from no source is enough.
    pub relies: Vec<Rc<[Leaf]>>,
    /// It is only a number or a time that is made of it, which carries no free text.
    pub plain: bool,
}

impl Leaf {
    /// A path that nothing vouches for.
    pub fn new(path: Path, span: Span) -> Self {
        Self {
            path,
            span,
            relies: Vec::new(),
            plain: false,
        }
    }

    /// The same where it is of no use to say where.
    pub fn unplaced(path: Path) -> Self {
        Self::new(path, Span::default())
    }

    /// Adds what vouches for it.
    pub fn vouch(&mut self, vetted: &Vetted) {
        let own = vetted.iter().filter(|vouch| vouch.holds(&self.path));
        self.relies.extend(own.map(|vouch| vouch.relies.clone()));
    }
}

/// What a text is made from. In that of a named prompt only its parameters are in scope; what they are given stands
/// where the prompt is used, and so do the leaves.
pub fn text_leaves(words: &Words, env: &Env) -> Vec<Leaf> {
    let Some(used) = &words.from else {
        return template_leaves(&words.text, env.clone());
    };
    let given = |arg: &NamedArg| (arg.name.node.clone(), made(&arg.value, env));
    let params: Env = used.args.iter().map(given).collect();
    let shown = template_leaves(&words.text, params.clone());
    let all: Vec<Leaf> = (used.args.iter())
        .filter_map(|arg| Some((arg, params.get(&arg.name.node)?)))
        .flat_map(|(arg, made)| made.clone().at(arg.value.span).leaves())
        .collect();
    let place = |leaf: Leaf| {
        let arg = all.iter().find(|given| given.path.holds(&leaf.path))?;
        Some(Leaf {
            span: arg.span,
            ..leaf
        })
    };
    shown.into_iter().filter_map(place).collect()
}

/// What a value is made from, each path once.
pub fn leaves(expr: &Expr, env: &Env) -> Vec<Leaf> {
    made(expr, env).leaves()
}

/// What the elements of a list are made from.
pub fn elements(list: &Expr, env: &Env) -> Made {
    made(list, env).part(ELEMENT, None)
}

/// The leaves, with what vouches for them.
pub fn vouched(mut leaves: Vec<Leaf>, vetted: &Vetted) -> Vec<Leaf> {
    leaves.iter_mut().for_each(|leaf| leaf.vouch(vetted));
    leaves
}
