//! Mistakes in expressions and in blocks of values.

use crate::base::foreign::expression;
use crate::base::foreign::text::{self as composed, balanced, split};
use crate::diag::Diagnostic;

use super::super::expr::MAKERS;
use super::super::grammar::Rule;
use super::super::message;
use super::{Place, first_word, innermost_bracket, innermost_open, last_word};

/// `set { n += 1 }`, `set { n =: 1 }`
pub fn assigning_sign(place: &Place) -> Option<Diagnostic> {
    if !(place.tried(Rule::colon) && place.tried(Rule::assign)) {
        return None;
    }
    let name = place.last_word();
    if let Some(sign) = ["+=", "-=", "*=", "/=", "++", "--", "||=", "&&="]
        .into_iter()
        .find(|sign| place.rest.starts_with(sign))
    {
        let at = place.at(0, sign.len());
        let operator = sign.get(..1).unwrap_or("+");
        let behind = place.rest.get(sign.len()..)?;
        let value = match sign {
            "++" | "--" => "1".to_owned(),
            _ => expression::first(behind, place.types).map_or("..".to_owned(), |(value, _)| value),
        };
        let found = place.error_at(at, format!("expected `:` after `{name}`, found `{sign}`"));
        return Some(
            found
                .help(format!("write `{name}: state.{name} {operator} {value}`, or where a reducer such as `add` puts it to the rest, `{name}: {value}`")),
        );
    }
    let sign = ["=:", "= :", ": ="]
        .into_iter()
        .find(|sign| place.rest.starts_with(sign))?;
    let at = place.at(0, sign.len());
    Some(place.instead(
        at,
        format!("expected `:` or `:=` after `{name}`, found `{sign}`"),
        ":=",
    ))
}

/// `Doc(id: 1)`, `f(a: 1)`, `f(a=1)`, `@len(min=1)`
pub fn named_in_call(place: &Place) -> Option<Diagnostic> {
    let sign = match place.rest {
        rest if rest.starts_with(':') => ":",
        rest if rest.starts_with('=') && !rest.starts_with("==") => "=",
        _ => return None,
    };
    let (open, '(') = innermost_bracket(place.before)? else {
        return None;
    };
    let argument = place.last_word();
    let head = place.before.get(..open)?;
    let word = last_word(head);
    // `xs.exists(x, x = 1)` compares.
    let first = place.before.strip_suffix(argument)?.trim_ascii_end();
    let compares =
        sign == "=" && (!first.ends_with(['(', ',']) || super::expression::MACROS.contains(&word));
    if word.is_empty() || compares || !place.after_operand() {
        return None;
    }
    let at = place.before_at(head.len() - word.len(), head.len());
    let is_attribute = head.strip_suffix(word)?.ends_with('@');
    // `HumanMessage(content="x")`
    let is_upper = word.starts_with(|c: char| c.is_ascii_uppercase());
    if is_upper {
        return super::expression::foreign_maker(place, word, at).or_else(|| {
            let found = place.error_at(
                at,
                format!("a record such as `{word}` stands in braces, found `(`"),
            );
            Some(place.in_whole(found.help(format!("write `{word} {{ {argument}: .. }}`"))))
        });
    }
    let inside = place.text.get(open + 1..)?;
    let values = balanced(inside, ')')
        .and_then(|end| inside.get(..end))
        .map(split);
    let values: Vec<&str> = values
        .into_iter()
        .flatten()
        .map(|arg| unnamed(arg, sign))
        .collect();
    let word = match is_attribute {
        true => format!("@{word}"),
        false => word.to_owned(),
    };
    let meant = match (word.as_str(), values.as_slice()) {
        ("@len", [_]) => "@len(LEAST, MOST)".to_owned(),
        (_, []) => format!("{word}(..)"),
        (word, values) => format!("{word}({})", values.join(", ")),
    };
    let found = place.error(match MAKERS.contains(&word.as_str()) {
        true => format!("expected `:` after `{argument}`, found `{sign}`"),
        false => format!("arguments of `{word}` have no names, found `{argument}{sign}`"),
    });
    Some(place.in_whole(found.help(format!("write the values alone: `{meant}`"))))
}

