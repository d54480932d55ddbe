//! One of several records: which of them it is, as far as conditions have shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::base::access_path::Step;
use crate::base::name::list;
use crate::base::{AccessPath, Span};
use crate::diag::{Diagnostic, Fact, codes};

use super::super::function;
use super::super::ty::{Type, TypeTable};
use super::checker::Checker;
use super::narrow::{Known, Narrowing};
use super::path::access_path;
use super::relation::{Texts, texts};

impl Checker<'_> {
    /// The type of a place with what is known of it: not null, and of several records those that it still can be.
    pub(super) fn narrowed(&self, ty: Type, place: &AccessPath) -> Type {
        narrowed(ty, place, &self.known, self.types)
    }

    /// What `has(x.f)` says of `x`, one of several records, where it is false.
    pub(super) fn without_field(&mut self, field: &Expr) -> Option<(AccessPath, Known)> {
        let ExprKind::Select {
            operand,
            field: name,
            ..
        } = &field.kind
        else {
            return None;
        };
        let place = access_path(operand)?;
        match self.silent(operand) {
            Type::Union(_) => Some((place, Known::Lacks(name.as_str().into()))),
            _ => None,
        }
    }

    /// Whether `has` asks for a field that some of several records have.
    pub(super) fn asks_which(&mut self, operand: &Expr, field: &Name) -> bool {
        let mut of = self.silent(operand);
        if matches!(of, Type::Record(_)) {
            // What is known of it already takes nothing away from what may be asked.
            let known = std::mem::take(&mut self.known);
            of = self.silent(operand).without_null();
            self.known = known;
        }
        match of {
            Type::Union(members) => members
                .iter()
                .any(|member| has_field(member, field, self.types)),
            _ => false,
        }
    }

    /// How a method that stands there without its parentheses is called.
    pub(super) fn uncalled_method(&self, of: &Type, field: &Name) -> Option<String> {
        let found = function::find(field, true)?;
        let takes = |count: usize| found.arities().any(|arity| arity == count);
        let plain = of.without_null();
        let is_open = matches!(plain, Type::Record(_) | Type::Json | Type::Error);
        (takes(1) && !is_open && self.is_method_of(found, &plain))
            .then(|| format!("{}()", field.node))
    }
}

/// A field that only some of several records have; `ask` is how to ask in that language which of them a place is.
pub(in crate::expr) fn some_lack(
    place: Option<String>,
    of: &Type,
    (name, span): (&str, Span),
    ask: impl Fn(&str) -> String,
    types: &TypeTable,
) -> Option<Diagnostic> {
    let Type::Union(members) = of.without_null() else {
        return None;
    };
    let (with, without): (Vec<&Type>, Vec<&Type>) = members
        .iter()
        .partition(|member| has_field(member, name, types));
    if with.is_empty() || without.is_empty() {
        return None;
    }
    let without = without.iter().map(|ty| types.show(ty).to_string());
    let without: Vec<String> = without.collect();
    let of = match &place {
        Some(place) => format!("`{place}`"),
        None => "it".to_owned(),
    };
    let names = list(without.iter().map(String::as_str));
    let message = format!("{of} may be {names}, which has no field `{name}`");
    let help = ask(place.as_deref().unwrap_or("x"));
    let found = Diagnostic::new(&codes::UNKNOWN_FIELD, message, span).fact(Fact::Unproven);
    Some(found.help(format!("ask first which it is: {help}")))
}

/// The type of a place with what is known of it: not null, and of several records those that it still can be.
pub fn narrowed(ty: Type, place: &AccessPath, known: &Narrowing, types: &TypeTable) -> Type {
    let ty = match known.holds(place) {
        true => ty.without_null(),
        false => ty,
    };
    match ty {
        // Which of them it is was to be shown by a condition that is wrong.
        Type::Union(members) if known.anything && members.iter().all(is_record) => Type::Error,
        Type::Union(members) => left_of(&members, place, known, types),
        Type::Nullable(of) => match &*of {
            Type::Union(members) => Type::nullable(left_of(members, place, known, types)),
            _ => Type::Nullable(of),
        },
        ty => ty,
    }
}

fn is_record(ty: &Type) -> bool {
    matches!(ty, Type::Record(_))
}

/// Those of several types that a place still can be.
fn left_of(
    members: &Arc<[Type]>,
    place: &AccessPath,
    known: &Narrowing,
    types: &TypeTable,
) -> Type {
    let (mut texts, mut lacks, mut has) = (Vec::new(), Vec::new(), Vec::new());
    let mut excluded: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (steps, fact) in known.about(place) {
        match (steps, fact) {
            ([], Known::NotNull) => {}
            ([], Known::Not(text)) => texts.push(text),
            ([], Known::Lacks(field)) => lacks.push(field),
            ([Step::Field(field)], Known::Not(text)) => {
                excluded.entry(field).or_default().push(text);
            }
            ([Step::Field(field), ..], Known::NotNull | Known::Lacks(_)) => has.push(field),
            _ => {}
        }
    }
    let fits = |member: &&Type| match member {
        Type::Literal(text) => !texts.contains(&text),
        member => {
            has.iter().all(|field| has_field(member, field, types))
                && !lacks.iter().any(|field| must_have(member, field, types))
                && !excluded
                    .iter()
                    .any(|(field, texts)| is_one_of(member, field, texts, types))
        }
    };
    let left: Vec<Type> = members.iter().filter(fits).cloned().collect();
    match left.len() {
        0 => Type::Union(members.clone()),
        1 => left.into_iter().next().unwrap_or(Type::Never),
        _ => Type::Union(left.into()),
    }
}

/// Whether values of a type may have a field of that name.
pub fn has_field(ty: &Type, name: &str, types: &TypeTable) -> bool {
    match ty {
        Type::Record(id) => types.field_type(*id, name).is_some(),
        Type::Map(_) | Type::Json => true,
        _ => false,
    }
}

/// Whether a field of a record can be none but some texts.
fn is_one_of(ty: &Type, name: &str, some: &[&str], types: &TypeTable) -> bool {
    let Type::Record(id) = ty else {
        return false;
    };
    let field = types.records.get(*id).and_then(|record| record.field(name));
    match field.and_then(|field| texts(&field.ty, types)) {
        Some(Texts::Of(all)) => all.iter().all(|text| some.contains(text)),
        _ => false,
    }
}

/// Whether every value of a type has a field, and one that is not null.
fn must_have(ty: &Type, name: &str, types: &TypeTable) -> bool {
    match ty {
        Type::Record(id) => {
            let field = types.field_type(*id, name);
            field.is_some_and(|ty| !ty.admits_null())
        }
        _ => false,
    }
}
