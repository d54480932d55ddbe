//! Kinds of values that Jinja tells apart.

use crate::expr::function::signature::Pattern;

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

/// A type as Jinja's functions see its values: a time is a text, of several records nothing but that they are records is said, of
/// values of several kinds nothing.
pub(super) fn plain(ty: Type) -> Type {
    match ty {
        Type::Timestamp | Type::Duration => Type::String,
        Type::Optional(of) => Type::nullable(plain((*of).clone())),
        Type::Nullable(of) => Type::nullable(plain((*of).clone())),
        Type::Union(_) => match Kind::of(&ty) {
            Some(Kind::Map) => Type::map(Type::Json),
            Some(Kind::Text) => Type::String,
            Some(_) => ty,
            None => Type::Json,
        },
        ty => ty,
    }
}

/// What a loop over the type gives.
pub(super) fn element(of: &Type) -> Type {
    match of {
        Type::List(of) => (**of).clone(),
        Type::Nullable(of) => element(of),
        Type::Error | Type::Never => of.clone(),
        other => match Kind::of(other) {
            Some(Kind::Map | Kind::Text) => Type::String,
            _ => Type::Json,
        },
    }
}

/// What a parameter takes, in words.
pub(super) fn shown(params: &[&Pattern]) -> String {
    let mut all: Vec<&str> = Vec::new();
    params.iter().for_each(|param| words(param, &mut all));
    // What prints as a text goes for one, and whole numbers are numbers.
    let plain = |word: &str| matches!(word, "a whole number" | "a number" | "a bool");
    if all.contains(&"a text") && !all.contains(&"a list") && all.contains(&"a bool") {
        all.retain(|word| !plain(word));
    }
    if all.contains(&"a number") {
        all.retain(|word| *word != "a whole number");
    }
    match all.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "another value".to_owned(),
    }
}

fn words(param: &Pattern, all: &mut Vec<&str>) {
    let word = match param {
        Pattern::List(_) => "a list",
        Pattern::Map(_) => "a map",
        Pattern::Exact(Type::String) => "a text",
        Pattern::Exact(Type::Int) => "a whole number",
        Pattern::Exact(Type::Float) => "a number",
        Pattern::Exact(Type::Bool) => "a bool",
        Pattern::Nullable(of) => return words(of, all),
        Pattern::Union(options) => return options.iter().for_each(|option| words(option, all)),
        _ => "any value",
    };
    if !all.contains(&word) {
        all.push(word);
    }
}
