//! Filters that are given the elements and, beside them, a key of each: a field, what a filter makes of it, or whether a test
//! holds. Without one the element is its own key.

use std::cmp::Ordering;

use crate::value::{List, Value};

use super::super::args::{self, Computed};
use super::super::order::ordered;
use super::super::{Row, Rule};
use super::filter;
use super::list::{bounded, flag, folded, is_true, text_or};
use super::operator::whole;
use super::print::printed;

pub(super) const FILTERS: &[Row] = &[
    filter(
        "|groupby",
        &["(list<T>, K, bool?) -> list<list<json>>"],
        groupby,
        "Values of a field with the elements that have it: `{% for k, xs in .. %}`.",
    )
    .named(&["attribute", "*", "default", "case_sensitive"]),
    filter(
        "|join",
        &["(list<T>, K, string?) -> string"],
        |args| {
            let [_, keys] = keyed(args)?;
            joined(keys, text_or(args, 2, "")?)
        },
        "One text of all elements, with the first value between them.",
    )
    .named(&["d", "attribute"]),
    filter(
        "|map",
        &["(list<T>, U) -> list<U>"],
        |args| {
            let [_, keys] = keyed(args)?;
            Ok(Value::List(keys.clone()))
        },
        "A field of each element, `attribute=\"n\"`, or what a filter makes of each, `\"upper\"`.",
    )
    .named(&["..", "attribute", "default"]),
    filter(
        "|max",
        BEST,
        |args| best(args, Ordering::is_ge),
        "The greatest element.",
    )
    .rule(Rule::Ordered)
    .named(&["*", "attribute", "case_sensitive"]),
    filter(
        "|min",
        BEST,
        |args| best(args, Ordering::is_lt),
        "The least element.",
    )
    .rule(Rule::Ordered)
    .named(&["*", "attribute", "case_sensitive"]),
    filter(
        "|reject",
        PICKED,
        |args| picked(args, false),
        "The elements for which a test fails.",
    )
    .named(&[".."]),
    filter(
        "|rejectattr",
        PICKED,
        |args| picked(args, false),
        "The same, of a field.",
    )
    .named(&[".."]),
    filter(
        "|select",
        PICKED,
        |args| picked(args, true),
        "The elements for which a test holds.",
    )
    .named(&[".."]),
    filter(
        "|selectattr",
        PICKED,
        |args| picked(args, true),
        "The same, of a field.",
    )
    .named(&[".."]),
    filter(
        "|sort",
        &["(list<T>, K, bool?, bool?) -> list<T>"],
        |args| {
            let mut all = in_order(args)?;
            let reverse = flag(args, 3);
            all.sort_by(|(a, _), (b, _)| match reverse {
                true => b.compare_any(a),
                false => a.compare_any(b),
            });
            Ok(items(all.into_iter().map(|(_, item)| item)))
        },
        "The elements in order, or in that of a field: `attribute=\"n\"`.",
    )
    .rule(Rule::Ordered)
    .named(&["*", "attribute", "case_sensitive", "reverse"]),
    filter(
        "|sum",
        &[
            "(list<T>, int, int?) -> int",
            "(list<T>, float, float?) -> float",
            "(list<T>, int | float, int | float?) -> float",
        ],
        sum,
        "The elements, or a field of each, added up, from `start` on.",
    )
    .named(&["attribute", "start"]),
    filter(
        "|unique",
        &["(list<T>, K, bool?) -> list<T>"],
        unique,
        "The elements without repeats.",
    )
    .named(&["*", "attribute", "case_sensitive"]),
];

const BEST: &[&str] = &["(list<T>, K, bool?) -> T?"];
const PICKED: &[&str] = &["(list<T>, K) -> list<T>"];

/// One text of the elements.
pub(super) fn joined(items: &List, between: &str) -> Computed {
    let texts: Vec<_> = items.iter().map(printed).collect::<Result<_, _>>()?;
    let length = texts.iter().map(|text| text.len()).sum::<usize>();
    bounded(length.saturating_add(between.len().saturating_mul(texts.len())))?;
    Ok(texts.join(between).into())
}

fn keyed(args: &[Value]) -> Result<[&List; 2], String> {
    Ok([args::list(args, 0)?, args::list(args, 1)?])
}

