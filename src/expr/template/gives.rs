//! What filters and methods give back, in terms of what they are applied to.

use super::super::ty::Type;

/// The type of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    /// A text
    Text,
    /// A whole number
    Int,
    /// A number with a fraction
    Float,
    /// A truth value
    Bool,
    /// What it was applied to
    Same,
    /// One of the elements
    Element,
    /// One of the elements; null where there is none
    Picked,
    /// A list of the elements (of a map: its keys)
    Elements,
    /// A list of the elements in lists of several
    Chunks,
    /// The values of a map
    Values,
    /// Keys with values, taken apart by `for k, v in ..`
    Pairs,
    /// Keys with lists of elements, taken apart likewise
    Groups,
    /// A list of texts
    Texts,
    /// Only known when it is rendered
    Any,
}

impl Gives {
    /// The type for a receiver of type `of`.
    pub(super) fn ty(self, of: &Type) -> Type {
        match self {
            Gives::Text => Type::String,
            Gives::Int => Type::Int,
            Gives::Float => Type::Float,
            Gives::Bool => Type::Bool,
            Gives::Same => of.clone(),
            Gives::Element => element(of),
            Gives::Picked => Type::nullable(element(of)),
            Gives::Elements => Type::list(element(of)),
            Gives::Chunks => Type::list(Type::list(element(of))),
            Gives::Values => Type::list(value(of)),
            Gives::Pairs | Gives::Groups => Type::list(Type::list(Type::Json)),
            Gives::Texts => Type::list(Type::String),
            Gives::Any => Type::Json,
        }
    }

    /// The two types that `for k, v in ..` takes apart.
    pub(super) fn pair(self, of: &Type) -> Option<(Type, Type)> {
        match self {
            Gives::Pairs => Some((Type::String, value(of))),
            Gives::Groups => Some((Type::Json, Type::list(element(of)))),
            _ => None,
        }
    }
}

/// What a loop over the type gives.
pub(super) fn element(of: &Type) -> Type {
    match of {
        Type::List(of) => (**of).clone(),
        Type::Map(_) | Type::Record(_) | Type::String | Type::Literal(_) | Type::Enum(_) => {
            Type::String
        }
        Type::Nullable(of) => element(of),
        Type::Error => Type::Error,
        Type::Never => Type::Never,
        _ => Type::Json,
    }
}

fn value(of: &Type) -> Type {
    match of {
        Type::Map(of) => (**of).clone(),
        Type::Nullable(of) => value(of),
        Type::Error => Type::Error,
        _ => Type::Json,
    }
}
