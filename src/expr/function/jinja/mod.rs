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

use super::{Compute, FunctionSpec, Row};

pub use list::{elements, is_true};
pub use print::{plain, printed};
pub use test::contains;

const fn filter(
    name: &'static str,
    signatures: &'static [&'static str],
    compute: Compute,
    doc: &'static str,
) -> Row {
    Row::method(name, signatures, compute, doc, "")
}

const FILTERS: [&[Row]; 4] = [
    text::FILTERS,
    number::FILTERS,
    list::FILTERS,
    keyed::FILTERS,
];

fn rows() -> impl Iterator<Item = &'static Row> {
    let others = [test::TESTS, method::METHODS, operator::OPERATORS];
    others.into_iter().chain(FILTERS).flatten()
}

static TABLE: LazyLock<Vec<FunctionSpec>> = LazyLock::new(|| {
    let mut all: Vec<FunctionSpec> = rows().map(Row::parsed).collect();
    all.sort_by_key(|spec| spec.name);
    all
});

/// The function of that name, which carries its sign.
pub fn find(name: &str) -> Option<&'static FunctionSpec> {
    let at = TABLE.binary_search_by(|spec| spec.name.cmp(name)).ok()?;
    TABLE.get(at)
}

/// All methods; their names begin with `.`.
pub fn methods() -> impl Iterator<Item = &'static FunctionSpec> {
    let all = TABLE.iter();
    all.filter(|spec| spec.name.starts_with('.'))
}

/// All filters; their names begin with `|`.
pub fn filters() -> impl Iterator<Item = &'static FunctionSpec> {
    let rows = FILTERS.into_iter().flatten();
    rows.filter_map(|row| find(row.name))
}

/// The names of all tests, without `is`.
pub fn tests() -> impl Iterator<Item = &'static str> {
    let own = test::TESTS.iter().map(|row| row.name);
    let own = own.filter_map(|name| name.strip_prefix("is "));
    own.chain(test::SAME.iter().map(|(other, _)| *other))
}

/// The test of that name, or of another name that it has.
pub fn test(name: &str) -> Option<&'static FunctionSpec> {
    let same = test::SAME.iter().find(|(other, _)| *other == name);
    find(&format!("is {}", same.map_or(name, |(_, name)| name)))
}

/// The filter of that name, or of another name that it has.
pub fn filter_named(name: &str) -> Option<&'static FunctionSpec> {
    let name = match name {
        "count" => "length",
        "d" => "default",
        "e" => "escape",
        name => name,
    };
    find(&format!("|{name}"))
}

/// Whether a filter is given the elements with a key of each, which its second argument says.
pub fn has_key(name: &str) -> bool {
    keyed::FILTERS.iter().any(|filter| filter.name == name)
}
