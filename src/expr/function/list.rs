//! Functions of lists.

use crate::value::{List, Map, Value};

use super::args::{self, Computed};
use super::optional::present;
use super::{Carries, Length, Row, Rule};

/// Longest list that `range` makes.
const MAX_RANGE: usize = 1_000_000;

pub(super) const FUNCTIONS: &[Row] = &[
    Row::method(
        "first",
        &["(list<T>) -> optional<T>"],
        first,
        "The first element; none of an empty list.",
        "[1, 2].first().orValue(0) == 1",
    )
    .carries(Carries::Element)
    .quick(),
    Row::method(
        "last",
        &["(list<T>) -> optional<T>"],
        last,
        "The last element; none of an empty list.",
        "[1, 2].last().orValue(0) == 2",
    )
    .carries(Carries::Element)
    .quick(),
    Row::method(
        "unique",
        &["(list<T>) -> list<T>"],
        unique,
        "The elements without repeats, in the order of their first occurrence.",
        "[2, 1, 2].unique() == [2, 1]",
    )
    .carries(Carries::Elements)
    .length(Length::NoLonger),
    Row::method(
        "distinct",
        &["(list<T>) -> list<T>"],
        unique,
        "CEL's name of `unique`.",
        "[2, 1, 2].distinct() == [2, 1]",
    )
    .carries(Carries::Elements)
    .length(Length::NoLonger),
    Row::method(
        "flatten",
        &["(list<list<T>>) -> list<T>", "(list<T>, int) -> list<json>"],
        flatten,
        "The elements of the lists inside, one level deep or as many as the number says.",
        "[[1], [2, 3]].flatten() == [1, 2, 3]",
    )
    .carries(Carries::Inner),
    Row::method(
        "enumerate",
        &["(list<T>) -> list<map<json>>"],
        enumerate,
        r#"Each element with its position from 0, as `{"index": .., "value": ..}`."#,
        r#"["a"].enumerate() == [{"index": 0, "value": "a"}]"#,
    )
    .carries(Carries::Own)
    .length(Length::NoLonger)
    .rule(Rule::Numbered),
    Row::method(
        "reverse",
        &["(list<T>) -> list<T>", "(string) -> string"],
        reverse,
        "The elements, or the characters of a text, from last to first.",
        "[1, 2, 3].reverse() == [3, 2, 1]",
    )
    .carries(Carries::Elements)
    .length(Length::NoLonger),
    Row::method(
        "slice",
        &[
            "(list<T>, int) -> list<T>",
            "(list<T>, int, int) -> list<T>",
        ],
        slice,
        "The elements from the first position up to, not including, the second or the end; fewer where the list is shorter.",
        "[1, 2, 3, 4].slice(1, 3) == [2, 3]",
    )
    .carries(Carries::Elements)
    .length(Length::Between)
    .rule(Rule::Part),
    Row::global(
        "range",
        &["(int) -> list<int>"],
        range,
        "The numbers from 0 up to, not including, the given one.",
        "range(3) == [0, 1, 2]",
    )
    .carries(Carries::Number),
    Row::global(
        "lists.range",
        &["(int) -> list<int>"],
        range,
        "CEL's name of `range`.",
        "lists.range(3) == [0, 1, 2]",
    )
    .carries(Carries::Number),
];

fn first(args: &[Value]) -> Computed {
    Ok(present(args::list(args, 0)?.first()))
}

fn last(args: &[Value]) -> Computed {
    Ok(present(args::list(args, 0)?.last()))
}

/// By sorting, since values have an order but no hash.
fn unique(args: &[Value]) -> Computed {
    let list = args::list(args, 0)?;
    let mut sorted: Vec<(usize, &Value)> = list.iter().enumerate().collect();
    sorted.sort_by(|a, b| a.1.compare_any(b.1));
    sorted.dedup_by(|later, earlier| later.1.compare_any(earlier.1).is_eq());
    sorted.sort_by_key(|(index, _)| *index);
    Ok(Value::List(
        sorted.into_iter().map(|(_, value)| value.clone()).collect(),
    ))
}

fn flatten(args: &[Value]) -> Computed {
    let list = args::list(args, 0)?;
    let depth = match args.len() {
        1 => 1,
        _ => args::count(args, 1)?,
    };
    let mut items = Vec::new();
    flatten_into(list, depth, &mut items);
    Ok(items.into())
}

fn flatten_into(list: &List, depth: usize, items: &mut Vec<Value>) {
    for item in list.iter() {
        match item {
            Value::List(inner) if depth > 0 => flatten_into(inner, depth - 1, items),
            other => items.push(other.clone()),
        }
    }
}

fn enumerate(args: &[Value]) -> Computed {
    let list = args::list(args, 0)?;
    let entry = |(index, value): (i64, &Value)| {
        Value::Map(Map::from_iter([
            ("index", Value::Int(index)),
            ("value", value.clone()),
        ]))
    };
    Ok(Value::List((0..).zip(list.iter()).map(entry).collect()))
}

pub(super) fn reverse(args: &[Value]) -> Computed {
    match args::any(args, 0)? {
        Value::List(list) => Ok(Value::List(list.iter().rev().cloned().collect())),
        Value::String(text) => Ok(text.chars().rev().collect::<String>().into()),
        other => Err(args::expected("a list or a text", other)),
    }
}

fn slice(args: &[Value]) -> Computed {
    let list = args::list(args, 0)?;
    let start = args::count(args, 1)?;
    let end = match args.len() {
        2 => list.len(),
        _ => args::count(args, 2)?,
    };
    let count = end.saturating_sub(start);
    Ok(Value::List(
        list.iter().skip(start).take(count).cloned().collect(),
    ))
}

fn range(args: &[Value]) -> Computed {
    let count = args::int(args, 0)?.max(0);
    if usize::try_from(count).is_ok_and(|count| count <= MAX_RANGE) {
        return Ok(Value::List((0..count).map(Value::Int).collect()));
    }
    Err(format!("`{count}` is more than {MAX_RANGE}"))
}
