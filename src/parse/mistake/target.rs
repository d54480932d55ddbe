//! Mistakes where a target, an arrow or an arm stands.

use crate::base::foreign::expression::{self, jump};
use crate::base::{Span, name};
use crate::diag::{Diagnostic, codes};

use super::super::grammar::Rule;
use super::super::message;
use super::{Place, first_word, last_word};

/// The forms of a target, for a help line.
const FORMS: &str = "a target is a node's name, `end`, `fail(\"why\")`, `[a, b]`, `(EXPR)`, `each x in EXPR -> node` or `parent.name`";

/// Values that a computed target may read.
const VALUES: [&str; 13] = [
    "output",
    "state",
    "input",
    "params",
    "answer",
    "answered",
    "result",
    "results",
    "error",
    "context",
    "run",
    "reply",
    "transcript",
];

/// `a --> b`, `a → b`, `a - > b`
pub fn odd_arrow(place: &Place) -> Option<Diagnostic> {
    if !place.tried(Rule::arrow) {
        return None;
    }
    const ARROWS: [&str; 9] = ["-->", "--->", "- >", "→", "⇒", "–>", "—>", "~>", "->>"];
    let written = ARROWS
        .iter()
        .rev()
        .find(|arrow| place.rest.starts_with(**arrow))?;
    let at = place.at(0, written.len());
    Some(place.instead(at, format!("`{written}` is no arrow"), "->"))
}

/// `goto: a`, `set: { .. }`, `max_tokens: 100`
pub fn colon_behind_keyword(place: &Place) -> Option<Diagnostic> {
    let word = place.last_word();
    let sign = place.rest.get(..1).unwrap_or("");
    let begins = matches!(sign, ":" | "=") && place.rest.get(1..2) != Some("=");
    let is_keyword = super::keyword::PROPERTIES.contains(&word)
        || matches!(word, "reads" | "return" | "state" | "context")
        || place.tried(Rule::sure_duration) && place.tried(Rule::names);
    (begins && is_keyword && place.text == place.text.trim_start() && place.before == word).then(
        || {
            let at = place.at(0, 1);
            let found = place.error_at(at, format!("no `{sign}` stands behind `{word}`"));
            found
                .help(format!("write `{word}` without `{sign}`"))
                .fix(at, "")
        },
    )
}

/// `a -> b;`
pub fn semicolon(place: &Place) -> Option<Diagnostic> {
    place.rest.starts_with(';').then(|| {
        let at = place.at(0, 1);
        let found = place.error_at(at, "nothing is ended by `;`");
        found.help("take it out: a line end is enough").fix(at, "")
    })
}

/// `c -> ` and the next line begins with a property.
pub fn lost_target(place: &Place) -> Option<Diagnostic> {
    (place.rest.starts_with("->") && place.tried(Rule::arrow)).then(|| {
        let next = first_word(place.rest.get(2..).unwrap_or("").trim_ascii_start());
        let found = place.error_at(
            place.at(0, 2),
            format!("expected a target after `->`, found `{next}` on the next line"),
        );
        found.help(FORMS)
    })
}

/// `-> "end"`
pub fn quoted_target(place: &Place) -> Option<Diagnostic> {
    let word = quoted_word(place.rest)?;
    let is_target = place.tried(Rule::target) || place.tried(Rule::jump);
    is_target.then(|| {
        let at = place.at(0, word.len() + 2);
        let found = place.error_at(
            at,
            format!("expected a target, found the text `\"{word}\"`"),
        );
        found
            .help(format!("write `{word}` without quotes"))
            .fix(at, word)
    })
}

/// A name in quotes at the start of a text.
pub fn quoted_word(rest: &str) -> Option<&str> {
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let text = rest.get(1..)?;
    let word = text.get(..text.find(quote)?)?;
    let dotted = |part: &str| {
        !part.is_empty()
            && first_word(part) == part
            && !part.starts_with(|c: char| c.is_ascii_digit())
    };
    word.split('.').all(dotted).then_some(word)
}

