//! Macros: calls that bind names in their arguments, or look at one unevaluated. [`infer`](super::super::infer) types them, and
//! [`eval`](super::super::eval) has a construct for each.

use super::{BuiltinKind, Carries, Length, Row};

const fn form(
    name: &'static str,
    written: &'static str,
    signatures: &'static [&'static str],
    doc: &'static str,
    example: &'static str,
) -> Row {
    Row::new(name, BuiltinKind::Macro(written), signatures, doc, example).carries(Carries::Own)
}

const TEST: &[&str] = &[
    "(list<T>, T => bool) -> bool",
    "(map<T>, string => bool) -> bool",
];
const TEST_BOTH: &[&str] = &[
    "(list<T>, (int, T) => bool) -> bool",
    "(map<T>, (string, T) => bool) -> bool",
];

pub(super) const MACROS: &[Row] = &[
    form(
        "all",
        "xs.all(x, condition)",
        TEST,
        "Whether the condition holds for each element of a list, or each key of a map.",
        "[1, 2].all(x, x > 0)",
    )
    .carries(Carries::Nothing),
    form(
        "all",
        "xs.all(i, x, condition)",
        TEST_BOTH,
        "The same with the position and the element of a list, or the key and the value of a map.",
        r#"{"a": 1}.all(k, v, size(k) == v)"#,
    )
    .carries(Carries::Nothing),
    form(
        "bind",
        "cel.bind(x, value, expr)",
        &["(T, T => U) -> U"],
        "The last argument with a name for the value, which is computed once.",
        "cel.bind(x, 2 + 3, x * x) == 25",
    ),
    form(
        "checked",
        "x.checked(v, condition)",
        &["(T, T => bool) -> T"],
        "The value itself where the condition holds for it, else an error of kind `require`.",
        r#""ls".checked(c, c in ["ls", "pwd"]) == "ls""#,
    ),
    form(
        "exists",
        "xs.exists(x, condition)",
        TEST,
        "Whether the condition holds for an element, or a key.",
        "[1, 2].exists(x, x > 1)",
    )
    .carries(Carries::Nothing),
    form(
        "exists",
        "xs.exists(i, x, condition)",
        TEST_BOTH,
        "The same with position and element, or key and value.",
        "[3, 1].exists(i, x, i == x)",
    )
    .carries(Carries::Nothing),
    form(
        "existsOne",
        "xs.existsOne(x, condition)",
        TEST,
        "CEL's other name of `exists_one`.",
        "[1, 2].existsOne(x, x > 1)",
    )
    .carries(Carries::Nothing),
    form(
        "existsOne",
        "xs.existsOne(i, x, condition)",
        TEST_BOTH,
        "CEL's other name of `exists_one`.",
        "[3, 1].existsOne(i, x, i == x)",
    )
    .carries(Carries::Nothing),
    form(
        "exists_one",
        "xs.exists_one(x, condition)",
        TEST,
        "Whether the condition holds for exactly one element, or key.",
        "[1, 2].exists_one(x, x > 1)",
    )
    .carries(Carries::Nothing),
    form(
        "exists_one",
        "xs.exists_one(i, x, condition)",
        TEST_BOTH,
        "The same with position and element, or key and value.",
        "[3, 1].exists_one(i, x, i == x)",
    )
    .carries(Carries::Nothing),
    form(
        "filter",
        "xs.filter(x, condition)",
        &[
            "(list<T>, T => bool) -> list<T>",
            "(map<T>, string => bool) -> list<string>",
        ],
        "The elements, or the keys, for which the condition holds.",
        "[1, 2, 3].filter(x, x > 1) == [2, 3]",
    )
    .length(Length::NoLonger),
    form(
        "find",
        "xs.find(x, condition)",
        &["(list<T>, T => bool) -> optional<T>"],
        "The first element for which the condition holds.",
        "[1, 2, 3].find(x, x > 1).orValue(0) == 2",
    ),
    form(
        "fold",
        "xs.fold(acc, x, init, next)",
        &["(list<T>, U, (U, T) => U) -> U"],
        "What is left of `init` when each element in turn has made `next` of it.",
        "[1, 2, 3].fold(sum, x, 0, sum + x) == 6",
    ),
    form(
        "group_by",
        "xs.group_by(x, key)",
        &["(list<T>, T => K) -> map<list<T>>"],
        "The elements by a key, which becomes text, in their order.",
        r#"["a", "bb", "c"].group_by(x, size(x)) == {"1": ["a", "c"], "2": ["bb"]}"#,
    ),
    form(
        "has",
        "has(a.b)",
        &["(field) -> bool"],
        "Whether there is such a field, and it is not null.",
        r#"has({"a": 1}.a) && !has({"a": 1}.b)"#,
    )
    .carries(Carries::Nothing),
    form(
        "map",
        "xs.map(x, value)",
        &[
            "(list<T>, T => U) -> list<U>",
            "(map<T>, string => U) -> list<U>",
        ],
        "A value for each element, or each key.",
        "[1, 2].map(x, x * x) == [1, 4]",
    )
    .length(Length::NoLonger),
    form(
        "map",
        "xs.map(x, condition, value)",
        &["(list<T>, T => bool, T => U) -> list<U>"],
        "A value for each element for which the condition holds.",
        "[1, 2, 3].map(x, x > 1, x * x) == [4, 9]",
    )
    .length(Length::NoLonger),
    form(
        "optFlatMap",
        "o.optFlatMap(x, optional)",
        &["(optional<T>, T => optional<U>) -> optional<U>"],
        "The optional that is made of what this one holds; none where it holds nothing.",
        "[[1]].first().optFlatMap(x, x.first()).orValue(0) == 1",
    ),
    form(
        "optMap",
        "o.optMap(x, value)",
        &["(optional<T>, T => U) -> optional<U>"],
        "An optional with a value that is made of what this one holds; none where it holds nothing.",
        "[1].first().optMap(x, x + 1).orValue(0) == 2",
    ),
    form(
        "sort_by",
        "xs.sort_by(x, key)",
        &["(list<T>, T => K) -> list<T>"],
        "The elements from the least key to the greatest; of those with equal keys the first stays first.",
        r#"["bb", "a", "c"].sort_by(x, size(x)) == ["a", "c", "bb"]"#,
    )
    .carries(Carries::Elements)
    .length(Length::NoLonger),
    form(
        "to_map",
        "xs.to_map(x, key, value)",
        &["(list<T>, T => K, T => U) -> map<U>"],
        "A map with an entry for each element; keys become text, and the last of equal ones counts.",
        r#"["a", "bb"].to_map(x, x, size(x)) == {"a": 1, "bb": 2}"#,
    ),
    form(
        "transformList",
        "xs.transformList(i, x, value)",
        &[
            "(list<T>, (int, T) => U) -> list<U>",
            "(map<T>, (string, T) => U) -> list<U>",
        ],
        "A value for each position and element, or each key and value.",
        "[5, 6].transformList(i, x, i + x) == [5, 7]",
    )
    .length(Length::NoLonger),
    form(
        "transformList",
        "xs.transformList(i, x, condition, value)",
        &[
            "(list<T>, (int, T) => bool, (int, T) => U) -> list<U>",
            "(map<T>, (string, T) => bool, (string, T) => U) -> list<U>",
        ],
        "The same where the condition holds.",
        "[5, 6].transformList(i, x, i > 0, i + x) == [7]",
    )
    .length(Length::NoLonger),
    form(
        "transformMap",
        "m.transformMap(k, v, value)",
        &["(map<T>, (string, T) => U) -> map<U>"],
        "The map with a new value for each key.",
        r#"{"a": 1}.transformMap(k, v, v + 1) == {"a": 2}"#,
    ),
    form(
        "transformMap",
        "m.transformMap(k, v, condition, value)",
        &["(map<T>, (string, T) => bool, (string, T) => U) -> map<U>"],
        "The same, of the entries for which the condition holds alone.",
        r#"{"a": 1, "b": 2}.transformMap(k, v, v > 1, v + 1) == {"b": 3}"#,
    ),
];
