//! Functions of lists whose elements have an order or can be added: `sort min max sum`.

use std::cmp::Ordering;

use crate::value::Value;

use super::args::{self, Computed};
use super::{Carries, Length, Row, Rule};

pub(super) const FUNCTIONS: &[Row] = &[
    Row::method(
        "sort",
        &["(list<T>) -> list<T>"],
        sort_list,
        "The elements from least to greatest: numbers, texts, timestamps, durations or bools.",
        "[3, 1, 2].sort() == [1, 2, 3]",
    )
    .carries(Carries::Elements)
    .length(Length::NoLonger)
    .rule(Rule::Ordered),
    Row::method(
        "min",
        &["(list<T>) -> T"],
        |args| extreme(args, Ordering::Less),
        "The least element. The list may not be empty.",
        "[3, 1, 2].min() == 1",
    )
    .carries(Carries::Element)
    .rule(Rule::Ordered),
    Row::method(
        "max",
        &["(list<T>) -> T"],
        |args| extreme(args, Ordering::Greater),
        "The greatest element. The list may not be empty.",
        "[3, 1, 2].max() == 3",
    )
    .carries(Carries::Element)
    .rule(Rule::Ordered),
    Row::method(
        "sum",
        &[
            "(list<int>) -> int",
            "(list<int>, int) -> int",
            "(list<int>, float) -> float",
            "(list<float>, float) -> float",
            "(list<uint>, uint) -> uint",
            "(list<duration>, duration) -> duration",
        ],
        sum,
        "The elements added up, to the second value where one is given: it is what an empty list gives. `int` alone needs none, \
         and begins at 0.",
        "[1, 2, 3].sum() == 6 && [1.5, 2.0].sum(0.0) == 3.5",
    )
    .carries(Carries::Number)
    .rule(Rule::Begins),
];

/// Sorts by a key of each item, keeping the order of equal ones. The error says which keys have no
/// order between them.
pub(in crate::expr) fn sort<T>(
    mut items: Vec<T>,
    key: impl Fn(&T) -> &Value,
) -> Result<Vec<T>, String> {
    if let Some(first) = items.first().map(&key) {
        for item in &items {
            ordered(first, key(item))?;
        }
    }
    items.sort_by(|a, b| key(a).compare_any(key(b)));
    Ok(items)
}

/// The order of two values; an error where they have none.
pub(super) fn ordered(a: &Value, b: &Value) -> Result<Ordering, String> {
    a.compare(b).ok_or_else(|| match (a.kind(), b.kind()) {
        ("float", _) | (_, "float") if a.is_number() && b.is_number() => "NaN has no order".into(),
        (a, b) => format!("`{a}` and `{b}` have no order"),
    })
}

fn sort_list(args: &[Value]) -> Computed {
    let items: Vec<Value> = args::list(args, 0)?.iter().cloned().collect();
    Ok(sort(items, |item| item)?.into())
}

/// Of equal elements the first.
fn extreme(args: &[Value], wanted: Ordering) -> Computed {
    let mut items = args::list(args, 0)?.iter();
    let Some(mut best) = items.next() else {
        return Err("the list is empty".into());
    };
    ordered(best, best)?;
    for item in items {
        if ordered(item, best)? == wanted {
            best = item;
        }
    }
    Ok(best.clone())
}

fn sum(args: &[Value]) -> Computed {
    let start = args.get(1).cloned().unwrap_or(Value::Int(0));
    if !start.is_number() && !matches!(start, Value::Duration(_)) {
        return Err(args::expected("a number or a duration", &start));
    }
    let mut items = args::list(args, 0)?.iter();
    items.try_fold(start, |sum, item| match (&sum, item) {
        (Value::Int(a), Value::Int(b)) => a
            .checked_add(*b)
            .map(Value::Int)
            .ok_or_else(|| "`int` overflow".to_owned()),
        (Value::Uint(a), Value::Uint(b)) => a
            .checked_add(*b)
            .map(Value::Uint)
            .ok_or_else(|| "`uint` overflow".to_owned()),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a + b)),
        // JSON doesn't tell 1 from 1.0, so a list of floats read from it may hold both.
        (Value::Float(a), Value::Int(b)) => Ok(Value::Float(a + *b as f64)),
        (Value::Duration(a), Value::Duration(b)) => a
            .checked_add(*b)
            .map(Value::Duration)
            .ok_or_else(|| "`duration` overflow".to_owned()),
        (Value::Int(_), other) if args.len() == 1 => {
            Err(args::expected("a list of whole numbers", other) + "; of others write `sum(0.0)`")
        }
        (a, b) => Err(format!("`{}` and `{}` can't be added", a.kind(), b.kind())),
    })
}
