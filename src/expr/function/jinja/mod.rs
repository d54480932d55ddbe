//! What Jinja has and the language lacks: filters (`|upper`), tests (`is odd`), methods of Python's (`.title`), functions
//! (`range()`) and operators (`~`), for [templates](super::super::template) alone.
//!
//! A name carries the sign that it is written with, which no expression can write, so that Jinja's `join` and the language's
//! are two. An argument that is left out is null.

mod keyed;
mod list;
mod method;
mod number;
mod operator;
mod print;
mod printf;
mod test;
mod text;

use std::sync::LazyLock;

use super::signature::Pattern;
use super::{Compute, FunctionSpec, Row};
use crate::expr::ty::Type;
use crate::value::Value;

pub use list::{elements, is_true};
pub use print::printed;
pub use test::contains;

/// The parameters of a filter behind the value that it is applied to.
#[derive(Debug, Clone, Copy)]
pub struct Params {
    /// How many must be given.
    pub required: usize,
    /// How many may be given by position.
    pub positions: usize,
    /// Their names. One that begins with `_` can't be given by name.
    pub names: &'static [&'static str],
    /// Whether any number may follow.
    pub variadic: bool,
}

/// A filter: its row, and its parameters.
struct Filter {
    row: Row,
    params: Params,
}

const fn filter(
    name: &'static str,
    signatures: &'static [&'static str],
    compute: Compute,
    doc: &'static str,
) -> Filter {
    Filter {
        row: Row::method(name, signatures, compute, doc, ""),
        params: Params {
            required: 0,
            positions: 0,
            names: &[],
            variadic: false,
        },
    }
}

impl Filter {
    /// With parameters, all of which may be given by position.
    const fn params(self, required: usize, names: &'static [&'static str]) -> Filter {
        let positions = names.len();
        self.with(required, positions, names)
    }

    const fn with(
        self,
        required: usize,
        positions: usize,
        names: &'static [&'static str],
    ) -> Filter {
        Filter {
            params: Params {
                required,
                positions,
                names,
                variadic: false,
            },
            ..self
        }
    }

    const fn variadic(self) -> Filter {
        Filter {
            params: Params {
                variadic: true,
                ..self.params
            },
            ..self
        }
    }
}

fn all_filters() -> impl Iterator<Item = &'static Filter> {
    [
        text::FILTERS,
        number::FILTERS,
        list::FILTERS,
        keyed::FILTERS,
    ]
    .into_iter()
    .flatten()
}

static TABLE: LazyLock<Vec<FunctionSpec>> = LazyLock::new(|| {
    let rows = [test::TESTS, method::METHODS, operator::OPERATORS];
    let rows = rows
        .into_iter()
        .flatten()
        .chain(all_filters().map(|f| &f.row));
    let mut all: Vec<FunctionSpec> = rows.map(Row::parsed).collect();
    all.sort_by_key(|spec| spec.name);
    all
});

/// The function of that name, which carries its sign. Of a method the one whose receivers are of that kind.
pub fn find(name: &str) -> Option<&'static FunctionSpec> {
    methods(name).first()
}

/// The functions of that name: of a method one for each kind of receivers.
fn methods(name: &str) -> &'static [FunctionSpec] {
    let start = TABLE.partition_point(|spec| spec.name < name);
    let rest = TABLE.get(start..).unwrap_or_default();
    let end = rest.partition_point(|spec| spec.name == name);
    rest.get(..end).unwrap_or_default()
}

/// The method of Jinja's that a value has by that name, which is written without its sign.
pub fn method_of(value: &Value, name: &str) -> Option<&'static FunctionSpec> {
    let all = methods(&format!(".{name}")).iter();
    all.clone().find(|spec| match (receiver(spec), value) {
        (Some(Pattern::List(_)), Value::List(_)) | (Some(Pattern::Map(_)), Value::Map(_)) => true,
        (Some(Pattern::Exact(_)), value) => matches!(
            value,
            Value::String(_) | Value::Timestamp(_) | Value::Duration(_)
        ),
        _ => false,
    })
}

/// The same for the values of a type.
pub fn method_for(of: &Type, name: &str) -> Option<&'static FunctionSpec> {
    methods(&format!(".{name}"))
        .iter()
        .find(|spec| is_for(spec, of))
}

/// The names of Jinja's methods that the values of a type have.
pub fn method_names(of: &Type) -> Vec<&'static str> {
    let all = TABLE.iter().filter(|spec| is_for(spec, of));
    all.filter_map(|spec| spec.name.strip_prefix('.')).collect()
}

fn is_for(spec: &FunctionSpec, of: &Type) -> bool {
    match (receiver(spec), of) {
        (Some(_), Type::Union(members)) => members.iter().all(|of| is_for(spec, of)),
        (Some(Pattern::List(_)), Type::List(_))
        | (Some(Pattern::Map(_)), Type::Map(_) | Type::Record(_)) => true,
        (Some(Pattern::Exact(_)), of) => matches!(
            of,
            Type::String | Type::Literal(_) | Type::Enum(_) | Type::Timestamp | Type::Duration
        ),
        _ => false,
    }
}

fn receiver(spec: &FunctionSpec) -> Option<&Pattern> {
    let method = spec.name.starts_with('.');
    spec.signatures.first()?.params.first().filter(|_| method)
}

/// The names of all filters, without their sign.
pub fn filters() -> impl Iterator<Item = &'static str> {
    all_filters().filter_map(|filter| filter.row.name.strip_prefix('|'))
}

/// The names of all tests, without `is`.
pub fn tests() -> impl Iterator<Item = &'static str> {
    let own = test::TESTS.iter().map(|row| row.name);
    let own = own.filter_map(|name| name.strip_prefix("is "));
    own.chain(test::SAME.iter().map(|(other, _)| *other))
}

/// The function of a test, by one of the test's names.
pub fn test(name: &str) -> Option<&'static str> {
    let same = test::SAME.iter().find(|(other, _)| *other == name);
    let name = same.map_or(name, |(_, name)| name);
    let all = test::TESTS.iter().map(|row| row.name);
    all.into_iter()
        .find(|test| test.strip_prefix("is ") == Some(name))
}

/// The parameters of a filter, by its name without the sign.
pub fn params(filter: &str) -> Option<Params> {
    let mut all = all_filters();
    let found = all.find(|known| known.row.name.strip_prefix('|') == Some(filter));
    found.map(|filter| filter.params)
}

/// Whether a filter is given the elements with a key of each, which its second argument says.
pub fn has_key(name: &str) -> bool {
    keyed::FILTERS.iter().any(|filter| filter.row.name == name)
}

#[cfg(test)]
mod tests {
    use super::super::notation;
    use super::*;

    #[test]
    fn every_signature_parses() {
        let filters = all_filters().map(|filter| &filter.row);
        let others = [test::TESTS, method::METHODS, operator::OPERATORS];
        for row in others.into_iter().flatten().chain(filters) {
            for text in row.signatures {
                let parsed = notation::parse_signature(text);
                assert_eq!(parsed.map(|s| s.to_string()), Ok((*text).to_owned()));
            }
        }
    }
}
