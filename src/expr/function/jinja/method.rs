//! Methods of texts, lists and maps that people know from Python. Where the language has one of that name, this one counts.

use crate::value::{Key, Value};

use super::super::args::{self, Computed};
use super::super::{Compute, Row};
use super::list::{elements, pairs};
use super::print::printed;
use super::text::{capitalized, replaced, split, text, texts};

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
    method(".keys", &["(map<K>) -> list<string>"], |args| {
        Ok(Value::List(
            args::map(args, 0)?.keys().map(Key::value).collect(),
        ))
    }),
    method(".values", &["(map<T>) -> list<T>"], |args| {
        Ok(Value::List(args::map(args, 0)?.values().cloned().collect()))
    }),
    method(".count", &["(list<K>, K) -> int"], |args| {
        let found = args::list(args, 0)?
            .iter()
            .filter(|item| Some(*item) == args.get(1));
        Ok(Value::Int(found.count() as i64))
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
    method(".count", &["(string, string) -> int"], |args| {
        Ok(Value::Int(
            text(args, 0)?.matches(&**args::text(args, 1)?).count() as i64,
        ))
    }),
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
    method(".join", &["(string, list<K>) -> string"], |args| {
        let items = elements(args::any(args, 1)?)?;
        let parts: Vec<_> = items.iter().map(printed).collect::<Result<_, _>>()?;
        let between = text(args, 0)?;
        let length = parts.iter().map(|part| part.len() + between.len()).sum();
        super::list::bounded(length)?;
        Ok(parts.join(&*between).into())
    }),
    method(".lower", TEXT, |args| {
        Ok(text(args, 0)?.to_lowercase().into())
    }),
    method(".lstrip", STRIP, |args| strip(args, true, false)),
    method(
        ".replace",
        &["(string, string, string) -> string"],
        |args| replaced(&text(args, 0)?, args::text(args, 1)?, args::text(args, 2)?),
    ),
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
    method(".title", TEXT, |args| {
        let (mut out, mut begins) = (String::new(), true);
        for c in text(args, 0)?.chars() {
            match begins {
                true => out.extend(c.to_uppercase()),
                false => out.extend(c.to_lowercase()),
            }
            begins = !c.is_alphanumeric();
        }
        Ok(out.into())
    }),
    method(".upper", TEXT, |args| {
        Ok(text(args, 0)?.to_uppercase().into())
    }),
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