/// `goto when c -> a`, `start when c -> a`
pub fn arms_without_braces(place: &Place) -> Option<Diagnostic> {
    let word = place.last_word();
    let arm = place.first_word();
    let leads = matches!(word, "goto" | "start" | "on_error");
    (leads && matches!(arm, "when" | "else" | "if" | "switch" | "match" | "case")).then(|| {
        let found = place.error(format!("expected `{{` after `{word}`, found `{arm}`"));
        found.help(format!(
            "arms stand in braces: `{word} {{ when .. -> ..  else -> .. }}`"
        ))
    })
}

/// `start -> { when .. }`
pub fn arrow_before_arms(place: &Place) -> Option<Diagnostic> {
    let before = place.before.strip_suffix("->")?.trim_ascii_end();
    let inside = place.rest.strip_prefix('{')?.trim_ascii_start();
    let word = super::last_word(before);
    let arms = matches!(first_word(inside), "when" | "else" | "if" | "default");
    if arms && !word.is_empty() && !matches!(word, "start" | "goto" | "on_error") {
        let node = match before.strip_prefix("node ") {
            Some(head) => first_word(head.trim_ascii_start()),
            None => word,
        };
        let found = place.error_at(
            place.at(0, 1),
            "an edge leads to nodes, not to arms, found `{`",
        );
        return Some(found.help(super::super::astray::arms_of(node)));
    }
    (matches!(word, "start" | "goto" | "on_error") && arms).then(|| {
        let arrow = place.before_at(before.len(), place.before.len());
        let found = place.error_at(
            arrow,
            format!("no `->` stands between `{word}` and its arms"),
        );
        found
            .help(format!("write `{word} {{ when .. -> ..  else -> .. }}`"))
            .fix(arrow, "")
    })
}

/// `else if c -> a`
pub fn else_if(place: &Place) -> Option<Diagnostic> {
    let word = place.first_word();
    if place.last_word() != "else" || !matches!(word, "if" | "when") {
        return None;
    }
    let start = place.before.len() - "else".len();
    let at = Span {
        end: place.span.end,
        ..place.before_at(start, place.before.len())
    };
    let condition = place
        .rest
        .get(word.len()..)
        .unwrap_or("")
        .trim_ascii_start();
    let found = place.error_at(at, format!("`else {word}` is no arm"));
    Some(match condition.starts_with("->") {
        true => found.help("write `when CONDITION -> ..`, or `else -> ..` as the last arm"),
        false => found.help("write one more `when .. -> ..`").fix(at, "when"),
    })
}

/// `emit x {} if c`, `skip if c`, `exit if c`, `exit c`
pub fn other_when(place: &Place) -> Option<Diagnostic> {
    let word = place.first_word();
    let after = place.last_word();
    if !place.tried(Rule::kw_when) {
        return None;
    }
    if matches!(word, "if" | "where" | "while" | "case") {
        return Some(place.instead(
            place.span,
            format!("expected `when`, found `{word}`"),
            "when",
        ));
    }
    if word == "unless" {
        let found = place.error("expected `when`, found `unless`");
        return Some(found.help("write `when !(..)`"));
    }
    let begins = place
        .rest
        .starts_with(|c: char| c.is_ascii_alphabetic() || "!(".contains(c));
    (matches!(after, "exit" | "skip") && place.before == after && begins).then(|| {
        let at = place.at(0, 0);
        let found = place.error(format!(
            "expected `when` after `{after}`, found {}",
            message::found(place.rest)
        ));
        found
            .help(format!("write `{after} when ..`"))
            .fix(at, "when ")
    })
}

/// `exit when c -> a`
pub fn exit_target(place: &Place) -> Option<Diagnostic> {
    (first_word(place.text) == "exit" && place.rest.starts_with("->")).then(|| {
        let found = place.error("`exit when` has no target, it ends the graph");
        found.help("take the arrow and the target out")
    })
}

