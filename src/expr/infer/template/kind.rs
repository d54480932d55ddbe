//! Kinds of values that Jinja tells apart.

use super::super::super::ty::Type;

/// A kind, as far as a type says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Whole,
    Number,
    Bool,
    List,
    Map,
}

impl Kind {
    /// The kind of a type's values; `None` where it is not known, or they are of several.
    pub fn of(ty: &Type) -> Option<Kind> {
        Some(match ty {
            Type::String | Type::Literal(_) | Type::Enum(_) => Kind::Text,
            Type::Timestamp | Type::Duration => Kind::Text,
            Type::Int | Type::Uint => Kind::Whole,
            Type::Float => Kind::Number,
            Type::Bool => Kind::Bool,
            Type::List(_) => Kind::List,
            Type::Map(_) | Type::Record(_) => Kind::Map,
            Type::Nullable(of) | Type::Optional(of) => return Kind::of(of),
            Type::Union(members) => {
                let mut kinds = members.iter().map(Kind::of);
                let first = kinds.next()??;
                return kinds.all(|kind| kind == Some(first)).then_some(first);
            }
            _ => return None,
        })
    }
}

/// A type as Jinja's functions see its values: a time is a text.
pub(super) fn plain(ty: Type) -> Type {
    match ty {
        Type::Timestamp | Type::Duration => Type::String,
        Type::Optional(of) => Type::nullable(plain((*of).clone())),
        Type::Nullable(of) => Type::nullable(plain((*of).clone())),
        Type::Union(members) => Type::Union(members.iter().cloned().map(plain).collect()),
        ty => ty,
    }
}

/// What a loop over the type gives.
pub(super) fn element(of: &Type) -> Type {
    match of {
        Type::List(of) => (**of).clone(),
        Type::Nullable(of) => element(of),
        Type::Error | Type::Never => of.clone(),
        Type::Union(members) => {
            let mut all = members.iter().map(element);
            let first = all.next().unwrap_or(Type::Json);
            all.fold(first, |all, one| if all == one { all } else { Type::Json })
        }
        other => match Kind::of(other) {
            Some(Kind::Map | Kind::Text) => Type::String,
            _ => Type::Json,
        },
    }
}
