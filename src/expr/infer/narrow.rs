//! What a condition proves: places that are not null, and texts that they are not.

use std::borrow::Cow;
use std::sync::Arc;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::base::SharedSet;

use super::super::fold::inline::Inliner;
use super::super::scope::Scope;
use super::super::ty::{Type, TypeTable};
use super::checker::Checker;
use super::path::path;
use super::relation::{Texts, texts};

/// Places known not to be null: paths such as `state.a.b` or `answer.note`; see [`path`]. `state.a.!b` says that `state.a`, one of
/// several records, is none that must have a `b`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Narrowing {
    paths: SharedSet<Arc<str>>,
    /// What stands in the indices of the paths, each with its path: `state.k` of `state.docs[state.k]`.
    inside: SharedSet<(Arc<str>, Arc<str>)>,
    /// Texts that places are not, of those that their types name: each place with one.
    texts: SharedSet<(Arc<str>, Arc<str>)>,
    /// Whether it rests on a condition that is wrong, and reported: what that was to show nobody knows, so it counts as
    /// having shown all that is asked.
    pub anything: bool,
}

impl Narrowing {
    /// Knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.texts.is_empty()
    }

    /// Whether the place is known not to be null.
    pub fn holds(&self, path: &str) -> bool {
        self.anything || self.paths.contains(path)
    }

    /// The same, of a condition that may be `wrong`.
    pub fn of_wrong(mut self, wrong: bool) -> Narrowing {
        self.anything |= wrong;
        self
    }

    /// What is known of the fields of a place: the names behind its path.
    pub fn fields(&self, path: &str) -> Vec<&str> {
        let prefix = format!("{path}.");
        let mut names = Vec::new();
        for known in self.paths.starting_at(prefix.as_str()) {
            let Some(rest) = known.strip_prefix(prefix.as_str()) else {
                break;
            };
            names.extend(rest.split(['.', '[']).next());
        }
        names
    }

    /// The places, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(|path| &**path)
    }

    /// The places that something is known of.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.iter()
            .chain(self.texts.iter().map(|(place, _)| &**place))
    }

    /// Notes a place.
    pub fn note(&mut self, path: String) {
        let path: Arc<str> = path.into();
        if self.paths.insert(path.clone()) {
            self.depends(&path);
        }
    }

    /// Notes a text that a place is not.
    pub fn exclude(&mut self, path: &str, text: &str) {
        let path: Arc<str> = path.into();
        if self.texts.insert((path.clone(), text.into())) {
            self.depends(&path);
        }
    }

    fn depends(&mut self, path: &Arc<str>) {
        let parts = inside(path).map(|part| (part.into(), path.clone()));
        self.inside.extend(parts);
    }

    /// Whether the place is known not to be a text.
    pub fn excludes(&self, path: &str, text: &str) -> bool {
        let excluded: (Arc<str>, Arc<str>) = (path.into(), text.into());
        self.texts.contains(&excluded)
    }

    /// The texts that fields of a place are known not to be, each with the field.
    pub fn excluded_of_fields(&self, path: &str) -> Vec<(&str, &str)> {
        let prefix = format!("{path}.");
        let under = self.under(&prefix);
        under
            .filter_map(|(place, text)| Some((place.strip_prefix(prefix.as_str())?, &**text)))
            .collect()
    }

    /// What is known of texts of places that begin so.
    fn under<'a>(
        &'a self,
        prefix: &str,
    ) -> impl Iterator<Item = &'a (Arc<str>, Arc<str>)> + use<'a> {
        let first: (Arc<str>, Arc<str>) = (prefix.into(), "".into());
        let prefix = first.0.clone();
        let all = self.texts.starting_at(&first);
        all.take_while(move |(place, _)| place.starts_with(&*prefix))
    }

    /// What is known of a name, of another name.
    pub fn renamed(&self, from: &str, to: &str) -> Narrowing {
        let renamed = |place: &str| {
            let rest = place.strip_prefix(from)?;
            (rest.is_empty() || rest.starts_with(['.', '['])).then(|| format!("{to}{rest}"))
        };
        let mut known: Narrowing = self.iter().filter_map(renamed).collect();
        for (place, text) in self.texts.iter() {
            renamed(place)
                .into_iter()
                .for_each(|place| known.exclude(&place, text));
        }
        known
    }

    /// What either knows: for two conditions that both hold.
    pub fn and(mut self, other: Narrowing) -> Narrowing {
        self.paths.join(&other.paths);
        self.texts.join(&other.texts);
        self.inside.join(&other.inside);
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
        self.paths.keep(&other.paths);
        self.texts.keep(&other.texts);
        self.inside.keep(&other.inside);
        self
    }

    /// Takes out what another knows.
    pub fn without(&mut self, other: &Narrowing) {
        self.paths.without(&other.paths);
        self.texts.without(&other.texts);
        self.inside.without(&other.inside);
    }

    /// Forgets all that depends on a place, since it may have been written (`state.a`) or the name now
    /// means something else (`x`).
    pub fn forget(&mut self, written: &str) {
        if self.is_empty() {
            return;
        }
        let mut gone: Vec<Arc<str>> = Vec::new();
        gone.extend(
            self.paths
                .starting_at(written)
                .take(1)
                .filter(|path| ***path == *written)
                .cloned(),
        );
        gone.extend(
            self.texts_of(written)
                .map(|(place, _)| place.clone())
                .take(1),
        );
        for sign in [".", "["] {
            let under = format!("{written}{sign}");
            let all = self.paths.starting_at(under.as_str());
            gone.extend(all.take_while(|path| path.starts_with(&under)).cloned());
            gone.extend(self.under(&under).map(|(place, _)| place.clone()));
        }
        let first: (Arc<str>, Arc<str>) = (written.into(), "".into());
        // What stands between the two and begins so is another name: `state.a_b`, `state.a-`.
        let all = self.inside.starting_at(&first);
        let all = all.take_while(|(part, _)| part.starts_with(written));
        let under = all.filter(|(part, _)| is_under(part, written));
        gone.extend(under.map(|(_, path)| path.clone()));
        for path in gone {
            self.paths.remove(&path);
            let texts: Vec<_> = self.texts_of(&path).cloned().collect();
            texts.iter().for_each(|text| {
                self.texts.remove(text);
            });
            for part in inside(&path) {
                self.inside.remove(&(part.into(), path.clone()));
            }
        }
    }
}