/// An argument without its name.
fn unnamed<'a>(arg: &'a str, sign: &str) -> &'a str {
    let parts = arg
        .split_once(sign)
        .filter(|(name, _)| first_word(name) == name.trim_ascii());
    parts.map_or(arg, |(_, value)| value.trim_ascii())
}

/// `message { role: "tool", content: x, tool_call_id: id }`
pub fn message_literal(place: &Place) -> Option<Diagnostic> {
    if !place.rest.starts_with('{') || place.last_word() != "message" || !place.after_operand() {
        return None;
    }
    let inside = place.rest.get(1..)?;
    let end = balanced(inside, '}')?;
    let entries = split(inside.get(..end)?);
    let entry = |key: &str| {
        entries.iter().find_map(|entry| {
            let (own, value) = entry.split_once(':')?;
            (own.trim_ascii().trim_matches(['"', '\'']) == key).then(|| value.trim_ascii())
        })
    };
    let content = entry("content").unwrap_or("\"..\"");
    let name = entry("name").map_or(String::new(), |name| format!(", name: {name}"));
    let role = entry("role").unwrap_or_default();
    let meant = match role.trim_matches(['"', '\'']) {
        maker @ ("user" | "assistant" | "system") => format!("{maker}({content}{name})"),
        "tool" => {
            let id = entry("tool_call_id").unwrap_or("call_id");
            format!("tool({content}, {id}{name})")
        }
        _ => String::new(),
    };
    let at = place.before_at(
        place.before.len() - "message".len(),
        place.offset() + 1 + end + 1,
    );
    let found = place.error_at(at, MESSAGES);
    Some(match meant.as_str() {
        "" => found
            .help("write `user(text)`, `assistant(text)`, `system(text)` or `tool(text, call_id)`"),
        meant => found.help(format!("write `{meant}`")).fix(at, meant),
    })
}

/// What is said of a message that is written as a record.
pub const MESSAGES: &str = "messages are made by functions";

/// `x "a"`, `x 1`: two values side by side.
pub fn missing_operator(place: &Place) -> Option<Diagnostic> {
    let begins = place
        .rest
        .starts_with(|c: char| matches!(c, '"' | '\'') || c.is_ascii_digit());
    (place.after_operand() && begins && innermost_open(place.before).is_none()).then(|| {
        let found = message::found(place.rest);
        let path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let start = place.before.trim_end_matches(path).len();
        let between = match place.before.get(start..).unwrap_or("") {
            "" => format!("expected an operator before {found}"),
            path => format!("expected an operator between `{path}` and {found}"),
        };
        place.error(between).help("join texts by `+`")
    })
}

/// `ask f"Deploy {state.app}"`, `prompt "Of " + state.task`, `prompt "Of {}".format(x)`, `system state.task`: what is a template.
pub fn expression_for_template(place: &Place) -> Option<Diagnostic> {
    let word = first_word(place.text);
    if !matches!(word, "ask" | "prompt" | "system") {
        return None;
    }
    let written = place.text.get(word.len()..)?.trim_ascii_start();
    let start = place.text.len() - written.len();
    if let Some(help) = text_elsewhere(word, written) {
        let found = place.error("a text is expected here, no expression");
        return Some(found.help(help));
    }
    let sign = match place.rest.chars().next()? {
        '"' | '\'' if written.starts_with(['f', 'F']) => "`f\"..\"` is no text",
        '+' => "nothing is added to a text here",
        '`' => "a text stands in `\"`, found a backtick",
        '.' | '%' | '(' | '[' => "a text is expected here, no expression",
        _ => return None,
    };
    let read = composed::read(written);
    let at = place.before_at(start, start + read.as_ref().map_or(0, |read| read.length));
    let read = read.filter(|read| place.offset() <= start + read.length);
    let types = place.types;
    Some(
        match read.and_then(|read| Some((read.template(types)?, read))) {
            Some((template, read)) => {
                let found = place.error(sign);
                match template.contains('\n') {
                true => found.help(format!(
                    "the text of `{word}` is a template: write `{{{{ {} }}}}` in it for a value",
                    read.value(types).unwrap_or_else(|| "x".to_owned())
                )),
                false => found.help(format!(
                    "the text of `{word}` is a template: `{word} {template}`"
                )),
            }
            .fix(at, template)
            }
            None => place.error(sign).help(format!(
                "the text of `{word}` is a template, in which a value stands as `{{{{ state.x }}}}`"
            )),
        },
    )
}

