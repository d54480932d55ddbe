//! Forms of other languages: their comments, types, imports, records written in place, quotes within quotes.

use crate::base::foreign;
use crate::base::foreign::text::{balanced, split};
use crate::diag::Diagnostic;

use super::super::grammar::Rule;
use super::super::message;
use super::{Place, first_word, last_word};

/// `-- why`
pub fn comment(place: &Place) -> Option<Diagnostic> {
    let behind = place.rest.strip_prefix("--")?;
    (behind.starts_with(' ') && !place.after_operand()).then(|| {
        let at = place.at(0, 2);
        let found = place.error_at(at, "`--` begins no comment");
        found
            .help("a comment begins with `//` and ends with its line")
            .fix(at, "//")
    })
}

/// `list[string]`, `string[]`, `Optional[int]`
pub fn ty(place: &Place) -> Option<Diagnostic> {
    let touches = place.offset() == place.before.len();
    let name = place.before.strip_suffix('?').unwrap_or(place.before);
    let name = last_word(name);
    if !touches || !place.rest.starts_with('[') || name.is_empty() || place.after_operand() {
        return None;
    }
    let optional = place.before.ends_with('?');
    let start = place.before.len() - name.len() - usize::from(optional);
    let head = place.before.get(..start)?.trim_ascii_end();
    let is_type = head.ends_with(['<', ',', '|', ':', '=', '('])
        || head.ends_with("->")
        || matches!(last_word(head), "output" | "expect");
    if !is_type {
        return None;
    }
    let written = place.text.get(start..)?;
    let Some(read) = foreign::ty::read(written).filter(|read| read.length > name.len()) else {
        let found = place.error(format!("`{name}` takes no type in `[]`"));
        return Some(found.help("types of elements stand in `<>`: `list<T>`, `map<T>`"));
    };
    let at = place.before_at(start, start + read.length);
    let shown = written.get(..read.length)?;
    let found = place
        .error_at(at, format!("`{shown}` is no type"))
        .help(format!("write `{}`", read.here));
    Some(match read.certain {
        true => found.fix(at, read.here),
        false => found,
    })
}

/// `list of string`
pub fn list_of(place: &Place) -> Option<Diagnostic> {
    let own = place.last_word();
    let word = first_word(place.rest.strip_prefix("of ")?.trim_ascii_start());
    let fits =
        matches!(own, "list" | "array" | "map") && !word.is_empty() && !place.after_operand();
    fits.then(|| {
        let here = if own == "map" { "map" } else { "list" };
        let found = place.error(format!("expected `<` after `{own}`, found `of`"));
        found.help(format!("write `{here}<{word}>`"))
    })
}

/// `output { a: string }`, `x: list<{ a: string }>`, `type A = { a: string }`
pub fn inline_record(place: &Place) -> Option<Diagnostic> {
    let ty = place.tried(Rule::type_expr) || place.tried(Rule::type_member);
    if !ty || !place.rest.starts_with('{') {
        return None;
    }
    let head = first_word(place.text);
    if head == "type" && place.before.ends_with('=') {
        let name = last_word(place.before.trim_end_matches('=').trim_ascii_end());
        let sign = place.before.len() - 1;
        let gap = place.offset();
        let found = place.error_at(
            place.before_at(sign, sign + 1),
            format!("no `=` stands between type `{name}` and its fields"),
        );
        return Some(
            found
                .help(format!("write `type {name} {{ .. }}`"))
                .fix(place.before_at(sign, gap), ""),
        );
    }
    let fields = record(place.rest).unwrap_or("{ .. }");
    let word = place.last_word();
    let before = place
        .types
        .text
        .get(..place.span.start as usize)
        .unwrap_or("");
    let node = before.rsplit("node ").next().unwrap_or("");
    if word == "output"
        && node
            .split_once(':')
            .is_some_and(|(_, kind)| first_word(kind.trim_ascii_start()) == "subgraph")
    {
        let found = place.error("what a graph gives back is written by `into`, found `output`");
        return Some(found.help(format!("write `into {fields}`")));
    }
    let (after, use_of) = match word {
        "output" | "expect" => (format!("after `{word}`"), format!("`{word} NAME`")),
        _ if place.before.ends_with("->") => ("after `->`".to_owned(), "`-> NAME`".to_owned()),
        _ => {
            let (head, _) = place.before.rsplit_once(':').unwrap_or(("", ""));
            let own = last_word(head.trim_ascii_end());
            match own {
                "" => ("here".to_owned(), "its name here".to_owned()),
                own => (
                    format!("of `{own}`"),
                    format!("its name here, as in `{own}: NAME`"),
                ),
            }
        }
    };
    let found = place.error(format!("expected the name of a type {after}, found `{{`"));
    Some(found.help(format!(
        "declare it beside the graphs, `type NAME {fields}`, and write {use_of}"
    )))
}

