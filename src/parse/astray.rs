//! Entries of a list whose first word begins none: what was meant there.

use crate::base::foreign::expression::{self, jump, jump::Given};
use crate::base::{Span, foreign, name};
use crate::diag::{Diagnostic, codes};

use super::build::Builder;
use super::grammar::Rule;
use super::mistake::first_word;

/// The mistake that a stretch is, `word` being what it begins with and `what` what its list holds.
pub fn report(
    builder: &Builder,
    (word, slice, start): (&str, &str, usize),
    only: Rule,
    what: &str,
) -> Option<Diagnostic> {
    let new = |message: String| {
        let span = Span::new(builder.file, start, start + word.len());
        Diagnostic::new(&codes::SYNTAX_ERROR, message, span)
    };
    let after = slice.get(word.len()..).unwrap_or("").trim_ascii_start();
    match only {
        Rule::only_arm
            if slice.contains("->")
                && !matches!(after.get(..2), Some("->"))
                && super::other_word::other_word(word, only).is_none()
                && !is_slip(word, after) =>
        {
            let at = Span::new(builder.file, start, start);
            Some(
                new(format!(
                    "expected `when` before the condition, found `{word}`"
                ))
                .help(format!(
                    "write `when {}`",
                    slice.lines().next().unwrap_or("").trim_ascii()
                ))
                .fix(at, "when "),
            )
        }
        Rule::only_member if after.starts_with('{') && begins_arms(after) => {
            Some(new(format!("no arms stand behind `{word}`, found `{{`")).help(arms_of(word)))
        }
        Rule::only_property if matches!(word, "when" | "else") => Some(
            new(format!("expected {what}, but `{word}` begins an arm")).help(format!(
                "arms stand in a `goto`: `goto {{ {} }}`",
                match slice.contains('\n') || slice.len() > 80 {
                    true => "when .. -> ..  else -> ..",
                    false => slice.trim_ascii(),
                }
            )),
        ),
        Rule::only_update if after.starts_with(':') => {
            let before = builder.text.get(..start).unwrap_or("").trim_ascii_end();
            let line = before.rfind('\n').map_or(0, |at| at + 1);
            let line = before.get(line..).unwrap_or("");
            let found = new(format!("expected {what}, found `{word}`"));
            Some(match line.contains("each ") {
                true => found.help(format!(
                    "values for a task stand behind `with`: `with {{ {word}: .. }}`"
                )),
                false => found.help(format!("write `set {{ {word}: .. }}`")),
            })
        }
        Rule::only_update if after.starts_with([',', '}']) || after.is_empty() => {
            let rest = builder.text.get(start..).unwrap_or("");
            let (_, behind) = rest.split_once('}')?;
            let names = rest.split('}').next().unwrap_or("").trim_ascii_end();
            behind.trim_ascii_start().starts_with("->").then(|| {
                new(format!(
                    "nodes of a join stand in brackets, found `{word}` in braces"
                ))
                .help(format!("write `[{names}] -> ..`"))
            })
        }
        Rule::only_member if after.starts_with("<-") => {
            let from = after
                .get(2..)
                .unwrap_or("")
                .lines()
                .next()
                .unwrap_or("")
                .trim_ascii();
            Some(
                new(format!("`<-` is no arrow, found it behind `{word}`"))
                    .help(format!("write `{from} -> {word}`")),
            )
        }
        Rule::only_member if after.starts_with([',', '&', '+']) || word == "join" => {
            join(builder, slice, start)
        }
        Rule::only_property => several_targets(builder, slice, start),
        _ => None,
    }
}