/// `open("p.txt").read()`, `file("p.txt")`, `PROMPT.format(q=x)`: texts that stand in a file, or in an item of their own.
fn text_elsewhere(word: &str, written: &str) -> Option<String> {
    let called = first_word(written);
    let behind = written.get(called.len()..)?;
    if ["file", "open", "Path", "read_file", "load_prompt"].contains(&called) {
        let path = behind.strip_prefix("(\"")?.split('"').next()?;
        return Some(format!("write `{word} file \"{path}\"`"));
    }
    let args = behind
        .strip_prefix(".format(")
        .filter(|_| !called.is_empty())?;
    let args: Vec<_> = split(args.get(..balanced(args, ')')?)?)
        .into_iter()
        .map(|arg| arg.split_once('='))
        .collect::<Option<_>>()?;
    let all =
        |one: fn(&(&str, &str)) -> String| args.iter().map(one).collect::<Vec<_>>().join(", ");
    let declared = all(|(name, _)| format!("{name}: string"));
    let given = all(|(name, value)| format!("{name}: {value}"));
    Some(format!(
        "declare it beside the graphs, `prompt {called}({declared}) \"..\"`, and write `{word} {called}({given})`"
    ))
}

/// `a <> b`, `x++`, `a eq b`.
pub fn foreign_operator(place: &Place) -> Option<Diagnostic> {
    let rest = place.rest;
    let at = |length: usize| place.at(0, length);
    let operator = |sign: &str, help: &str| {
        let found = place.error_at(at(sign.len()), format!("`{sign}` is no operator"));
        Some(found.help(help))
    };
    if place.before.ends_with('<') && rest.starts_with('>') {
        return operator(">", "write `!=`");
    }
    let ended = rest.get(1..).is_none_or(|more| {
        more.trim_ascii_start().is_empty()
            || more
                .trim_start_matches(' ')
                .starts_with([',', '}', ')', '\n'])
    });
    if let Some(sign) = ["+", "-"].into_iter().find(|sign| rest.starts_with(sign))
        && place.before.ends_with(sign)
        && ended
    {
        let start = place.before.len() - 1;
        let before = place.before.get(..start)?.trim_ascii_end();
        let path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let value = before.get(before.trim_end_matches(path).len()..)?;
        let at = place.before_at(start, place.offset() + 1);
        let found = place.error_at(at, format!("`{sign}{sign}` is no operator"));
        return Some(
            found
                .help(format!("write `{value} {sign} 1`"))
                .fix(at, format!(" {sign} 1")),
        );
    }
    let word = place.first_word();
    let meant = WORDS.iter().find(|(own, _)| *own == word);
    let (_, meant) = meant.filter(|_| place.after_operand())?;
    let found = place.error(format!("`{word}` is no operator"));
    Some(found.help(format!("write `{meant}`")))
}

/// Words that stand for operators elsewhere.
const WORDS: [(&str, &str); 13] = [
    ("ne", "!="),
    ("xor", "!="),
    ("eq", "=="),
    ("gt", ">"),
    ("lt", "<"),
    ("ge", ">="),
    ("le", "<="),
    ("contains", "x.contains(y)"),
    ("startswith", "x.startsWith(y)"),
    ("matches", "x.matches(\"..\")"),
    ("like", "x.matches(\"..\")"),
    ("mod", "%"),
    ("div", "/"),
];
