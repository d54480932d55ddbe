//! How arguments go with the parameters of a signature, and what comes of a call.

use super::super::function::signature::Pattern;
use super::super::ty::{Type, TypeTable};
use super::join::{join, widen};
use super::relation::assignable;

/// How an argument goes with a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Yes,
    /// It would, were it not for null.
    UnlessNull,
    No,
}

/// What the variables of a signature stand for in one call.
#[derive(Debug, Clone, Default)]
pub(super) struct Bindings(Vec<(char, Type)>);

impl Bindings {
    fn of(&self, var: char) -> Option<&Type> {
        self.0.iter().find(|(v, _)| *v == var).map(|(_, ty)| ty)
    }

    fn put(&mut self, var: char, ty: Type) {
        self.0.retain(|(v, _)| *v != var);
        self.0.push((var, ty));
    }
}

impl Pattern {
    /// Matches an argument and binds the variables.
    pub(super) fn bind(&self, found: &Type, bound: &mut Bindings, types: &TypeTable) -> Fit {
        match (self, found) {
            (_, Type::Error) => self.bind_wrong(bound),
            (Pattern::Any, _) => Fit::Yes,
            (Pattern::Var(var), _) => bind_var(*var, found, bound, types),
            (Pattern::Nullable(inner), _) => match found {
                Type::Null => Fit::Yes,
                other => inner.bind(&other.without_null(), bound, types),
            },
            (_, Type::Nullable(inner)) => match self.bind(inner, bound, types) {
                Fit::Yes => Fit::UnlessNull,
                other => other,
            },
            (_, Type::Json) => self.bind_unknown(bound, types),
            (_, Type::Never) => Fit::Yes,
            (Pattern::Union(options), _) => best(options, found, bound, types),
            (_, Type::Union(members)) => {
                let fits = members.iter().map(|m| self.bind(m, bound, types));
                worst(fits)
            }
            (Pattern::List(of), Type::List(inner))
            | (Pattern::Map(of), Type::Map(inner))
            | (Pattern::Optional(of), Type::Optional(inner)) => part(of, inner, bound, types),
            (Pattern::Map(of), Type::Record(id)) => match types.records.get(*id) {
                Some(record) => {
                    let all = record
                        .fields
                        .iter()
                        .fold(Type::Never, |all, f| join(&all, &f.ty, types));
                    part(of, &all, bound, types)
                }
                None => Fit::Yes,
            },
            (Pattern::Record(name), Type::Record(_)) => {
                let wanted = types.record_named(name);
                fit(wanted.is_some_and(|id| assignable(found, &Type::Record(id), types)))
            }
            // Conversions take whatever has a value of its own; which texts they refuse shows at run time.
            (Pattern::Exact(Type::Json), _) => {
                fit(!matches!(found, Type::Null | Type::Optional(_)))
            }
            (Pattern::Exact(wanted), _) => fit(assignable(found, wanted, types)),
            _ => Fit::No,
        }
    }

    /// What is wrong, and reported, goes with every parameter; what is taken from it is as unknown.
    fn bind_wrong(&self, bound: &mut Bindings) -> Fit {
        match self {
            Pattern::Var(var) if bound.of(*var).is_none() => bound.put(*var, Type::Error),
            Pattern::List(of) | Pattern::Map(of) => {
                of.bind_wrong(bound);
            }
            Pattern::Nullable(of) | Pattern::Optional(of) => {
                of.bind_wrong(bound);
            }
            _ => {}
        }
        Fit::Yes
    }

    /// `json` goes with every parameter: its type is only known at run time, where it is looked at again.
    fn bind_unknown(&self, bound: &mut Bindings, types: &TypeTable) -> Fit {
        match self {
            Pattern::Var(var) => bind_var(*var, &Type::Json, bound, types),
            Pattern::List(of) | Pattern::Map(of) | Pattern::Nullable(of) => {
                of.bind_unknown(bound, types)
            }
            Pattern::Optional(_) | Pattern::Lambda(..) | Pattern::Field => Fit::No,
            Pattern::Union(options) => {
                for option in options {
                    option.bind_unknown(bound, types);
                }
                Fit::Yes
            }
            Pattern::Any | Pattern::Exact(_) | Pattern::Record(_) => Fit::Yes,
        }
    }