/// The short text of a record, braces included, on one line.
fn record(text: &str) -> Option<&str> {
    let end = balanced(text.strip_prefix('{')?, '}')? + 2;
    text.get(..end)
        .filter(|record| end <= 61 && !record.contains('\n'))
}

/// `import * from ".."`, `import "..", `import x from ".."`
pub fn import(place: &Place) -> Option<Diagnostic> {
    if place.before != "import" || !place.tried(Rule::lbrace) {
        return None;
    }
    let line = place.rest.lines().next().unwrap_or("").trim_ascii_end();
    let quote = line.find(['"', '\'']);
    let from = quote
        .and_then(|at| line.get(at..))
        .map_or("\"./file.graph\"", message::token);
    let found = message::found(place.rest);
    let name = place.first_word();
    let error = place.error(format!(
        "expected `{{` and names after `import`, found {found}"
    ));
    // `import json`
    if !name.is_empty() && quote.is_none() {
        return Some(error.help(format!(
            "take it out, the language needs no modules; from another file it is `import {{ NAME }} from {from}`"
        )));
    }
    let names = line.split(" from ").next().unwrap_or("").trim_ascii();
    let plain = |name: &str| !name.is_empty() && first_word(name.trim_ascii()) == name.trim_ascii();
    Some(match name {
        "" => error.help(format!(
            "what is used is named: `import {{ NAME }} from {from}`"
        )),
        _ if names.split(',').all(plain) && line.contains(" from ") => error
            .help(format!("write `import {{ {names} }} from {from}`"))
            .fix(place.at(0, names.len()), format!("{{ {names} }}")),
        _ => error.help(format!("write `import {{ {name} }} from {from}`")),
    })
}

/// `"He said "hello""`: the text ends at its second quote.
pub fn inner_quote(place: &Place) -> Option<Diagnostic> {
    let touches = place.offset() == place.before.len();
    let quote = place
        .before
        .chars()
        .last()
        .filter(|c| matches!(c, '"' | '\''))?;
    let goes_on = place
        .rest
        .starts_with(|c: char| c.is_alphanumeric() || "_{".contains(c));
    let line = place.rest.lines().next().unwrap_or("");
    if !touches || !goes_on || !line.contains(quote) {
        return None;
    }
    let at = place.before_at(place.before.len() - 1, place.before.len());
    let other = if quote == '"' { '\'' } else { '"' };
    let found = place.error_at(at, format!("the text ends at this `{quote}`"));
    Some(found.help(format!(
        "write `\\{quote}` for a quote within a text, or put the text between `{other}` or `\"\"\"`"
    )))
}

/// `notes: list<string> via operator.add`, `n: int via lambda a, b: a + b`
pub fn reducer_path(place: &Place) -> Option<Diagnostic> {
    let root = place.last_word();
    let head = place.before.strip_suffix(root)?.trim_ascii_end();
    let ty = head.strip_suffix("via")?.trim_ascii_end();
    let dotted = place.rest.starts_with('.');
    if root.is_empty() || !(dotted || root == "lambda") {
        return None;
    }
    let name = first_word(place.rest.get(1..)?);
    let (shown, end) = match dotted {
        true => (format!("{root}.{name}"), place.offset() + 1 + name.len()),
        false => (root.to_owned(), place.before.len()),
    };
    let (_, ty) = ty.rsplit_once(':')?;
    let meant = match first_word(ty.trim_ascii_start()) {
        "list" => "append",
        "map" => "merge",
        _ => "add",
    };
    let at = place.before_at(place.before.len() - root.len(), end);
    let found = place.error_at(
        at,
        format!("`via` takes the name of a reducer, found `{shown}`"),
    );
    Some(match dotted {
        true => found.help(format!("write `via {meant}`")).fix(at, meant),
        false => found.help(format!(
            "write `via {meant}`, or declare it beside the graphs: `reducer NAME(old: T, new: T) -> T = ..`"
        )),
    })
}