impl Narrowing {
    /// What is known of the texts of a place.
    fn texts_of<'a>(
        &'a self,
        place: &str,
    ) -> impl Iterator<Item = &'a (Arc<str>, Arc<str>)> + use<'a> {
        let place: Arc<str> = place.into();
        self.under(&place.clone())
            .filter(move |(known, _)| *known == place)
    }

    /// Notes of a place whose type names its texts those that it is not, where it is one of `others` or, with `is` false, none of
    /// them.
    pub(in crate::expr) fn leave_texts(
        &mut self,
        (path, of): (&str, &Type),
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
                self.exclude(path, text);
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

/// Whether a place is the written one or a part of it.
fn is_under(place: &str, written: &str) -> bool {
    let rest = place.strip_prefix(written);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// What stands in the indices of a path, and behind them.
fn inside(path: &str) -> impl Iterator<Item = &str> {
    path.split(['[', ']'])
        .skip(1)
        .filter(|part| !part.is_empty())
}

impl FromIterator<String> for Narrowing {
    fn from_iter<I: IntoIterator<Item = String>>(paths: I) -> Self {
        let mut known = Self::new();
        paths.into_iter().for_each(|path| known.note(path));
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
                Some((condition, same)) if path(condition).is_none() => {
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
                    path(field).into_iter().collect(),
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
                    (false, true) => path(left),
                    (true, false) => path(right),
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
            let Some(path) = self.place_of(side) else {
                continue;
            };
            if is_small(other) {
                let (of, with) = (self.silent(side), self.silent(other));
                known.leave_texts((&path, &of), &[with], equal, self.types);
            }
            if proves(self, other) {
                known.note(path);
            }
        }
        known
    }

    /// `x in xs` proves that `x` isn't null where no element of `xs` is, and which texts it is not.
    fn member_facts(&mut self, item: &Expr, list: &Expr, truth: bool) -> Narrowing {
        let mut known = Narrowing::new();
        let Some(path) = self.place_of(item).filter(|_| is_small(list)) else {
            return known;
        };
        if let ExprKind::List(elements) = &list.kind
            && !elements.iter().any(|element| element.optional)
        {
            let elements = elements.iter();
            let all: Vec<Type> = elements.map(|e| self.silent(&e.value)).collect();
            known.leave_texts((&path, &self.silent(item)), &all, truth, self.types);
        }
        if truth && has_no_null(&self.silent(list)) {
            known.note(path);
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
