//! The functions of `std/messages`: the end of a conversation, such that a provider takes it.

use crate::value::{List, Map, Value};

use super::args;
use super::{Carries, Length, Row, message};

pub(super) const FUNCTIONS: &[Row] = &[
    Row::global(
            "keep_last",
            &["(list<message>, int) -> list<message>"],
            |args| {
                let most = args::count(args, 1)?;
                Ok(end(args::list(args, 0)?, |said| most.min(said.len())))
            },
            "The last messages of a conversation, at most so many, behind all of its instructions (`system`), which don't count. What is \
             kept never begins with a tool's reply whose call is gone, and begins with a message of the user where it has one.",
            r#"keep_last([system("be brief"), user("a"), assistant("b"), user("c")], 2) == [system("be brief"), user("c")]"#,
    )
    .carries(Carries::Elements)
    .length(Length::NoLonger)
    .of("std/messages"),
    Row::global(
            "keep_within",
            &["(list<message>, int) -> list<message>"],
            |args| {
                let room = args::count(args, 1)?;
                Ok(end(args::list(args, 0)?, |said| fitting(said, room)))
            },
            "The same by size: as many of the last messages as have together at most so many characters, in their texts, their calls' names and \
             arguments (about four are a token). The newest stays, however long it is.",
            r#"keep_within([user("one"), assistant("two"), user("three"), assistant("four")], 10) == [user("three"), assistant("four")]"#,
    )
    .carries(Carries::Elements)
    .length(Length::NoLonger)
    .of("std/messages"),
];

/// Instructions, and of the rest the last messages, as many as `count` says of it.
fn end(messages: &List, count: impl Fn(&[&Value]) -> usize) -> Value {
    let (kept, said): (Vec<&Value>, Vec<&Value>) = messages.iter().partition(|m| is(m, "system"));
    let last = said.get(said.len() - count(&said)..).unwrap_or_default();
    let asked = last.iter().position(|m| is(m, "user"));
    let begin = asked.or_else(|| last.iter().position(|m| !is(m, "tool")));
    let last = begin
        .and_then(|begin| last.get(begin..))
        .unwrap_or_default();
    let all = kept.into_iter().chain(last.iter().copied());
    Value::List(all.cloned().collect())
}

fn is(message: &Value, role: &str) -> bool {
    message.get("role").and_then(Value::as_str) == Some(role)
}

/// How many messages fit, from the end; one in any case.
fn fitting(said: &[&Value], mut room: usize) -> usize {
    let fits = said.iter().rev().take_while(|said| {
        let size = said.as_map().map_or(0, size);
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    });
    fits.count().max(1).min(said.len())
}

/// Characters of a message's text and of its calls.
fn size(said: &Map) -> usize {
    let calls = said.get("tool_calls").and_then(Value::as_list);
    let calls = calls.into_iter().flat_map(List::iter);
    let of_call = |call: &Value| {
        let name = call.get("name").and_then(Value::as_str).unwrap_or_default();
        let args = call.get("args").map(|args| args.to_json().to_string());
        name.chars().count() + args.map_or(0, |args| args.chars().count())
    };
    message::text(said).chars().count() + calls.map(of_call).sum::<usize>()
}
