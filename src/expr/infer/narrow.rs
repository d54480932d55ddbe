//! What a condition proves: places that are not null, and texts that they are not.

use std::borrow::Cow;
use std::sync::Arc;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::base::access_path::Step;
use crate::base::{AccessPath, SharedSet};

use super::super::fold::inline::Inliner;
use super::super::scope::Scope;
use super::super::ty::{Type, TypeTable};
use super::checker::Checker;
use super::path::access_path;
use super::relation::{Texts, texts};

/// What may be known of a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Known {
    /// It is not null.
    NotNull,
    /// It is none of those of several records that must have this field.
    Lacks(Arc<str>),
    /// It is not this text, one of those that its type names.
    Not(Arc<str>),
}

/// What is known of places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Narrowing {
    facts: SharedSet<(AccessPath, Known)>,
    /// What stands in the brackets of these places, each with its place: `state.k` of `state.docs[state.k]`.
    indices: SharedSet<(AccessPath, AccessPath)>,
    /// Whether it rests on a condition that is wrong, and reported: what that was to show nobody knows, so it counts as
    /// having shown all that is asked.
    pub anything: bool,
}

impl Narrowing {
    /// Knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Knows of some places that they are not null.
    pub fn not_null(places: impl IntoIterator<Item = AccessPath>) -> Self {
        let facts = places.into_iter().map(|place| (place, Known::NotNull));
        facts.collect()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Whether the place is known not to be null.
    pub fn holds(&self, place: &AccessPath) -> bool {
        self.anything || self.facts.contains(&(place.clone(), Known::NotNull))
    }

    /// The same, of a condition that may be `wrong`.
    pub fn of_wrong(mut self, wrong: bool) -> Narrowing {
        self.anything |= wrong;
        self
    }

    /// What is known of a place and of its parts, each with the steps to it.
    pub fn about<'a>(
        &'a self,
        place: &'a AccessPath,
    ) -> impl Iterator<Item = (&'a [Step], &'a Known)> + use<'a> {
        let all = self.facts.starting_at(&(place.clone(), Known::NotNull));
        all.map_while(|(known, fact)| Some((known.steps_from(place)?, fact)))
    }

    /// The places that something is known of, in order, and those in their brackets.
    pub fn places(&self) -> impl Iterator<Item = &AccessPath> {
        let indices = self.indices.iter().map(|(index, _)| index);
        self.facts.iter().map(|(place, _)| place).chain(indices)
    }

    /// Notes something of a place.
    pub fn note(&mut self, place: AccessPath, fact: Known) {
        place.each_index(&mut |index| {
            self.indices.insert((index.clone(), place.clone()));
        });
        self.facts.insert((place, fact));
    }

    /// What is known of a place and its parts, of another one in its stead.
    pub fn renamed(&self, from: &AccessPath, to: &AccessPath) -> Narrowing {
        let known = self.about(from);
        known
            .map(|(steps, fact)| (to.part(steps), fact.clone()))
            .collect()
    }

    /// What either knows: for two conditions that both hold.
    pub fn and(mut self, other: Narrowing) -> Narrowing {
        self.facts.join(&other.facts);
        self.indices.join(&other.indices);
        self.anything |= other.anything;
        self
    }

    /// What both know: for two ways of which one was taken.
    pub fn or(mut self, other: &Narrowing) -> Narrowing {
        match (self.anything, other.anything) {
            (true, true) => return self.and(other.clone()),
            (true, false) => return other.clone(),
            (false, true) => return self,
            (false, false) => {}
        }
        self.facts.keep(&other.facts);
        self.indices.keep(&other.indices);
        self
    }

    /// Forgets all that depends on a place, since it may have been written (`state.a`) or the name now
    /// means something else (`x`).
    pub fn forget(&mut self, written: &AccessPath) {
        if self.is_empty() {
            return;
        }
        let all = self.about(written);
        let mut gone: Vec<AccessPath> = all.map(|(steps, _)| written.part(steps)).collect();
        let least = (written.clone(), AccessPath::default());
        let depending = self.indices.starting_at(&least);
        let depending = depending.take_while(|(index, _)| index.steps_from(written).is_some());
        gone.extend(depending.map(|(_, place)| place.clone()));
        for place in gone {
            let all = self.about(&place).take_while(|(steps, _)| steps.is_empty());
            let facts: Vec<Known> = all.map(|(_, fact)| fact.clone()).collect();
            place.each_index(&mut |index| {
                self.indices.remove(&(index.clone(), place.clone()));
            });
            for fact in facts {
                self.facts.remove(&(place.clone(), fact));
            }
        }
    }

    /// Notes of a place whose type names its texts those that it is not, where it is one of `others` or, with `is` false, none of
    /// them.
    pub(in crate::expr) fn leave_texts(
        &mut self,
        (place, of): (&AccessPath, &Type),
        others: &[Type],
        is: bool,
        types: &TypeTable,
    ) {
        let Type::Union(of) = of.without_null() else {
            return;
        };
        let mut named: Vec<Arc<str>> = Vec::new();
        for other in others {
            match (other, texts(other, types)) {
                (Type::Literal(text), _) => named.push(text.clone()),
                (_, Some(Texts::Of(all))) if is => named.extend(all.into_iter().map(Arc::from)),
                // It may be any of several, or none of them.
                _ if is => return,
                _ => {}
            }
        }
        for member in of.iter() {
            if let Type::Literal(text) = member
                && named.contains(text) != is
            {
                self.note(place.clone(), Known::Not(text.clone()));
            }
        }
    }

    /// What holds where nothing can: of a condition that can't be so.
    fn never() -> Narrowing {
        Narrowing {
            anything: true,
            ..Narrowing::default()
        }
    }
}

