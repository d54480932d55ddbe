//! Templates: what their statements bind, and what their conditions show. Their expressions are typed like all others; what is
//! Jinja's is in [`call`] and [`filter`], what is said differently in [`words`].

mod call;
mod filter;
mod kind;
mod words;

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::ast::template::{CAPTURED, ELEMENT, For, LOOP, Statement, Target};
use crate::base::AccessPath;
use crate::diag::{Diagnostic, codes};

use super::super::function::jinja;
use super::super::ty::Type;
use super::checker::Checker;
use super::join::{join, widen};
use super::narrow::Narrowing;
use super::usage::named;

pub(super) use words::{access_path, source};

impl Checker<'_> {
    /// For a template, where names and operators mean what they do in Jinja.
    pub fn of_template(mut self) -> Self {
        self.template = true;
        self
    }

    /// Checks the statements of a template.
    pub fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Text { .. } => {}
            // Null prints nothing, so it needs no guard here.
            Statement::Output(expr) => _ = self.expr(expr, None),
            Statement::If { condition, yes, no } => {
                let (when, unless) = self.condition(condition);
                let mut names = Vec::new();
                names_set(yes, &mut names);
                names_set(no, &mut names);
                let ends = [(when, yes), (unless, no)]
                    .map(|(facts, way)| self.under(facts, |checker| checker.ends_of(way, &names)));
                let [yes, no] = ends;
                for ((name, yes), no) in names.iter().zip(yes).zip(no) {
                    self.declare(name, join(&yes, &no, self.types));
                }
            }
            Statement::For(each) => self.each_of(each),
            Statement::Set { target, value } => {
                let ty = self.expr(value, None);
                self.hides(target, false);
                self.assign(target, ty);
            }
            Statement::Capture {
                target,
                body,
                filtered,
            } => {
                self.scoped(|checker| checker.statements(body));
                let ty = match filtered {
                    Some(filtered) => self.binding([(CAPTURED.to_owned(), Type::String)], |c| {
                        c.expr(filtered, None)
                    }),
                    None => Type::String,
                };
                self.assign(target, ty);
            }
        }
    }

    /// Checks one of several ways; the types that names have at its end. One that is not set there, nor was before, is null.
    fn ends_of(&mut self, way: &[Statement], names: &[&str]) -> Vec<Type> {
        let depth = self.locals.len();
        self.statements(way);
        let named = names.iter().map(|name| match self.named(name) {
            Some(ty) => widen(self.narrowed(ty, &AccessPath::name(name))),
            None => Type::Null,
        });
        let types = named.collect();
        self.locals.truncate(depth);
        types
    }

    /// Types a condition; what is known where it holds and where it doesn't. Of one that is wrong nobody knows what it was to
    /// show.
    fn condition(&mut self, condition: &Expr) -> (Narrowing, Narrowing) {
        let told = self.diags.len();
        self.expr(condition, None);
        // One that is always the same says what it says.
        let open = |found: &Diagnostic| !std::ptr::eq(found.code, &codes::NEVER_EQUAL);
        let wrong = self.diags.iter().skip(told).any(open);
        let (yes, no) = (self.facts(condition, true), self.facts(condition, false));
        (yes.of_wrong(wrong), no.of_wrong(wrong))
    }

    /// Checks a part whose names end with it.
    fn scoped(&mut self, part: impl FnOnce(&mut Self)) {
        let (depth, known) = (self.locals.len(), self.known.clone());
        part(self);
        self.locals.truncate(depth);
        self.known = known;
    }

    /// Gives a name a type; what was known of another thing of that name is forgotten.
    fn declare(&mut self, name: &str, ty: Type) {
        self.known.forget(&AccessPath::name(name));
        self.locals.push((name.to_owned(), ty));
    }

    fn each_of(&mut self, each: &For) {
        let over = &each.over;
        let of = self.expr(over, None).without_null();
        let pair = self.pair(over);
        if matches!(
            of,
            Type::Bool | Type::Int | Type::Uint | Type::Float | Type::Timestamp | Type::Duration
        ) {
            let found = named(over, &self.show(&of));
            let message = format!("expected a list or a map, found {found}");
            self.error(&codes::TYPE_MISMATCH, message, over.span);
        }
        self.hides(&each.target, true);
        self.scoped(|checker| {
            match (pair, &each.target) {
                (Some(parts), Target::Several(names, _)) => {
                    for (name, part) in names.iter().zip(parts) {
                        checker.assign(name, part);
                    }
                }
                _ => checker.assign(&each.target, kind::element(&of)),
            }
            if let Some(when) = &each.when {
                let (facts, _) = checker.condition(when);
                checker.known = std::mem::take(&mut checker.known).and(facts);
            }
            checker.declare(LOOP, Type::Json);
            // Behind the name of the loop stands what it goes over.
            checker.declare(ELEMENT, kind::element(&of));
            checker.statements(&each.body);
        });
        self.scoped(|checker| checker.statements(&each.otherwise));
    }

    /// What `for k, v in x.items()` (or `x | items`) takes apart.
    fn pair(&mut self, over: &Expr) -> Option<[Type; 2]> {
        let ExprKind::Call {
            target: Some(of),
            function,
            ..
        } = &over.kind
        else {
            return None;
        };
        match function.node.as_str() {
            "|items" | "|dictsort" | "items" => match self.silent(of).without_null() {
                Type::Map(value) => Some([Type::String, (*value).clone()]),
                Type::Record(_) => Some([Type::String, Type::Json]),
                Type::Error => Some([Type::String, Type::Error]),
                _ => None,
            },
            "|groupby" => {
                let of = self.silent(of);
                Some([Type::Json, Type::list(kind::element(&of.without_null()))])
            }
            _ => None,
        }
    }

    /// Warns of a name that hides what the template knows by it: `state`, and for names of a loop any other.
    fn hides(&mut self, target: &Target, each: bool) {
        for name in target.names() {
            let state = name.node == "state" && self.scope.state.is_some();
            if state || (each && self.scope.slot(name).is_some()) {
                let message = format!("`{}` hides what the template knows by that name", name.node);
                let found = Diagnostic::new(&codes::SHADOWING, message, name.span);
                self.report(found.help("choose another name"));
            }
        }
    }

    fn assign(&mut self, target: &Target, ty: Type) {
        match target {
            Target::Name(name) => self.declare(name, ty),
            Target::Field(of, _) => self.namespace(of),
            Target::Several(parts, span) => {
                let part = match &ty {
                    Type::List(of) => (**of).clone(),
                    Type::Json | Type::Error | Type::Never => ty,
                    other => {
                        let message = format!(
                            "{} can't be taken apart into several names",
                            self.show(other)
                        );
                        let found = Diagnostic::new(&codes::TYPE_MISMATCH, message, *span);
                        self.report(found.help("keys with values are given by `m.items()`"))
                    }
                };
                parts
                    .iter()
                    .for_each(|name| self.assign(name, part.clone()));
            }
        }
    }

    /// Only what the template has made itself has fields that can be set.
    fn namespace(&mut self, of: &Name) {
        if !self.locals.iter().any(|(name, _)| *name == of.node) {
            let message = format!("`{}` is no namespace, so it has no fields to set", of.node);
            let found = Diagnostic::new(&codes::BAD_TEMPLATE, message, of.span);
            let make = format!("make one first: `{{% set {} = namespace() %}}`", of.node);
            self.report(found.help(make));
        }
    }

    /// What is known when a value counts as true (or, with `truth` false, when it doesn't).
    pub(super) fn truth_facts(&mut self, expr: &Expr, truth: bool) -> Narrowing {
        match access_path(expr) {
            Some(place) if truth => Narrowing::not_null([place]),
            Some(_) => Narrowing::new(),
            None => self.facts(expr, truth),
        }
    }

    /// What a call of Jinja's shows where it is true, and where it is false.
    pub(super) fn jinja_facts(&mut self, name: &str, of: &Expr) -> (Narrowing, Narrowing) {
        let none = Narrowing::new;
        let here = || Narrowing::not_null(access_path(of));
        let lacks = |checker: &mut Self| -> Narrowing {
            let field = matches!(of.kind, ExprKind::Select { .. });
            let lacks = field.then(|| checker.without_field(of)).flatten();
            lacks.into_iter().collect()
        };
        match name {
            "|bool" => (self.truth_facts(of, true), self.truth_facts(of, false)),
            "is none" => (none(), here()),
            "is undefined" => (lacks(self), here()),
            "is defined" => (here(), lacks(self)),
            name if excludes_null(name) => (here(), none()),
            _ => (none(), none()),
        }
    }
}

/// The names that statements set in the frame around them.
fn names_set<'a>(statements: &'a [Statement], names: &mut Vec<&'a str>) {
    for statement in statements {
        match statement {
            Statement::Set { target, .. } | Statement::Capture { target, .. } => {
                let set = target.names().into_iter().map(|name| name.node.as_str());
                names.extend(set);
            }
            Statement::If { yes, no, .. } => {
                names_set(yes, names);
                names_set(no, names);
            }
            Statement::Text { .. } | Statement::Output(_) | Statement::For(_) => {}
        }
    }
    names.sort_unstable();
    names.dedup();
}

/// Tests that hold for no null: those of one value, but that a loop may go over nothing.
fn excludes_null(test: &str) -> bool {
    let found = jinja::find(test).filter(|found| found.takes(1));
    test.starts_with("is ") && test != "is iterable" && found.is_some()
}
