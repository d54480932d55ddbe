//! The least type that holds the values of two.

use super::super::ty::{Type, TypeTable};
use super::relation::assignable;

/// More texts than this in one union say no more than `string` does.
const MOST_LITERALS: usize = 256;

/// The least type that both fit; a union where neither fits the other.
pub fn join(a: &Type, b: &Type, types: &TypeTable) -> Type {
    if matches!(a, Type::Error) || matches!(b, Type::Error) {
        return Type::Error;
    }
    if assignable(a, b, types) {
        return b.clone();
    }
    if assignable(b, a, types) {
        return a.clone();
    }
    match (a, b) {
        (Type::Null, other) | (other, Type::Null) => Type::nullable(other.clone()),
        (Type::Nullable(_), _) | (_, Type::Nullable(_)) => {
            Type::nullable(join(&a.without_null(), &b.without_null(), types))
        }
        (Type::List(a), Type::List(b)) => Type::list(join(a, b, types)),
        (Type::Map(a), Type::Map(b)) => Type::map(join(a, b, types)),
        (Type::Optional(a), Type::Optional(b)) => Type::optional(join(a, b, types)),
        _ => union(parts(a).chain(parts(b)), types),
    }
}

/// The text behind a text literal, so that a later value of the same name may be another text.
/// Declared unions of literals stay as they are.
pub fn widen(ty: Type) -> Type {
    match ty {
        Type::Literal(_) => Type::String,
        Type::List(of) => Type::list(widen((*of).clone())),
        Type::Map(of) => Type::map(widen((*of).clone())),
        Type::Optional(of) => Type::optional(widen((*of).clone())),
        Type::Nullable(of) => Type::nullable(widen((*of).clone())),
        other => other,
    }
}

fn parts(ty: &Type) -> impl Iterator<Item = &Type> {
    match ty {
        Type::Union(members) => members.iter(),
        one => std::slice::from_ref(one).iter(),
    }
}

fn union<'a>(members: impl Iterator<Item = &'a Type>, types: &TypeTable) -> Type {
    let mut kept: Vec<Type> = Vec::new();
    for member in members {
        if kept.iter().any(|k| assignable(member, k, types)) {
            continue;
        }
        kept.retain(|k| !assignable(k, member, types));
        kept.push(member.clone());
    }
    let is_literal = |ty: &Type| matches!(ty, Type::Literal(_));
    if kept.iter().filter(|ty| is_literal(ty)).count() > MOST_LITERALS {
        kept.retain(|ty| !is_literal(ty));
        kept.push(Type::String);
    }
    match kept.len() {
        1 => kept.remove(0),
        _ => Type::Union(kept.into()),
    }
}
