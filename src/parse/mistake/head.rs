//! Mistakes in how a node or a tool begins: its kind, its arguments, its model.

use crate::base::foreign::expression::jump;
use crate::base::foreign::text::{balanced, split};
use crate::base::{Span, name};
use crate::diag::{Diagnostic, codes};

use super::super::grammar::Rule;
use super::super::{keyword, message};
use super::{Place, first_word, innermost_open, last_word};

/// `graph A = B(Mode.x)`, `tool(state.x)`: a value without the name of its argument.
pub fn unnamed_argument(place: &Place) -> Option<Diagnostic> {
    let only_colon = place.tried.iter().all(|rule| *rule == Rule::colon);
    let ends = place.rest.starts_with(['.', ',', ')', '(']) && !place.tried.is_empty();
    let value = place.last_word();
    let head = place.before.trim_end_matches(value).trim_ascii_end();
    (only_colon && ends && head.ends_with(['(', ',']) && innermost_open(place.before) == Some('('))
        .then(|| {
            let shown = message::found(place.rest);
            if matches!(
                first_word(place.text),
                "tool" | "prompt" | "reducer" | "graph"
            ) && !head.contains('=')
            {
                return place
                    .error(format!(
                        "expected `:` and a type after `{value}`, found {shown}"
                    ))
                    .help(format!(
                        "write its type too: `{value}: string`, for example"
                    ));
            }
            place
                .error(format!(
                    "expected the name of an argument and `:` before `{value}`, found {shown}"
                ))
                .help("arguments are named: `name: value`")
        })
}

/// `set { state.n: 1 }`
pub fn state_prefix(place: &Place) -> Option<Diagnostic> {
    let names_field = place.tried(Rule::colon) && place.tried(Rule::assign);
    (names_field && place.last_word() == "state" && place.rest.starts_with('.')).then(|| {
        let found = place.error("expected `:` after the field's name, found `.`");
        found.help("name the field without `state.`")
    })
}

/// `call search("x")`
pub fn positional_argument(place: &Place) -> Option<Diagnostic> {
    let (head, _) = place.before.rsplit_once('(')?;
    let mut words = head.split_ascii_whitespace().rev();
    let (_tool, call) = (words.next()?, words.next()?);
    let first = place.rest.chars().next()?;
    let value = !place.tried(Rule::op) && (first.is_alphanumeric() || "\"'[{(.-!".contains(first));
    (call == "call" && value && innermost_open(place.before) == Some('(')).then(|| {
        let found = place.error("expected the name of an argument");
        found.help("arguments are named: `name: value`")
    })
}

/// `model "openai/gpt-5.2"`, in a node or with no name before it.
pub fn model_text(place: &Place) -> Option<Diagnostic> {
    let quote = place.rest.chars().next()?;
    if place.last_word() != "model" || !matches!(quote, '"' | '\'') {
        return None;
    }
    let text = place.rest.get(1..)?.split(['"', '\'', '\n']).next()?;
    let message = format!("expected the name of a model, found the text `\"{text}\"`");
    Some(place.error(message).help(format!(
        "a model is declared beside the graphs, `model writer = \"{text}\"`; nodes and graphs name it, `model writer`"
    )))
}

/// `model m = ChatOpenAI(model="gpt-5-mini")`, `model m = "openai/gpt-5".with_fallbacks([small])`
pub fn model_maker(place: &Place) -> Option<Diagnostic> {
    let (head, value) = place.text.split_once('=')?;
    let value = value.trim_ascii_start();
    let start = place.text.len() - value.len();
    let declares = first_word(head) == "model" && !head.contains('{') && place.offset() >= start;
    let (meant, length) = declares.then(|| jump::model(value, place.types))??;
    let at = place.before_at(start, start + length);
    Some(place.instead(at, "a model is named by a text, `provider/model`", meant))
}