/// `retry RetryPolicy(max_attempts=3)`
pub fn retry_policy(place: &Place) -> Option<Diagnostic> {
    let start = place.before.strip_suffix("RetryPolicy")?.len();
    let args = place.rest.strip_prefix('(')?;
    let end = balanced(args, ')')?;
    let args = split(args.get(..end)?);
    let count = args
        .iter()
        .find_map(|arg| arg.strip_prefix("max_attempts="));
    let meant = count.unwrap_or("3").trim_ascii();
    let at = place.before_at(start, place.offset() + end + 2);
    let found = place.error_at(
        at,
        "`retry` takes a number of attempts, or settings in braces",
    );
    Some(found.help(format!("write `retry {meant}`")).fix(at, meant))
}

/// `max_visits 3`
pub fn visits_without_target(place: &Place) -> Option<Diagnostic> {
    let count = last_word(place.before);
    let is_visits = first_word(place.text) == "max_visits" && place.tried(Rule::arrow);
    (is_visits && count.starts_with(|c: char| c.is_ascii_digit())).then(|| {
        let at = place.before_at(place.before.len(), place.before.len());
        let found = place.error_at(
            at,
            format!("expected `->` after `{count}`, and where a run goes then"),
        );
        found.help(format!(
            "write `max_visits {count} -> end`, or another node"
        ))
    })
}

/// `into { answer: result.answer }`
pub fn field_of_result(place: &Place) -> Option<Diagnostic> {
    let word = place.last_word();
    let start = place.before.strip_suffix(word)?.len();
    let field = first_word(place.rest.strip_prefix('.')?);
    (word == "result" && !field.is_empty() && !place.after_operand()).then(|| {
        let at = place.before_at(start, place.offset() + 1 + field.len());
        place.instead(
            at,
            format!("`into` names fields of the called graph alone, found `result.{field}`"),
            field,
        )
    })
}

/// `retry -1`: no number of attempts.
pub fn negative_attempts(place: &Place) -> Option<Diagnostic> {
    (place.last_word() == "retry" && place.rest.starts_with('-')).then(|| {
        let found = place.error("`retry` takes a number of attempts from 1 on, found `-`");
        found.help("write `retry 3`, for example; without it there is one attempt")
    })
}

/// `500 ms`, `1 h`
pub fn spaced_duration(place: &Place) -> Option<Diagnostic> {
    let word = place.first_word();
    let unit = match word {
        "ms" | "s" | "m" | "h" | "d" => word,
        "sec" | "secs" | "second" | "seconds" => "s",
        "min" | "mins" | "minute" | "minutes" => "m",
        "hour" | "hours" => "h",
        "day" | "days" => "d",
        "millis" | "milliseconds" => "ms",
        _ => return None,
    };
    let digits = place.before.len()
        - place
            .before
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .len();
    let head = place
        .before
        .get(..place.before.len() - digits)?
        .trim_ascii_end();
    let takes = matches!(
        last_word(head),
        "timeout" | "ttl" | "first" | "most" | "initial" | "delay"
    );
    (digits > 0 && takes).then(|| {
        let number = place
            .before
            .get(place.before.len() - digits..)
            .unwrap_or("");
        let start = place.before.len() - digits;
        let end = place.offset() + word.len();
        let at = place.before_at(start, end);
        let meant = format!("{number}{unit}");
        place.instead(
            at,
            format!("expected a duration, found `{number} {word}`"),
            meant,
        )
    })
}