/// `assert reply.text != "", "no text"`: what must hold ahead of the work of a node, or of what a model says.
pub fn asserted(builder: &Builder, word: &str, start: usize, only: Rule) -> Option<Diagnostic> {
    let lists = [Rule::only_property, Rule::only_tool_line];
    let behind = builder.text.get(start + word.len()..)?;
    if word != "assert" || !lists.contains(&only) {
        return None;
    }
    let (condition, mut length) = expression::condition(behind, builder.types)?;
    let mut meant = condition.clone();
    let rest = behind.get(length..)?.trim_start_matches(' ');
    if let Some(why) = rest.strip_prefix(',').or(rest.strip_prefix("else ")) {
        let (message, end) = expression::first(why, builder.types)?;
        length = behind.len() - why.len() + end;
        meant = format!("{condition} else {message}");
    }
    let span = Span::new(builder.file, start, start + word.len() + length);
    let found = Diagnostic::new(
        &codes::SYNTAX_ERROR,
        "`assert` is no property of a node",
        span,
    );
    // Of `state.result` the name is `state`.
    let words = condition.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.'));
    let roots = words.filter_map(|word| word.split('.').next());
    let of = |names: &[&str]| roots.clone().any(|root| names.contains(&root));
    if of(&["result", "results", "answer"]) {
        return Some(found.help(format!(
            "what a node gives is looked at where it leads on: `goto {{ when {condition} -> NODE  else -> fail(\"why\") }}`"
        )));
    }
    let word = if of(&["reply", "output"]) {
        "ensure"
    } else {
        "require"
    };
    let meant = format!("{word} {meant}");
    Some(found.help(format!("write `{meant}`")).fix(span, meant))
}

/// `state["answer"] = x`, `n += 1`, `notes.append(x)`, `llm = ChatOpenAI(..)`, `return {"answer": x}`.
pub fn assigned(
    builder: &Builder,
    (word, slice, start): (&str, &str, usize),
    only: Rule,
    what: &str,
) -> Option<Diagnostic> {
    if word == "from" {
        return None;
    }
    let types = builder.types;
    let span = Span::new(builder.file, start, start + word.len());
    let new = |message: String| Diagnostic::new(&codes::SYNTAX_ERROR, message, span);
    let property = matches!(only, Rule::only_property | Rule::only_tool_line);
    let behind = slice.get(word.len()..)?;
    if word == "for"
        && only == Rule::only_property
        && let Some((head, body)) = behind.split_once(':')
        && let Some(open) = body.find('(')
        && let Some(end) = foreign::text::balanced(body.get(open + 1..)?, ')')
        && let Some((Given::Target(target), _)) = jump::given(
            &format!("[{} for {head}]", body.get(..open + end + 2)?.trim_ascii()),
            types,
        )
    {
        let found = new("a node runs for each element by a target".to_owned());
        return Some(found.help(format!("write `goto {target}`")));
    }
    if word == "return" && only == Rule::only_property {
        let (given, _) = jump::given(behind, types)?;
        let found = new("a node gives nothing back by `return`".to_owned());
        return Some(found.help(match given.fields() {
            Some(fields) => set(builder, fields),
            None => format!("write `{}`", given.property()),
        }));
    }
    let (field, behind) = match word {
        "state" if behind.starts_with('.') => {
            let field = first_word(behind.get(1..)?);
            (field, behind.get(1 + field.len()..)?)
        }
        "state" if behind.starts_with('[') => {
            let (key, behind) = behind.get(1..)?.split_once(']')?;
            (key.trim_matches(['"', '\'']), behind)
        }
        word => (word, behind),
    };
    let behind = behind.trim_start_matches([' ', '\t']);
    let sign = ["+=", "-=", "*=", "/=", "="]
        .into_iter()
        .find(|sign| behind.starts_with(sign));
    let method = behind.strip_prefix('.').map_or("", first_word);
    let adds = foreign::call::is_append(method) || method == "extend";
    if (sign.is_none() || behind.starts_with("=="))
        && !(adds && property)
        && !behind.starts_with('.')
    {
        return None;
    }
    let advised = super::other_word::advice(word, only, slice);
    let advised = advised.filter(|help| sign == Some("=") && !help.contains("set {"));
    if let Some(help) = advised.filter(|_| word != "state") {
        return Some(new(format!("expected {what}, found `{word}`")).help(help));
    }
    let text = behind.get(sign.map_or(0, str::len)..)?.trim_ascii_start();
    if let Some((model, _)) = jump::model(text, types) {
        let help = format!("write `model {field} = {model}` beside the graphs");
        return Some(new("a model is declared by a line of its own".to_owned()).help(help));
    }
    let found = new(format!("expected {what}, found an assignment to `{field}`"));
    let reducer = types.reducer(field);
    let gathers = |value: &str| match reducer {
        Some(_) => value.to_owned(),
        None => format!("state.{field} + {value}"),
    };
    let value = match sign {
        _ if adds => {
            let inside = behind.split_once('(')?.1;
            let inside = foreign::text::balanced(inside, ')').and_then(|end| inside.get(..end));
            let value = expression::expression(inside?, types).unwrap_or_else(|| "x".to_owned());
            match method {
                "extend" => gathers(&value),
                _ => gathers(&format!("[{value}]")),
            }
        }
        Some(sign) => {
            let value = expression::first(text, types).map_or("..".to_owned(), |(value, _)| value);
            match sign {
                "=" => value,
                "+=" => gathers(&value),
                sign => format!("state.{field} {} {value}", sign.trim_end_matches('=')),
            }
        }
        None => "..".to_owned(),
    };
    let declared = word == "state" || adds || sign != Some("=") || types.has(field);
    Some(match only {
        _ if property && !declared => found.help(format!("write `let {field} = {value}`")),
        Rule::only_property => found.help(set(builder, &format!("{field}: {value}"))),
        Rule::only_member | Rule::only_item => found.help(format!(
            "a field has its first value where it is declared, `state {{ {field}: TYPE = .. }}`, and others in the `set` of a node"
        )),
        _ => found.help(format!("write `set {{ {field}: {value} }}`")),
    })
}