/// `a -> b when c`
pub fn condition_on_edge(place: &Place) -> Option<Diagnostic> {
    let goes_on = [Rule::jump_update, Rule::node_body, Rule::lbrace];
    let tried = goes_on.iter().any(|rule| place.tried(*rule));
    let word = place.first_word();
    let line = place.before.lines().last().unwrap_or("");
    if !tried
        || !matches!(word, "when" | "if" | "where")
        || !line.contains("->")
        || line.contains("when")
    {
        return None;
    }
    let from = match first_word(line.trim_ascii_start()) {
        "start" => {
            let found = place.error(format!("an edge has no condition, found `{word}`"));
            return Some(found.help("write `start { when .. -> ..  else -> .. }`"));
        }
        "node" => first_word(
            line.trim_ascii_start()
                .get(5..)
                .unwrap_or("")
                .trim_ascii_start(),
        ),
        "goto" | "else" => return None,
        from => from,
    };
    let to = last_word(line);
    let condition = place
        .rest
        .get(word.len()..)
        .and_then(|text| expression::first(text, place.types));
    let condition = condition.map_or("CONDITION".to_owned(), |(condition, _)| condition);
    let found = place.error(format!("an edge has no condition, found `{word}`"));
    Some(
        found
            .help(format!("a condition stands in the `goto` of `{from}`: `goto {{ when {condition} -> {to}  else -> end }}`")),
    )
}

/// What goes on behind a complete target: `output.next`, `fails("x")`, `fail "x"`, `for x in xs`, `write set { .. }`.
pub fn after_target(place: &Place) -> Option<Diagnostic> {
    let word = place.last_word();
    let head = place.before.strip_suffix(word)?.trim_ascii_end();
    let leads =
        head.ends_with("->") || super::last_word(head) == "goto" || head.ends_with(['[', ',']);
    let goes_on = [
        Rule::jump_update,
        Rule::node_body,
        Rule::lbrace,
        Rule::rbracket,
    ];
    let tried = goes_on.iter().any(|rule| place.tried(*rule));
    if word.is_empty() || !leads || !tried {
        return None;
    }
    if let Some(found) = computed(place, head) {
        return Some(found);
    }
    let own = place.before_at(place.before.len() - word.len(), place.before.len());
    if matches!(word, "if" | "switch" | "match" | "case" | "unless") {
        let before = super::last_word(head);
        let (leads, form) = match before {
            "goto" => ("goto", "goto"),
            _ => ("->", "goto"),
        };
        let found = place.error_at(
            own,
            format!("expected a target after `{leads}`, found `{word}`"),
        );
        return Some(found.help(format!(
            "conditions are arms in braces: `{form} {{ when CONDITION -> ..  else -> .. }}`"
        )));
    }
    let near = |meant: &'static str| name::closest(word, [meant]).map(|_| meant);
    let other = |meant: &'static str| {
        let found = place.error_at(own, format!("`{word}` is no target"));
        found
            .help(format!("did you mean `{meant}`?"))
            .fix(own, meant)
    };
    let next = place.rest.chars().next()?;
    Some(match next {
        '.' if word != "parent" && near("parent").is_some() => other("parent"),
        '.' if word == "parent" => place.error_at(own, "expected a name after `parent.`"),
        '.' => {
            let more = place
                .rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
            let path = place
                .rest
                .get(..more.unwrap_or(place.rest.len()))?
                .trim_end_matches('.');
            let whole = Span {
                end: own.end + path.len() as u32,
                ..own
            };
            let text = format!("{word}{path}");
            let found = place.error_at(whole, format!("`{text}` is no target"));
            match VALUES.contains(&word) && !place.rest.get(path.len()..)?.starts_with(['(', '[']) {
                true => found
                    .help(format!(
                        "a target that is computed stands in parentheses: `({text})`"
                    ))
                    .fix(whole, format!("({text})")),
                false => found.help(FORMS),
            }
        }
        '(' if word != "fail" && near("fail").is_some() => other("fail"),
        '(' => {
            let found = place.error_at(own, format!("`{word}` is no target that takes arguments"));
            let arg = place.rest.get(1..)?.split([',', ')']).next()?.trim_ascii();
            match head.contains("each ") && first_word(arg) == arg && !arg.is_empty() {
                true => found.help(format!("write `{word} with {{ {arg}: {arg} }}`")),
                false => found.help(FORMS),
            }
        }
        '"' | '\'' => {
            let text = message::token(place.rest);
            let whole = Span {
                end: place.span.start + text.len() as u32,
                start: own.end,
                ..own
            };
            let found = place.error(format!(
                "expected `(` after `{word}`, found a text in quotes"
            ));
            match word {
                "fail" => found
                    .help(format!("write `fail({text})`"))
                    .fix(whole, format!("({text})")),
                _ => found.help(FORMS),
            }
        }
        _ => match place.first_word() {
            "set" | "emit" => place
                .error(format!(
                    "expected `{{` before `{}`, which belongs to the jump to `{word}`",
                    place.first_word()
                ))
                .help(format!("write `{word} {{ {} .. }}`", place.first_word())),
            "with" => place
                .error(format!(
                    "`{word}` is sent no values by this arrow, found `with`"
                ))
                .help(format!(
                    "write `each x in .. -> {word} with {{ .. }}`, or `{word} {{ set {{ .. }} }}`"
                )),
            "" => return None,
            _ if matches!(word, "for" | "foreach" | "every" | "map") || near("each").is_some() => {
                place
                    .error_at(own, format!("`{word}` begins no target"))
                    .help("did you mean `each`?")
                    .fix(own, "each")
            }
            _ => return None,
        },
    })
}