/// `emit seen(text: "x")`
pub fn emit_with_arguments(place: &Place) -> Option<Diagnostic> {
    let event = place.last_word();
    let inside = place.rest.strip_prefix('(')?;
    let end = balanced(inside, ')').filter(|_| first_word(place.text) == "emit")?;
    let fields = split(inside.get(..end)?).into_iter().map(|field| {
        let (name, value) = field.split_once(['=', ':'])?;
        let named = first_word(name) == name.trim_ascii_end() && !value.starts_with('=');
        named.then(|| format!("{}: {}", name.trim_ascii_end(), value.trim_ascii()))
    });
    let at = place.at(0, end + 2);
    let fields = fields.collect::<Option<Vec<_>>>()?.join(", ");
    let meant = format!("{{ {fields} }}");
    let found = place.error_at(
        at,
        format!("fields of `{event}` stand in braces, found `(`"),
    );
    Some(
        found
            .help(format!("write `emit {event} {meant}`"))
            .fix(at, format!(" {meant}")),
    )
}

/// `let k: string = x`
pub fn typed_let(place: &Place) -> Option<Diagnostic> {
    let name = place.last_word();
    let is_let = first_word(place.text) == "let" && place.rest.starts_with(':');
    let end = place
        .rest
        .find('=')
        .filter(|_| is_let && place.tried(Rule::equals))?;
    let at = place.before_at(place.before.len(), place.offset() + end);
    let found = place.error_at(at, format!("the type of `{name}` is that of its value"));
    Some(found.help(format!("write `let {name} = ..`")).fix(at, " "))
}

/// `node ok: interrupt("Publish?") -> done {`
pub fn interrupt_with_question(place: &Place) -> Option<Diagnostic> {
    let inside = place.rest.strip_prefix('(')?;
    let is_head = first_word(place.text) == "node" && place.last_word() == "interrupt";
    let end = balanced(inside, ')').filter(|_| is_head)?;
    let question = inside.get(..end)?.trim_ascii();
    let question = if question.is_empty() {
        "\"..\""
    } else {
        question
    };
    let ask = format!("ask {question}  expect bool");
    let found = place.error_at(
        place.at(0, end + 2),
        "what `interrupt` asks stands in its braces",
    );
    let behind = inside.get(end + 1..)?;
    let Some((head, _)) = behind
        .split_once('{')
        .filter(|(head, _)| !head.contains('\n'))
    else {
        let meant = format!(" {{ {ask} }}");
        return Some(
            found
                .help(format!("write `{}`", meant.trim_ascii()))
                .fix(place.at(0, end + 2), meant),
        );
    };
    let at = place.at(0, end + 2 + head.len() + 1);
    Some(
        found
            .help(format!("write `{ask}` there, or another type than `bool`"))
            .fix(at, format!("{head}{{ {ask} ")),
    )
}

/// `subgraph(Sub)`, `call(find)`
pub fn kind_with_arguments(place: &Place) -> Option<Diagnostic> {
    let kind = place.last_word();
    let inside = place.rest.strip_prefix('(')?;
    let name = first_word(inside);
    let is_kind =
        first_word(place.text) == "node" && matches!(kind, "subgraph" | "call" | "extern");
    (is_kind && inside.get(name.len()..)?.starts_with(')')).then(|| {
        let at = place.before_at(place.before.len(), place.offset() + name.len() + 2);
        let found = place.error_at(
            at,
            format!("what `{kind}` names stands behind it without `(`"),
        );
        found
            .help(format!("write `{kind} {name}`"))
            .fix(at, format!(" {name}"))
    })
}

/// `with { t }`, `with { state.question }`
pub fn value_without_name(place: &Place) -> Option<Diagnostic> {
    let word = last_word(place.before);
    let rest = place.rest.split([',', '}', '\n']).next()?.trim_ascii_end();
    let field = match rest {
        "" => word,
        rest => rest
            .strip_prefix('.')
            .filter(|rest| first_word(rest) == *rest)?,
    };
    let begin = (place.span.start as usize).checked_sub(place.offset())?;
    let (block, _) = place.types.text.get(..begin)?.rsplit_once('{')?;
    let of_values = matches!(last_word(block.trim_ascii_end()), "with" | "set");
    let is_entry = of_values && place.before == word && place.tried(Rule::colon);
    (is_entry && place.text.len() == word.len() + rest.len()).then(|| {
        let found = place.error(format!("`{word}{rest}` has no name"));
        found.help(format!("write `{field}: {word}{rest}`"))
    })
}