/// What to do to write fields in a node, which may have a `set` already.
fn set(builder: &Builder, fields: &str) -> String {
    match builder.has_set {
        true => format!("write `{fields}` in the `set` of the node"),
        false => format!("write `set {{ {fields} }}`"),
    }
}

/// `wehn c -> a`, `esle c`: a misspelt word before a condition, which no sign joins to it.
fn is_slip(word: &str, after: &str) -> bool {
    let begins = |c: char| c.is_alphabetic() || c == '_' || "!(\"'".contains(c);
    name::closest(word, ["when", "else"]).is_some()
        && after.starts_with(begins)
        && first_word(after) != "in"
        && !after.starts_with("!=")
}

/// Whether a brace holds arms.
pub fn begins_arms(text: &str) -> bool {
    let inside = text.strip_prefix('{').unwrap_or("").trim_ascii_start();
    matches!(first_word(inside), "when" | "else" | "if" | "default")
}

/// What to do about arms that stand with an edge of a node.
pub fn arms_of(node: &str) -> String {
    format!(
        "conditions stand in the node, in the braces of `{node}`: `goto {{ when .. -> ..  else -> .. }}`"
    )
}

/// A stretch that begins with no word.
pub fn without_word(
    builder: &Builder,
    slice: &str,
    start: usize,
    only: Rule,
) -> Option<Diagnostic> {
    let at = |length: usize| Span::new(builder.file, start, start + length);
    let new =
        |length: usize, message: String| Diagnostic::new(&codes::SYNTAX_ERROR, message, at(length));
    if slice.starts_with("--") && slice.get(2..3) == Some(" ") {
        return Some(
            new(2, "`--` begins no comment".to_owned())
                .help("a comment begins with `//` and ends with its line")
                .fix(at(2), "//"),
        );
    }
    let token = super::message::token(slice);
    let quoted = slice.starts_with(['"', '\'']);
    match only {
        Rule::only_arm if slice.contains("->") => Some(
            new(
                token.len(),
                format!(
                    "expected `when` before the condition, found {}",
                    super::message::found(slice)
                ),
            )
            .help("write `when CONDITION -> TARGET`")
            .fix(at(0), "when "),
        ),
        Rule::only_item if slice.starts_with("@tool") => {
            let message = "a tool is declared by `tool`, without `@tool`".to_owned();
            Some(new("@tool".len(), message).help("take it out"))
        }
        Rule::only_item | Rule::only_member | Rule::only_property | Rule::only_tool_line
            if quoted =>
        {
            let read = crate::base::foreign::text::literal(slice)?;
            let span = Span::new(builder.file, start, start + read.length);
            let text = slice.get(..read.length)?.trim_matches(['"', '\'']);
            let sign = match only {
                Rule::only_property | Rule::only_tool_line => "//",
                _ => "///",
            };
            let indent = builder.text.get(..start)?.rsplit('\n').next()?;
            let lines = text
                .lines()
                .map(str::trim_ascii)
                .filter(|line| !line.is_empty());
            let lines: Vec<String> = lines.map(|line| format!("{sign} {line}")).collect();
            let found = Diagnostic::new(&codes::SYNTAX_ERROR, "a text stands here alone", span);
            let found = found.fix(span, lines.join(&format!("\n{indent}")));
            Some(match (sign, lines.first()) {
                ("//", _) => found.help("what a tool or a node is for stands before it, behind `///`; a comment begins with `//`"),
                (_, Some(first)) => found.help(format!("what it is for stands before it, behind `///`: `{first}`")),
                (_, None) => found.help("take it out"),
            })
        }
        _ => None,
    }
}

