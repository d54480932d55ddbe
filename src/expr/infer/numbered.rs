//! What `xs.enumerate()` gives: maps with the position of an element and the element.
//!
//! They are maps to everything else. So that their two parts have types of their own, the type of their values is a union that
//! no declaration comes to, since `json` takes all others in.

use super::super::ty::Type;

/// The keys of such a map.
pub(super) const PARTS: [&str; 2] = ["index", "value"];

/// The map for elements of a type.
pub(super) fn numbered(of: Type) -> Type {
    Type::map(Type::Union([Type::Json, of].into()))
}

/// The type of the elements, where it is such a map.
pub(super) fn element_of(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Map(of) => match &**of {
            Type::Union(parts) => match &**parts {
                [Type::Json, of] => Some(of),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The type of one of its parts.
pub(super) fn part_of(ty: &Type, name: &str) -> Option<Type> {
    let of = element_of(ty)?;
    match name {
        "index" => Some(Type::Int),
        "value" => Some(of.clone()),
        _ => None,
    }
}