impl FromIterator<(AccessPath, Known)> for Narrowing {
    fn from_iter<I: IntoIterator<Item = (AccessPath, Known)>>(facts: I) -> Self {
        let mut known = Self::new();
        for (place, fact) in facts {
            known.note(place, fact);
        }
        known
    }
}

/// Most parts of an expression, literals left out, that is typed once more for what it proves.
const SMALL: usize = 32;

/// Whether typing it once more costs little: what is nested would be typed again at each level.
fn is_small(expr: &Expr) -> bool {
    let mut open = vec![expr];
    let mut seen = 0;
    while let Some(expr) = open.pop() {
        seen += usize::from(!matches!(expr.kind, ExprKind::Literal(_)));
        if seen > SMALL {
            return false;
        }
        expr.each_part(|part| open.push(part));
    }
    true
}

/// What is known when `expr` is true (or, with `truth` false, when it is false).
pub fn facts(expr: &Expr, scope: &Scope, types: &TypeTable, truth: bool) -> Narrowing {
    let mut silent = crate::diag::Diagnostics::new();
    Checker::new(scope, types, &mut silent).facts(expr, truth)
}

impl Checker<'_> {
    /// What is known when `expr` is true (or false), with the names and narrowings of this checker: as it stands, and with what its
    /// names stand for.
    pub fn facts(&mut self, expr: &Expr, truth: bool) -> Narrowing {
        let (when, unless) = self.both(expr);
        let known = if truth { when } else { unless };
        let hidden = self.locals.iter().map(|(name, _)| name.clone());
        let read = match self.lets {
            [] => return known,
            lets => Inliner::new(lets).under(hidden).read(expr),
        };
        match read {
            Cow::Borrowed(_) => known,
            Cow::Owned(read) => {
                let (when, unless) = self.both(&read);
                known.and(if truth { when } else { unless })
            }
        }
    }

    /// What is known when `expr` is true, and when it is false. Both at once: a conditional asks its condition for both,
    /// and nested ones would ask the innermost again and again.
    fn both(&mut self, expr: &Expr) -> (Narrowing, Narrowing) {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => {
                let (when, unless) = self.both(inner);
                (unless, when)
            }
            ExprKind::Literal(Literal::Bool(true)) => (Narrowing::new(), Narrowing::never()),
            ExprKind::Literal(Literal::Bool(false)) => (Narrowing::never(), Narrowing::new()),
            ExprKind::Logical(op, operands) => self.logical_facts(*op, operands),
            ExprKind::Conditional(condition, yes, no) => {
                let (when, unless) = self.both(condition);
                let (yes, no) = (self.both(yes), self.both(no));
                let (so, not) = (when.clone().and(yes.0), when.and(yes.1));
                (so.or(&unless.clone().and(no.0)), not.or(&unless.and(no.1)))
            }
            ExprKind::Binary(op, left, right) => match compared_with_bool(op.node, left, right) {
                Some((condition, same)) if access_path(condition).is_none() => {
                    let (when, unless) = self.both(condition);
                    match same {
                        true => (when, unless),
                        false => (unless, when),
                    }
                }
                _ => (
                    self.comparison_facts(op.node, left, right, true),
                    self.comparison_facts(op.node, left, right, false),
                ),
            },
            ExprKind::Call {
                target: Some(of),
                function,
                ..
            } if self.template => self.jinja_facts(function, of),
            ExprKind::Call {
                target: None,
                function,
                args,
            } if function.node == "has" => match args.first() {
                Some(field) => (
                    Narrowing::not_null(access_path(field)),
                    self.without_field(field).into_iter().collect(),
                ),
                None => Default::default(),
            },
            _ => Default::default(),
        }
    }

    fn logical_facts(&mut self, op: LogicalOp, operands: &[Expr]) -> (Narrowing, Narrowing) {
        let facts: Vec<_> = operands.iter().map(|operand| self.both(operand)).collect();
        let known = |truth: bool| {
            let all_known = (op == LogicalOp::And) == truth;
            let possible = |operand: &Expr| all_known || !self.ruled_out(operand, truth);
            let each = operands.iter().zip(&facts);
            let each = each.filter(|(operand, _)| possible(operand));
            let mut each = each.map(|(_, (when, unless))| match truth {
                true => when.clone(),
                false => unless.clone(),
            });
            let first = each.next().unwrap_or_default();
            each.fold(first, |known, next| match all_known {
                true => known.and(next),
                false => known.or(&next),
            })
        };
        (known(true), known(false))
    }

    /// Whether what is known already says that a condition can't be so: `x == null` of what isn't null.
    fn ruled_out(&self, expr: &Expr, truth: bool) -> bool {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.ruled_out(inner, !truth),
            ExprKind::Binary(op, left, right) => {
                let null = match op.node {
                    BinaryOp::Equal => truth,
                    BinaryOp::NotEqual => !truth,
                    _ => return false,
                };
                let is_null = |of: &Expr| matches!(of.kind, ExprKind::Literal(Literal::Null));
                let place = match (is_null(left), is_null(right)) {
                    (false, true) => access_path(left),
                    (true, false) => access_path(right),
                    _ => None,
                };
                null && place.is_some_and(|place| self.known.holds(&place))
            }
            _ => false,
        }
    }

    fn comparison_facts(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        truth: bool,
    ) -> Narrowing {
        let equal = match op {
            BinaryOp::Equal => truth,
            BinaryOp::NotEqual => !truth,
            BinaryOp::In => return self.member_facts(left, right, truth),
            _ => return Narrowing::new(),
        };
        let proves = |checker: &mut Self, other: &Expr| match equal {
            true => is_small(other) && !checker.silent(other).admits_null(),
            false => matches!(other.kind, ExprKind::Literal(Literal::Null)),
        };
        let mut known = Narrowing::new();
        for (side, other) in [(left, right), (right, left)] {
            let Some(place) = self.place_of(side) else {
                continue;
            };
            if is_small(other) {
                let (of, with) = (self.silent(side), self.silent(other));
                known.leave_texts((&place, &of), &[with], equal, self.types);
            }
            if proves(self, other) {
                known.note(place, Known::NotNull);
            }
        }
        known
    }

    /// `x in xs` proves that `x` isn't null where no element of `xs` is, and which texts it is not.
    fn member_facts(&mut self, item: &Expr, list: &Expr, truth: bool) -> Narrowing {
        let mut known = Narrowing::new();
        let Some(place) = self.place_of(item).filter(|_| is_small(list)) else {
            return known;
        };
        if let ExprKind::List(elements) = &list.kind
            && !elements.iter().any(|element| element.optional)
        {
            let elements = elements.iter();
            let all: Vec<Type> = elements.map(|e| self.silent(&e.value)).collect();
            known.leave_texts((&place, &self.silent(item)), &all, truth, self.types);
        }
        if truth && has_no_null(&self.silent(list)) {
            known.note(place, Known::NotNull);
        }
        known
    }
}

/// Whether `x in xs` shows that `x` is not null, for an `xs` of that type.
pub(in crate::expr) fn has_no_null(of: &Type) -> bool {
    match of {
        Type::List(of) => !of.admits_null(),
        Type::Map(_) | Type::Record(_) => true,
        _ => false,
    }
}

/// The condition of `C == true`, `false != C` and the like, with whether it holds where the comparison does.
fn compared_with_bool<'e>(
    op: BinaryOp,
    left: &'e Expr,
    right: &'e Expr,
) -> Option<(&'e Expr, bool)> {
    let equal = match op {
        BinaryOp::Equal => true,
        BinaryOp::NotEqual => false,
        _ => return None,
    };
    match (&left.kind, &right.kind) {
        (_, ExprKind::Literal(Literal::Bool(value))) => Some((left, *value == equal)),
        (ExprKind::Literal(Literal::Bool(value)), _) => Some((right, *value == equal)),
        _ => None,
    }
}
