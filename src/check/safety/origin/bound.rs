//! Names that macros give to what they go over, and what a condition on such a name says of that.

use std::rc::Rc;

use crate::ast::expr::{Expr, ExprKind};

use super::env::Env;
use super::leaf::{Leaf, Path};
use super::made::{EACH, Made};
use super::vouch::{Vetted, Vouch, said, vetted};

/// An element that a condition holds for, `name` being what it is called there, and what else is vouched for by that.
pub fn kept(
    element: &Made,
    (name, condition): (&Expr, &Expr),
    env: &Env,
) -> Option<(Made, Vetted)> {
    let bound = Bound::of(name, condition)?;
    if element.itself().is_some() {
        let mut inner = env.clone();
        inner.insert(bound.name.to_owned(), element.clone());
        let facts = vetted(condition, true, &inner);
        return Some((element.clone().vouched(facts.clone()), facts));
    }
    let all = element.leaves();
    let (mut kept, mut parts, mut others) = (element.clone(), Vec::new(), Vetted::new());
    for vouch in bound.facts(condition, env) {
        let under = bound.under(&vouch).map(<[String]>::to_vec);
        let vouch = bound.known_as(vouch, &all);
        let whole = || vec![Vouch::whole(vouch.relies.clone())];
        match under.as_deref() {
            Some([]) => kept = kept.vouched(whole()),
            Some([step]) => parts.push((step.clone(), element.part(step, None).vouched(whole()))),
            Some(_) => {}
            None => others.push(vouch),
        }
    }
    if !parts.is_empty() {
        kept = Made::parts(parts, kept);
    }
    Some((kept.vouched(others.clone()), others))
}

/// What is known of all that a macro goes over, by what it tells of each.
pub fn each_of(over: &Expr, of: &Made, rest: Vec<String>, relies: Rc<[Leaf]>) -> Option<Vouch> {
    match of.itself() {
        Some(leaf) if rest.is_empty() => Some(Vouch {
            path: leaf.path.clone(),
            said: None,
            each: true,
            relies,
        }),
        Some(leaf) => {
            let mut path = leaf.path.then(EACH);
            path.0.extend(rest);
            Some(Vouch {
                path,
                said: None,
                each: false,
                relies,
            })
        }
        None => said(over, relies).filter(|_| rest.is_empty()),
    }
}

/// The name that a macro gives to each element.
pub struct Bound<'a> {
    /// As it is written.
    pub name: &'a str,
    /// What it is called while the condition is read: no path in scope begins so, nor does that of another macro.
    root: String,
}

impl<'a> Bound<'a> {
    /// The name, where the macro has one.
    pub fn of(name: &'a Expr, condition: &Expr) -> Option<Self> {
        let ExprKind::Ident(name) = &name.kind else {
            return None;
        };
        let root = format!("\u{0}{}", condition.span.start);
        Some(Self { name, root })
    }

    /// What a condition on it vouches for.
    pub fn facts(&self, condition: &Expr, env: &Env) -> Vetted {
        let mut inner = env.clone();
        let bound = Leaf::new(Path(vec![self.root.clone()]), condition.span);
        inner.insert(self.name.to_owned(), Made::leaf(bound));
        vetted(condition, true, &inner)
    }

    /// The steps below the name of what is vouched for.
    pub fn under<'v>(&self, vouch: &'v Vouch) -> Option<&'v [String]> {
        let (first, rest) = vouch.path.0.split_first()?;
        (*first == self.root).then_some(rest)
    }

    /// The same, where the name stands for one of `among`.
    pub fn known_as(&self, vouch: Vouch, among: &[Leaf]) -> Vouch {
        let (named, mut relies): (Vec<Leaf>, Vec<Leaf>) =
            (vouch.relies.iter().cloned()).partition(|leaf| leaf.path.root() == self.root);
        if !named.is_empty() {
            relies.extend(among.iter().cloned());
        }
        Vouch {
            relies: relies.into(),
            ..vouch
        }
    }
}
