//! Methods of texts, lists and maps that people know from Python. Where the language has one of that name, this one counts.

use crate::value::{Key, Value};

use super::super::args::{self, Computed};
use super::super::{Compute, Row};
use super::keyed::joined;
use super::list::{elements, pairs, text_or};
use super::text::{capitalized, split, text, texts, title};

const TEXT: &[&str] = &["(string) -> string"];
const ASK: &[&str] = &["(string, string) -> bool"];
const STRIP: &[&str] = &["(string) -> string", "(string, string) -> string"];

pub(super) const METHODS: &[Row] = &[
    method(
        ".get",
        &[
            "(map<T>, string) -> T?",
            "(map<T>, string, T) -> T",
            "(map<T>, string, K) -> json",
        ],
        |args| {
            let found =
                Key::of(args::any(args, 1)?).and_then(|key| args::map(args, 0).ok()?.get_key(&key));
            Ok(found.or(args.get(2)).cloned().unwrap_or_default())
        },
    ),
    method(".items", &["(map<K>) -> list<list<json>>"], |args| {
        Ok(pairs(args::map(args, 0)?))
    }),
    method(".index", &["(list<K>, K) -> int"], |args| {
        let found = args::list(args, 0)?
            .iter()
            .position(|item| Some(item) == args.get(1));
        let found = found.map(|at| Value::Int(at as i64));
        found.ok_or_else(|| "the list has no such element".to_owned())
    }),
    method(".capitalize", TEXT, |args| {
        Ok(capitalized(&text(args, 0)?).into())
    }),
    method(
        ".count",
        &["(list<K>, K) -> int", "(string, string) -> int"],
        |args| {
            let count = match args::any(args, 0)? {
                Value::List(list) => list.iter().filter(|item| args.get(1) == Some(item)).count(),
                _ => text(args, 0)?.matches(&**args::text(args, 1)?).count(),
            };
            Ok(Value::Int(count as i64))
        },
    ),
    method(".endswith", ASK, |args| {
        Ok(text(args, 0)?.ends_with(&**args::text(args, 1)?).into())
    }),
    method(".find", &["(string, string) -> int"], |args| {
        let of = text(args, 0)?;
        let found = of.split_once(&**args::text(args, 1)?);
        Ok(Value::Int(
            found.map_or(-1, |(before, _)| before.chars().count() as i64),
        ))
    }),
    method(
        ".join",
        &[
            "(string, list<K>) -> string",
            "(list<K>) -> string",
            "(list<K>, string) -> string",
        ],
        |args| match args::any(args, 0)? {
            Value::List(items) => joined(items, text_or(args, 1, "")?),
            _ => joined(&elements(args::any(args, 1)?)?, &text(args, 0)?),
        },
    ),
    method(".lstrip", STRIP, |args| strip(args, true, false)),
    method(".rstrip", STRIP, |args| strip(args, false, true)),
    method(
        ".split",
        &[
            "(string) -> list<string>",
            "(string, string) -> list<string>",
        ],
        |args| split(&text(args, 0)?, args.get(1), usize::MAX),
    ),
    method(".splitlines", &["(string) -> list<string>"], |args| {
        Ok(texts(text(args, 0)?.lines()))
    }),
    method(".startswith", ASK, |args| {
        Ok(text(args, 0)?.starts_with(&**args::text(args, 1)?).into())
    }),
    method(".strip", STRIP, |args| strip(args, true, true)),
    method(".title", TEXT, title),
];

const fn method(name: &'static str, signatures: &'static [&'static str], compute: Compute) -> Row {
    Row::method(name, signatures, compute, "", "")
}

/// Takes characters off the ends: those of the argument, white space without one.
fn strip(args: &[Value], start: bool, end: bool) -> Computed {
    let of = text(args, 0)?;
    let signs = args.get(1).and_then(Value::as_str);
    let taken = |c: char| signs.map_or_else(|| c.is_whitespace(), |signs| signs.contains(c));
    let of = if start {
        of.trim_start_matches(taken)
    } else {
        &of
    };
    Ok(if end { of.trim_end_matches(taken) } else { of }.into())
}