/// `goto Command(goto="a", update={..})`, `goto [Send("a", {..}) for x in xs]`, `goto state.n > 1 ? a : b`
fn computed(place: &Place, head: &str) -> Option<Diagnostic> {
    let outer = head.trim_end_matches(['[', ' ']);
    let start = outer.len()
        + place
            .before
            .get(outer.len()..)?
            .find(|c: char| !c.is_whitespace())?;
    let text = place.text.get(start..)?;
    // `goto state.n > 1 -> a, b`
    if let Some((condition, length)) = expression::first(text, place.types)
        && let Some(targets) = text.get(length..)?.trim_ascii_start().strip_prefix("->")
        && start + length > place.offset()
    {
        let mut targets = targets
            .split(['}', '\n'])
            .next()?
            .split(',')
            .map(str::trim_ascii);
        let (target, other) = (targets.next()?, targets.next().unwrap_or("end"));
        let at = place.before_at(start, start + length);
        let found = place.error_at(
            at,
            format!("expected a target, found the condition `{condition}`"),
        );
        return Some(found.help(format!(
            "write `goto {{ when {condition} -> {target}  else -> {other} }}`"
        )));
    }
    let (given, length) = jump::given(text, place.types)?;
    let jump::Given::Target(target) = &given else {
        return None;
    };
    let written = text
        .get(..length)
        .filter(|_| start + length > place.offset())?;
    let leads = last_word(outer);
    let arms = target.starts_with('{');
    let at = place.before_at(start, start + length);
    let found = place.error_at(at, format!("`{written}` is no target"));
    Some(match (leads, arms) {
        ("goto" | "start" | "on_error", _) => {
            let meant = format!("{leads} {target}");
            found.help(format!("write `{meant}`")).fix(at, target)
        }
        (_, true) => found.help(format!("arms stand in a node: `goto {target}`")),
        (_, false) => found.help(format!("write `-> {target}`")).fix(at, target),
    })
}

/// `parent.parent.x`
pub fn parent_twice(place: &Place) -> Option<Diagnostic> {
    let twice = place.before.ends_with("parent.parent") && place.rest.starts_with('.');
    twice.then(|| {
        let end = place.before.len();
        let found = place.error_at(
            place.before_at(end - "parent.parent".len(), end),
            "`parent.parent` is no target: a jump leaves one graph",
        );
        found.help("write `parent.x` here, and `ends [parent.x]` where this graph is called")
    })
}