/// What others call a kind of node.
static OTHER_KINDS: [(&[&str], &str); 8] = [
    (
        &["router", "conditional", "switch", "decision", "condition"],
        "branch",
    ),
    (
        &["human", "human_input", "approval", "ask", "input"],
        "interrupt",
    ),
    (
        &[
            "function",
            "python",
            "code",
            "task",
            "set",
            "transform",
            "step",
        ],
        "update",
    ),
    (&["graph", "workflow", "flow"], "subgraph"),
    (&["chat", "model", "prompt", "chain", "generate"], "llm"),
    (&["react", "assistant"], "agent"),
    (&["tool_node", "toolnode", "ToolNode"], "tools"),
    (&["action", "api", "tool", "http"], "call"),
];

/// `node a: lmm`
pub fn wrong_kind(place: &Place) -> Option<Diagnostic> {
    let word = place.first_word();
    if !place.tried(Rule::kind) || word.is_empty() {
        return None;
    }
    let found = Diagnostic::new(
        &codes::UNKNOWN_KEYWORD,
        format!("`{word}` is no kind of node"),
        place.span,
    );
    // `node a: tool look(q: ..)`: arguments are given to a call.
    let behind = place
        .rest
        .get(word.len()..)
        .unwrap_or("")
        .trim_ascii_start();
    let called = first_word(behind);
    let with_arguments = behind
        .get(called.len()..)
        .is_some_and(|rest| rest.trim_ascii_start().starts_with('('));
    if !called.is_empty()
        && with_arguments
        && matches!(word, "tool" | "tools" | "invoke" | "function")
    {
        let call = found.help(format!("write `call {called}(..)`"));
        return Some(call.fix(place.span, "call"));
    }
    let other = OTHER_KINDS.iter().find(|(words, _)| words.contains(&word));
    let close = other.map(|(_, kind)| *kind);
    Some(
        match close.or_else(|| name::closest(word, keyword::KINDS.iter().copied())) {
            Some(close) => found
                .help(format!("did you mean `{close}`?"))
                .fix(place.span, close),
            None => found.help(format!(
                "kinds are {}",
                name::list(keyword::KINDS.iter().copied())
            )),
        },
    )
}

/// `node a update`, `node a = update`
pub fn kind_without_colon(place: &Place) -> Option<Diagnostic> {
    if first_word(place.text) != "node"
        || !place.tried(Rule::colon)
        || innermost_open(place.before).is_some()
    {
        return None;
    }
    let (sign, kind) = match place.rest.strip_prefix('=') {
        Some(rest) => ("=", first_word(rest.trim_ascii_start())),
        None => ("", place.first_word()),
    };
    if !keyword::KINDS.contains(&kind) {
        return None;
    }
    let name = place.last_word();
    let start = place.span.start;
    let end = start + sign.len() as u32;
    let found = match sign {
        "" => kind,
        sign => sign,
    };
    let found = place.error(format!("expected `:` after `{name}`, found `{found}`"));
    Some(found.help(format!("write `node {name}: {kind}`")).fix(
        Span {
            start,
            end,
            ..place.span
        },
        if sign.is_empty() { ": " } else { ":" },
    ))
}

/// `node a -> b`
pub fn missing_kind(place: &Place) -> Option<Diagnostic> {
    let is_node = first_word(place.text) == "node"
        && place.tried(Rule::colon)
        && innermost_open(place.before).is_none();
    (is_node && place.text.split_ascii_whitespace().count() > 1).then(|| {
        let name = place.last_word();
        if let Some(args) = place.rest.strip_prefix('(')
            && let Some(end) = balanced(args, ')')
        {
            let at = place.at(0, end + 2);
            return place
                .error_at(
                    at,
                    format!("node `{name}` takes no arguments: it reads `state.x`"),
                )
                .help(format!("write `node {name}: update`, or another kind"))
                .fix(at, ": update");
        }
        place
            .error(format!("expected `:` and the kind of node `{name}`"))
            .help(format!("write `node {name}: update`, or another kind"))
    })
}

/// `tool f(a: T) T`
pub fn missing_result_arrow(place: &Place) -> Option<Diagnostic> {
    let is_function = matches!(first_word(place.text), "tool" | "reducer" | "function");
    let after_params = place.before.ends_with(')') && !place.first_word().is_empty();
    (is_function && after_params && place.tried(Rule::arrow)).then(|| {
        let found = message::found(place.rest);
        let here = place.span.before();
        let found = place.error(format!("expected `->` before the result type {found}"));
        found.fix(here, "-> ")
    })
}
