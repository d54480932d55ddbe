//! Functions of texts by position, in characters (Unicode code points).

use crate::value::Value;

use super::args::{self, Computed};
use super::{Carries, Row, Rule};

pub(super) const FUNCTIONS: &[Row] = &[
    Row::method(
        "substring",
        &["(string, int) -> string", "(string, int, int) -> string"],
        substring,
        "The characters from the first position up to, not including, the second or the end.",
        r#""tacocat".substring(0, 4) == "taco""#,
    )
    .rule(Rule::Part),
    Row::method(
        "truncate",
        &["(string, int) -> string", "(string, int, string) -> string"],
        truncate,
        "The first characters, as many as the number says. A text that is longer ends in the third argument, which counts.",
        r#""a long text".truncate(7, "...") == "a lo...""#,
    ),
    Row::method(
        "charAt",
        &["(string, int) -> string"],
        char_at,
        "The character at a position; empty at the end.",
        r#""hello".charAt(4) == "o""#,
    ),
    Row::method(
        "indexOf",
        FIND,
        |args| find(args, true),
        "The position of the first occurrence, at or after the given one; -1 where there is none.",
        r#""hello mellow".indexOf("ello", 2) == 7"#,
    )
    .carries(Carries::Nothing),
    Row::method(
        "lastIndexOf",
        FIND,
        |args| find(args, false),
        "The position of the last occurrence, at or before the given one; -1 where there is none.",
        r#""hello mellow".lastIndexOf("ello") == 7"#,
    )
    .carries(Carries::Nothing),
];

const FIND: &[&str] = &["(string, string) -> int", "(string, string, int) -> int"];

/// The byte at which a character begins, or the end; the error is that the text is shorter.
fn offset(text: &str, position: usize) -> Result<usize, String> {
    let mut offsets = text.char_indices().map(|(offset, _)| offset);
    match offsets.by_ref().nth(position) {
        Some(offset) => Ok(offset),
        None if text.chars().count() == position => Ok(text.len()),
        None => Err(format!(
            "position {position} is out of range: the text has {} characters",
            text.chars().count()
        )),
    }
}

fn substring(args: &[Value]) -> Computed {
    let text = args::text(args, 0)?;
    let start = offset(text, args::count(args, 1)?)?;
    let end = match args.len() {
        2 => text.len(),
        _ => offset(text, args::count(args, 2)?)?,
    };
    text.get(start..end)
        .map(Value::from)
        .ok_or_else(|| "the end is before the start".into())
}

fn truncate(args: &[Value]) -> Computed {
    let text = args::text(args, 0)?;
    let most = args::count(args, 1)?;
    if offset(text, most).is_ok_and(|end| end == text.len()) || text.chars().count() < most {
        return Ok(Value::String(text.clone()));
    }
    let ending = match args.len() {
        2 => "",
        _ => args::text(args, 2)?,
    };
    let ending: String = ending.chars().take(most).collect();
    let kept = most - ending.chars().count();
    let mut cut: String = text.chars().take(kept).collect();
    cut.push_str(&ending);
    Ok(cut.into())
}

fn char_at(args: &[Value]) -> Computed {
    let text = args::text(args, 0)?;
    let start = offset(text, args::count(args, 1)?)?;
    let rest = text.get(start..).unwrap_or_default();
    Ok(rest.chars().take(1).collect::<String>().into())
}

fn find(args: &[Value], first: bool) -> Computed {
    let (text, wanted) = (args::text(args, 0)?, args::text(args, 1)?);
    let from = match args.len() {
        2 => None,
        _ => Some(offset(text, args::count(args, 2)?)?),
    };
    let found = if first {
        let from = from.unwrap_or(0);
        text.get(from..)
            .and_then(|rest| rest.find(&**wanted))
            .map(|at| at + from)
    } else {
        let end = from.map_or(text.len(), |from| (from + wanted.len()).min(text.len()));
        // What ends behind the last whole character before that begins too late.
        text.get(..text.floor_char_boundary(end))
            .and_then(|head| head.rfind(&**wanted))
    };
    let before = found.and_then(|at| text.get(..at));
    let position = before.map_or(-1, |before| {
        i64::try_from(before.chars().count()).unwrap_or(i64::MAX)
    });
    Ok(Value::Int(position))
}