/// `node a: llm -> b, c { .. }`, `a -> b, c`: what stands behind the comma. `previous` is where the piece before it stands.
pub fn targets(
    builder: &Builder,
    (from, to): (usize, usize),
    slice: &str,
    start: usize,
) -> Option<Diagnostic> {
    let before = builder.text.get(from..to)?;
    let (_, target) = before.rsplit_once("->")?;
    let first = target.trim_ascii();
    let head = slice
        .split(['{', '\n'])
        .next()
        .unwrap_or("")
        .trim_ascii_end();
    let is_name = |name: &str| !name.is_empty() && first_word(name) == name;
    let names: Vec<&str> = head.split(',').map(str::trim_ascii).collect();
    (is_name(first) && names.iter().copied().all(is_name)).then(|| {
        let word = first_word(slice);
        let list = format!("[{first}, {}]", names.join(", "));
        Diagnostic::new(
            &codes::SYNTAX_ERROR,
            format!("several targets stand in brackets, found `{word}` behind a comma"),
            Span::new(builder.file, start, start + word.len()),
        )
        .help(format!("write `-> {list}`"))
        .fix(
            Span::new(builder.file, to - first.len(), start + head.len()),
            list,
        )
    })
}

/// `a, b -> c`, `(a, b) -> c`, `{a, b} -> c`
pub fn join(builder: &Builder, slice: &str, start: usize) -> Option<Diagnostic> {
    let (names, _) = slice.split_once("->")?;
    let names = names.trim_ascii_end();
    let list = names
        .trim_start_matches("join ")
        .trim_start_matches(['(', '{', '['])
        .trim_end_matches([')', '}', ']'])
        .trim_ascii();
    let list = list.replace(" & ", ", ").replace(" + ", ", ");
    let is_name = |name: &str| !name.is_empty() && first_word(name) == name;
    let all = list.split(',').map(str::trim_ascii).all(is_name);
    let span = Span::new(builder.file, start, start + names.len());
    all.then(|| {
        Diagnostic::new(
            &codes::SYNTAX_ERROR,
            format!("nodes that an edge starts from stand in brackets, found `{names}`"),
            span,
        )
        .help(format!("write `[{list}] -> ..`"))
        .fix(span, format!("[{list}]"))
    })
}

/// `goto a, b`
fn several_targets(builder: &Builder, slice: &str, start: usize) -> Option<Diagnostic> {
    let before = builder
        .text
        .get(..start)?
        .trim_ascii_end()
        .strip_suffix(',')?;
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let goto = before.get(line..)?.rfind("goto ").map(|at| line + at + 5)?;
    let first = before.get(goto..)?.trim_ascii();
    let names = slice.lines().next().unwrap_or("").trim_ascii_end();
    let is_name = |name: &str| !name.is_empty() && first_word(name) == name;
    let all = names.split(',').map(str::trim_ascii).all(is_name);
    (all && is_name(first)).then(|| {
        let span = Span::new(builder.file, start, start + first_word(slice).len());
        Diagnostic::new(
            &codes::SYNTAX_ERROR,
            format!(
                "several targets stand in brackets, found `{}` behind a comma",
                first_word(slice)
            ),
            span,
        )
        .help(format!("write `goto [{first}, {names}]`"))
    })
}