/// `each x of xs -> a`, `each (x in xs) -> a`, `each x in xs a`
pub fn each_form(place: &Place) -> Option<Diagnostic> {
    let at = place.before.rfind("each")?;
    let behind = place.before.get(at + 4..)?;
    if behind.contains("->")
        || behind.contains('\n')
        || !(behind.is_empty() || behind.starts_with(' '))
    {
        return None;
    }
    let found = message::found(place.rest);
    if place.tried(Rule::kw_in) || behind.is_empty() && place.tried(Rule::ident) {
        let wanted = if behind.is_empty() { "a name" } else { "`in`" };
        let path = |c: char| !(c.is_ascii_alphanumeric() || "_.".contains(c));
        let list = place.rest.find(path).map(|end| place.rest.get(..end));
        let list = match (place.rest.starts_with('.'), list.flatten()) {
            (true, Some(list)) => format!("{}{list}", place.last_word()),
            _ => "EXPR".to_owned(),
        };
        let form = format!("write `each x in {list} -> NODE with {{ x: x }}`");
        let found = place.error(format!("expected {wanted} in `each`, found {found}"));
        return Some(found.help(form));
    }
    let name = place.first_word();
    let arrow = place.tried(Rule::arrow) && behind.contains(" in ") && !name.is_empty();
    if arrow && name == "with" {
        return Some(sign_for_arrow(place));
    }
    arrow.then(|| {
        let found = place.error(format!("expected `->` before `{name}`"));
        found.fix(place.at(0, 0), "-> ")
    })
}

/// `each x in xs > a with { .. }`, `each x in xs with { .. }`
fn sign_for_arrow(place: &Place) -> Diagnostic {
    let target = last_word(place.before);
    let head = place.before.strip_suffix(target).unwrap_or("");
    let list = head.trim_ascii_end();
    let sign = ["-", ">", "==", "<"].into_iter().find(|sign| {
        let value = list.strip_suffix(sign).unwrap_or("").trim_ascii_end();
        value.ends_with(|c: char| c.is_ascii_alphanumeric() || "_])".contains(c))
    });
    let Some(sign) = sign.filter(|_| !target.is_empty()) else {
        return place
            .error("expected `->` and the name of a node before `with`")
            .help("write `each x in EXPR -> NODE with { .. }`");
    };
    let at = place.before_at(list.len() - sign.len(), list.len());
    place.instead(
        at,
        format!("expected `->` before `{target}`, found `{sign}`"),
        "->",
    )
}

/// `ends [a -> b]`
pub fn arrow_for_as(place: &Place) -> Option<Diagnostic> {
    let sign = ["->", "=>", ":", "="]
        .into_iter()
        .find(|sign| place.rest.starts_with(sign))?;
    (place.tried(Rule::kw_as)).then(|| {
        let at = place.at(0, sign.len());
        let found = place.error_at(
            at,
            format!(
                "expected `as` after `{}`, found `{sign}`",
                place.last_word()
            ),
        );
        found.help("write `as`").fix(
            at,
            if place
                .rest
                .get(sign.len()..)
                .is_some_and(|rest| rest.starts_with(' '))
            {
                "as"
            } else {
                "as "
            },
        )
    })
}

/// A word that is nearly one of the keywords that may stand here.
pub fn close_keyword(place: &Place) -> Option<Diagnostic> {
    let word = place.first_word();
    let words: Vec<&'static str> = place
        .tried
        .iter()
        .filter_map(|rule| message::keyword(*rule))
        .collect();
    let close = name::closest(word, words.iter().copied()).filter(|_| word.len() > 2)?;
    Some(
        Diagnostic::new(
            &codes::UNKNOWN_KEYWORD,
            format!("expected `{close}`, found `{word}`"),
            place.span,
        )
        .help(format!("did you mean `{close}`?"))
        .fix(place.span, close),
    )
}
