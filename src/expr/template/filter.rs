//! The filters and tests that templates may use, with the types that filters give.

use super::gives::Gives;

/// A filter of the engine.
pub(super) struct Filter {
    pub name: &'static str,
    pub gives: Gives,
    /// Whether it has a meaning for null.
    pub takes_null: bool,
}

/// How many arguments a filter takes that are not named; `None` where that is not bounded, or asked elsewhere.
pub(super) fn count(name: &str) -> Option<(usize, usize)> {
    Some(match name {
        "abs" | "bool" | "capitalize" | "count" | "e" | "escape" | "first" | "items" | "last"
        | "length" | "lines" | "list" | "lower" | "max" | "min" | "reverse" | "safe" | "sort"
        | "string" | "title" | "upper" => (0, 0),
        "attr" => (1, 1),
        "batch" | "slice" => (1, 2),
        "d" | "default" | "int" | "join" | "round" | "split" | "sum" => (0, 2),
        "float" | "groupby" | "tojson" | "trim" => (0, 1),
        "indent" => (0, 3),
        "replace" => (2, 2),
        "selectattr" | "rejectattr" => (1, usize::MAX),
        _ => return None,
    })
}

const fn filter(name: &'static str, gives: Gives) -> Filter {
    Filter {
        name,
        gives,
        takes_null: false,
    }
}

const fn any(name: &'static str, gives: Gives) -> Filter {
    Filter {
        name,
        gives,
        takes_null: true,
    }
}

/// The names of all filters.
pub fn filters() -> impl Iterator<Item = &'static str> {
    FILTERS.iter().map(|filter| filter.name)
}

/// The names of all tests.
pub fn tests() -> &'static [&'static str] {
    TESTS
}

/// The filter of that name.
pub(super) fn find(name: &str) -> Option<&'static Filter> {
    FILTERS.iter().find(|f| f.name == name)
}

pub(super) static FILTERS: &[Filter] = &[
    filter("abs", Gives::Same),
    filter("attr", Gives::Any),
    filter("batch", Gives::Chunks),
    any("bool", Gives::Bool),
    filter("capitalize", Gives::Text),
    filter("chain", Gives::Any),
    filter("count", Gives::Int),
    any("d", Gives::Same),
    any("default", Gives::Same),
    filter("dictsort", Gives::Pairs),
    any("e", Gives::Text),
    any("escape", Gives::Text),
    filter("first", Gives::Picked),
    filter("float", Gives::Float),
    filter("format", Gives::Text),
    filter("groupby", Gives::Groups),
    filter("indent", Gives::Text),
    filter("int", Gives::Int),
    filter("items", Gives::Pairs),
    filter("join", Gives::Text),
    filter("last", Gives::Picked),
    filter("length", Gives::Int),
    filter("lines", Gives::Texts),
    filter("list", Gives::Elements),
    filter("lower", Gives::Text),
    filter("map", Gives::Any),
    filter("max", Gives::Picked),
    filter("min", Gives::Picked),
    any("pprint", Gives::Text),
    filter("reject", Gives::Elements),
    filter("rejectattr", Gives::Elements),
    filter("replace", Gives::Text),
    filter("reverse", Gives::Same),
    filter("round", Gives::Same),
    any("safe", Gives::Same),
    filter("select", Gives::Elements),
    filter("selectattr", Gives::Elements),
    filter("slice", Gives::Chunks),
    filter("sort", Gives::Elements),
    filter("split", Gives::Texts),
    any("string", Gives::Text),
    filter("sum", Gives::Element),
    filter("title", Gives::Text),
    any("tojson", Gives::Text),
    filter("trim", Gives::Text),
    filter("unique", Gives::Elements),
    filter("upper", Gives::Text),
    filter("zip", Gives::Any),
];

/// The tests of the engine: `x is defined`.
pub(super) static TESTS: &[&str] = &[
    "!=",
    "<",
    "<=",
    "==",
    ">",
    ">=",
    "boolean",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "equalto",
    "escaped",
    "even",
    "false",
    "filter",
    "float",
    "ge",
    "greaterthan",
    "gt",
    "in",
    "int",
    "integer",
    "iterable",
    "le",
    "lessthan",
    "lower",
    "lt",
    "mapping",
    "ne",
    "none",
    "number",
    "odd",
    "safe",
    "sameas",
    "sequence",
    "startingwith",
    "string",
    "test",
    "true",
    "undefined",
    "upper",
];

/// Tests that hold for no null.
pub(super) fn excludes_null(test: &str) -> bool {
    matches!(
        test,
        "boolean"
            | "defined"
            | "even"
            | "false"
            | "float"
            | "int"
            | "integer"
            | "mapping"
            | "number"
            | "odd"
            | "sequence"
            | "startingwith"
            | "endingwith"
            | "string"
            | "true"
    )
}

/// Functions of the engine, with what they give.
pub(super) static FUNCTIONS: &[(&str, Gives)] = &[
    ("dict", Gives::Any),
    ("namespace", Gives::Any),
    ("range", Gives::Any),
];