    /// The type it stands for in a call.
    pub(super) fn result(&self, bound: &Bindings, types: &TypeTable) -> Type {
        match self {
            Pattern::Var(var) => bound.of(*var).cloned().unwrap_or(Type::Never),
            Pattern::Any => Type::Json,
            Pattern::Exact(ty) => ty.clone(),
            Pattern::List(of) => Type::list(of.result(bound, types)),
            Pattern::Map(of) => Type::map(of.result(bound, types)),
            Pattern::Nullable(of) => Type::nullable(of.result(bound, types)),
            Pattern::Optional(of) => Type::optional(of.result(bound, types).without_null()),
            Pattern::Union(options) => options.iter().fold(Type::Never, |all, option| {
                join(&all, &option.result(bound, types), types)
            }),
            Pattern::Lambda(..) | Pattern::Field => Type::Error,
            Pattern::Record(name) => types
                .records
                .entries()
                .find(|(_, r)| r.name == *name)
                .map_or(Type::Json, |(id, _)| Type::Record(id)),
        }
    }

    /// The type to expect of an argument before it is looked at: what is already bound of it.
    pub(super) fn hint(&self, bound: &Bindings, types: &TypeTable) -> Option<Type> {
        match self {
            Pattern::Any => None,
            // What only an empty list or map has shown says nothing yet.
            Pattern::Var(var) => {
                let known = |ty: &&Type| !matches!(ty, Type::Never | Type::Error);
                bound.of(*var).filter(known).cloned()
            }
            Pattern::List(of) => Some(Type::list(of.hint(bound, types)?)),
            Pattern::Map(of) => Some(Type::map(of.hint(bound, types)?)),
            Pattern::Nullable(of) | Pattern::Optional(of) => of.hint(bound, types),
            _ => Some(self.result(bound, types)),
        }
    }
}

fn fit(yes: bool) -> Fit {
    if yes { Fit::Yes } else { Fit::No }
}

/// The parameter of a type constructor: null in it is no null of the argument itself.
fn part(of: &Pattern, inner: &Type, bound: &mut Bindings, types: &TypeTable) -> Fit {
    match (of, of.bind(inner, bound, types)) {
        (_, Fit::Yes) => Fit::Yes,
        (Pattern::Exact(Type::Json), _) => fit(assignable(inner, &Type::Json, types)),
        _ => Fit::No,
    }
}

fn best(options: &[Pattern], found: &Type, bound: &mut Bindings, types: &TypeTable) -> Fit {
    let mut fits = Fit::No;
    for option in options {
        match option.bind(found, bound, types) {
            Fit::Yes => return Fit::Yes,
            Fit::UnlessNull => fits = Fit::UnlessNull,
            Fit::No => {}
        }
    }
    fits
}

fn worst(fits: impl Iterator<Item = Fit>) -> Fit {
    fits.fold(Fit::Yes, |all, one| match (all, one) {
        (Fit::No, _) | (_, Fit::No) => Fit::No,
        (Fit::UnlessNull, _) | (_, Fit::UnlessNull) => Fit::UnlessNull,
        _ => Fit::Yes,
    })
}

fn bind_var(var: char, found: &Type, bound: &mut Bindings, types: &TypeTable) -> Fit {
    let found = widen(found.clone());
    let Some(before) = bound.of(var) else {
        bound.put(var, found);
        return Fit::Yes;
    };
    if assignable(&found, before, types) {
        return Fit::Yes;
    }
    let wider = match found {
        Type::Null => Some(Type::nullable(before.clone())),
        // It may be of any kind: what comes of it is as unknown.
        Type::Json => Some(Type::Json),
        _ => assignable(before, &found, types).then_some(found),
    };
    match wider {
        Some(wider) => {
            bound.put(var, wider);
            Fit::Yes
        }
        None => Fit::No,
    }
}