/// Each element by its key; texts in small letters unless `exact`.
fn with_keys(args: &[Value], exact: bool) -> Result<Vec<(Value, &Value)>, String> {
    let [items, keys] = keyed(args)?;
    let fold = |key: &Value| if exact { key.clone() } else { folded(key) };
    Ok(keys.iter().map(fold).zip(items.iter()).collect())
}

/// The same of keys that have an order.
fn in_order(args: &[Value]) -> Result<Vec<(Value, &Value)>, String> {
    let all = with_keys(args, flag(args, 2))?;
    let mut keys = all.iter().map(|(key, _)| key).filter(|key| !key.is_null());
    if let Some(first) = keys.next() {
        std::iter::once(first)
            .chain(keys)
            .try_for_each(|key| has_order(first, key))?;
    }
    Ok(all)
}

/// Lists, of several fields, have that of their elements.
fn has_order(a: &Value, b: &Value) -> Result<(), String> {
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => Ok(()),
        (Value::List(a), Value::List(b)) => {
            let mut pairs = a.iter().zip(b.iter());
            pairs.try_for_each(|(a, b)| has_order(a, b))
        }
        _ => ordered(a, b).map(drop),
    }
}

fn items<'a>(all: impl Iterator<Item = &'a Value>) -> Value {
    Value::List(all.cloned().collect())
}

fn groupby(args: &[Value]) -> Computed {
    let [_, keys] = keyed(args)?;
    let mut all: Vec<_> = with_keys(args, flag(args, 2))?
        .into_iter()
        .zip(keys.iter())
        .collect();
    all.sort_by(|((a, _), _), ((b, _), _)| a.compare_any(b));
    let groups = all.chunk_by(|((a, _), _), ((b, _), _)| a.compare_any(b).is_eq());
    let groups = groups.map(|group| {
        // The name is that of the last one, as in Jinja.
        let name = group.last().map_or(Value::Null, |(_, key)| (*key).clone());
        Value::from(vec![name, items(group.iter().map(|((_, item), _)| *item))])
    });
    Ok(groups.collect::<Vec<_>>().into())
}

/// The element whose key takes the place of all others; null of an empty list.
fn best(args: &[Value], replaces: fn(Ordering) -> bool) -> Computed {
    let best = in_order(args)?.into_iter().reduce(|best, next| {
        match replaces(next.0.compare_any(&best.0)) {
            true => next,
            false => best,
        }
    });
    Ok(best.map_or(Value::Null, |(_, item)| item.clone()))
}

fn picked(args: &[Value], wanted: bool) -> Computed {
    let [items, holds] = keyed(args)?;
    let all = items.iter().zip(holds.iter());
    let all = all.filter(|(_, holds)| is_true(holds) == wanted);
    Ok(self::items(all.map(|(item, _)| item)))
}

fn sum(args: &[Value]) -> Computed {
    let [_, keys] = keyed(args)?;
    let start = args.get(2).filter(|start| !start.is_null());
    let mut whole_sum = Some(0_i64);
    let mut float_sum = 0.0;
    for number in start.into_iter().chain(keys.iter()) {
        match (number, whole(number)) {
            (_, Some(int)) => {
                let sum = |sum: i64| sum.checked_add(int).ok_or("the sum is too large");
                whole_sum = whole_sum.map(sum).transpose()?;
                float_sum += int as f64;
            }
            (Value::Float(float), None) => {
                whole_sum = None;
                float_sum += float;
            }
            (other, None) => {
                return Err(format!("only numbers have a sum, found `{}`", other.kind()));
            }
        }
    }
    Ok(whole_sum.map_or(Value::Float(float_sum), Value::Int))
}

fn unique(args: &[Value]) -> Computed {
    let mut all: Vec<_> = with_keys(args, flag(args, 2))?
        .into_iter()
        .enumerate()
        .collect();
    all.sort_by(|(_, (a, _)), (_, (b, _))| a.compare_any(b));
    all.dedup_by(|(_, (later, _)), (_, (earlier, _))| later.compare_any(earlier).is_eq());
    all.sort_by_key(|(at, _)| *at);
    Ok(items(all.into_iter().map(|(_, (_, item))| item)))
}