/// `node: update { .. }`
pub fn nameless_node(place: &Place) -> Option<Diagnostic> {
    (place.before == "node" && place.rest.starts_with(':')).then(|| {
        let kind = first_word(place.rest.get(1..).unwrap_or("").trim_ascii_start());
        let found = place.error("expected the name of a node after `node`, found `:`");
        found.help(format!(
            "write `node NAME: {}`",
            if kind.is_empty() { "update" } else { kind }
        ))
    })
}

/// `model params.x == "a" ? m1 : m2`, `tool_choice(..)`
pub fn expression_for_name(place: &Place) -> Option<Diagnostic> {
    let word = first_word(place.before);
    let own = place.before.get(word.len()..)?.trim_ascii();
    let takes = match word {
        "model" => "a model",
        "tool_choice" => "a tool",
        "persist" => "a way to keep its state",
        _ => return None,
    };
    let goes_on = place.rest.starts_with(['.', '?', '(', '[', '+']) || place.rest.starts_with("==");
    (goes_on && !own.is_empty() && first_word(own) == own).then(|| {
        let sign = message::found(place.rest);
        let found = place.error(format!("`{word}` takes the name of {takes}, no expression: found {sign} behind `{own}`"));
        found
            .help("where it depends on a value, write two nodes and choose between them by `goto { when .. -> ..  else -> .. }`")
    })
}

/// `n: int @min 1`
pub fn attribute_without_parens(place: &Place) -> Option<Diagnostic> {
    let word = place.last_word();
    let head = place.before.strip_suffix(word)?;
    let value = message::token(place.rest);
    let is_value = place
        .rest
        .starts_with(|c: char| c.is_ascii_digit() || "\"'-".contains(c));
    (head.ends_with('@') && !word.is_empty() && is_value).then(|| {
        let gap = place.before.len();
        let at = place.before_at(gap, place.offset() + value.len());
        let found = place.error(format!(
            "expected `(` after `@{word}`, found {}",
            message::found(place.rest)
        ));
        found
            .help(format!("write `@{word}({value})`"))
            .fix(at, format!("({value})"))
    })
}

/// `expect` and no type, with a property on the next line that was taken for it.
pub fn type_on_next_line(place: &Place) -> Option<Diagnostic> {
    let word = first_word(place.text);
    let taken = place.last_word();
    let between = place.before.strip_prefix(word)?.strip_suffix(taken)?;
    let lost = matches!(word, "expect" | "output")
        && between.contains('\n')
        && between.trim_ascii().is_empty()
        && super::keyword::PROPERTIES.contains(&taken);
    lost.then(|| {
        let found = place.error_at(
            place.before_at(0, word.len()),
            format!("`{word}` has no type"),
        );
        found.help(format!("write `{word} bool`, for example"))
    })
}

/// `based_on [state.level]`
pub fn name_in_list(place: &Place) -> Option<Diagnostic> {
    let word = place.last_word();
    let head = place.before.strip_suffix(word)?.trim_ascii_end();
    let (list, _) = place.before.rsplit_once('[')?;
    let list = last_word(list.trim_ascii_end());
    let fields = matches!(list, "based_on" | "reads" | "writes");
    if !fields || word != "state" || !place.rest.starts_with('.') || !head.ends_with(['[', ',']) {
        return None;
    }
    let field = first_word(place.rest.get(1..)?);
    let at = place.before_at(place.before.len() - word.len(), place.offset() + 1);
    let found = place.error_at(
        at,
        format!("`{list}` names fields alone, found `state.{field}`"),
    );
    Some(found.help(format!("write `{field}`")).fix(at, ""))
}

/// `tools [find when n < 3]`
pub fn when_in_tools(place: &Place) -> Option<Diagnostic> {
    let word = place.first_word();
    (place.tried(Rule::kw_where) && matches!(word, "when" | "if" | "with")).then(|| {
        place.instead(
            place.span,
            format!(
                "expected `where` after `{}`, found `{word}`",
                place.last_word()
            ),
            "where",
        )
    })
}
