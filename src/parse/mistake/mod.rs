//! Common mistakes, each with its own words; [`message`] words the rest. [`target`] has those of arrows and arms, [`declared`]
//! those of fields, types and lists, [`value`] those of expressions, [`comprehension`] lists and functions as in Python, [`foreign`] forms of other languages.

mod comprehension;
mod declared;
mod foreign;
mod target;
mod value;

use pest::error::Error;

use crate::base::{FileId, Span, name};
use crate::diag::{Diagnostic, codes};

use super::grammar::Rule;
use super::{keyword, message};

/// Where the grammar gave up, and what it tried there.
struct Place<'a> {
    /// The text that was read.
    text: &'a str,
    /// What stands before the place, blanks left out.
    before: &'a str,
    /// What stands there.
    rest: &'a str,
    /// The rules tried.
    tried: Vec<Rule>,
    /// The first token there.
    span: Span,
}

impl Place<'_> {
    fn tried(&self, rule: Rule) -> bool {
        self.tried.contains(&rule)
    }

    /// Whether an expression could have ended here.
    fn after_operand(&self) -> bool {
        self.tried(Rule::op)
    }

    fn last_word(&self) -> &str {
        last_word(self.before)
    }

    fn first_word(&self) -> &str {
        first_word(self.rest)
    }

    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(&codes::SYNTAX_ERROR, message, self.span)
    }

    fn error_at(&self, at: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(&codes::SYNTAX_ERROR, message, at)
    }

    /// A stretch of what stands here.
    fn at(&self, start: usize, length: usize) -> Span {
        let start = self.span.start as usize + start;
        Span::new(self.span.file, start, start + length)
    }

    /// A stretch of what stands before.
    fn before_at(&self, start: usize, end: usize) -> Span {
        let base = (self.span.start as usize).saturating_sub(self.text.len() - self.rest.len());
        Span::new(self.span.file, base + start, base + end)
    }
}

/// The word that a text begins with; empty where it begins with none.
pub fn first_word(text: &str) -> &str {
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}

/// The word that a text ends with; empty where it ends with none.
pub fn last_word(text: &str) -> &str {
    let start = text
        .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .map_or(0, |at| {
            at + text
                .get(at..)
                .and_then(|t| t.chars().next())
                .map_or(1, char::len_utf8)
        });
    text.get(start..).unwrap_or("")
}

/// Words an error of the grammar; `base` is where `text` begins in the file.
pub fn report(text: &str, base: usize, file: FileId, error: Error<Rule>) -> Diagnostic {
    let at = message::offset(&error);
    let place = Place {
        text,
        before: text.get(..at).unwrap_or("").trim_ascii_end(),
        rest: text.get(at..).unwrap_or(""),
        tried: message::tried(error.clone()),
        span: message::token_span(text, at, base, file),
    };
    let known: [fn(&Place) -> Option<Diagnostic>; 76] = [
        foreign::nameless_node,
        foreign::expression_for_name,
        foreign::attribute_without_parens,
        foreign::type_on_next_line,
        foreign::name_in_list,
        foreign::when_in_tools,
        unseen_blank,
        foreign_letter,
        foreign::comment,
        foreign::ty,
        foreign::list_of,
        foreign::inline_record,
        foreign::import,
        foreign::inner_quote,
        foreign::python_if,
        foreign::tuple,
        foreign::negative_attempts,
        foreign::spaced_duration,
        target::parent_twice,
        curly_quote,
        odd_number,
        unnamed_argument,
        question_dot,
        third_equals,
        target::semicolon,
        target::exit_target,
        value::lambda,
        comprehension::lambda_word,
        comprehension::for_word,
        declared::assign_for_colon,
        fat_arrow,
        target::odd_arrow,
        target::arrow_for_as,
        target::lost_target,
        state_prefix,
        value::assigning_sign,
        value::named_in_call,
        value::foreign_operator,
        declared::unquoted_attribute,
        declared::attribute_before,
        declared::optional_name,
        declared::union_in_braces,
        declared::second_question,
        declared::colon_for_default,
        declared::missing_type,
        declared::open_union,
        declared::missing_bar,
        declared::bare_list,
        positional_argument,
        target::quoted_target,
        declared::quoted_name,
        model_text,
        wrong_kind,
        kind_without_colon,
        missing_kind,
        equals_sign,
        other_operator,
        target::arrow_before_arms,
        goto_arrow,
        target::arms_without_braces,
        target::else_if,
        target::other_when,
        target::condition_on_edge,
        target::each_form,
        target::after_target,
        target::colon_behind_keyword,
        missing_brace,
        missing_result_arrow,
        target::close_keyword,
        missing_arrow,
        declared::modifier,
        missing_colon,
        value::missing_operator,
        missing_comma,
        reserved_word,
        unfinished,
    ];
    known
        .iter()
        .find_map(|mistake| mistake(&place))
        .unwrap_or_else(|| message::expected(text, base, file, error))
}

/// Blanks that look like one and are none: U+00A0, U+200B.
fn unseen_blank(place: &Place) -> Option<Diagnostic> {
    let first = place.rest.chars().next()?;
    let unseen = !first.is_ascii()
        && (first.is_whitespace() || ('\u{200b}'..='\u{200f}').contains(&first))
        || matches!(first, '\u{2060}' | '\u{feff}' | '\u{ad}');
    unseen.then(|| {
        let at = place.at(0, first.len_utf8());
        let blank = if first.is_whitespace() { " " } else { "" };
        place
            .error_at(
                at,
                format!(
                    "the character U+{:04X}, which looks like a blank or like nothing",
                    u32::from(first)
                ),
            )
            .help("write a blank, or take it out")
            .fix(at, blank)
    })
}

/// `node größe`: the grammar gives up within the name.
fn foreign_letter(place: &Place) -> Option<Diagnostic> {
    let first = place.rest.chars().next()?;
    if first.is_ascii() || !first.is_alphanumeric() {
        return None;
    }
    let begun = match place.text.len() - place.rest.len() == place.before.len() {
        true => place.last_word(),
        false => "",
    };
    let end = place
        .rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(place.rest.len());
    let word = format!("{begun}{}", place.rest.get(..end).unwrap_or(""));
    let mut found = place.error(format!("`{word}` is no name"));
    if let Some(label) = found.labels.first_mut() {
        label.span.start -= begun.len() as u32;
    }
    Some(found.help("names are made of the letters `a` to `z`, digits and `_`"))
}

/// `10.` and `1_000`
fn odd_number(place: &Place) -> Option<Diagnostic> {
    let in_number = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let before = place.text.get(..place.text.len() - place.rest.len())?;
    let start = before
        .trim_end_matches(' ')
        .rfind(|c| !in_number(c))
        .map_or(0, |at| at + 1);
    let begun = before.get(start..)?.trim_end();
    let rest = place
        .rest
        .find(|c| !in_number(c))
        .unwrap_or(place.rest.len());
    let rest = place.rest.get(..rest)?;
    let word = match before.ends_with(' ') {
        true => begun.to_owned(),
        false => format!("{begun}{rest}"),
    };
    let odd = word.ends_with('.') || word.contains('_');
    if !begun.starts_with(|c: char| c.is_ascii_digit()) || !odd {
        return None;
    }
    let mut found = place.error(format!("`{word}` is no number"));
    if let Some(label) = found.labels.first_mut() {
        let start = label.span.start - (before.len() - start) as u32;
        label.span.start = start;
        label.span.end = start + word.len() as u32;
    }
    let mend = match word.strip_suffix('.') {
        Some(whole) => format!("{whole}.0"),
        None => word.replace('_', ""),
    };
    Some(found.help(format!("write `{mend}`")))
}

/// `graph A = B(Mode.x)`, `tool(state.x)`: a value without the name of its argument.
fn unnamed_argument(place: &Place) -> Option<Diagnostic> {
    let only_colon = place.tried.iter().all(|rule| *rule == Rule::colon);
    let ends = place.rest.starts_with(['.', ',', ')', '(']) && !place.tried.is_empty();
    let value = place.last_word();
    let head = place.before.trim_end_matches(value).trim_ascii_end();
    (only_colon && ends && head.ends_with(['(', ',']) && innermost_open(place.before) == Some('('))
        .then(|| {
            let shown = message::found(place.rest);
            place
                .error(format!(
                    "expected the name of an argument and `:` before `{value}`, found {shown}"
                ))
                .help("arguments are named: `name: value`")
        })
}

/// `a?.b`
fn question_dot(place: &Place) -> Option<Diagnostic> {
    let at = place.before.rfind("?.")?;
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let before = place
        .before
        .get(..at)?
        .ends_with(|c| word(c) || c == ')' || c == ']');
    let after = place.before.get(at + 2..)?.starts_with(word);
    let base = place.span.start as usize - (place.text.len() - place.rest.len());
    let span = Span::new(place.span.file, base + at, base + at + 2);
    (before && after && place.tried(Rule::op)).then(|| {
        Diagnostic::new(&codes::SYNTAX_ERROR, "`?.` is no operator", span)
            .help("write `.?`, and what else it is: `x.?name.orValue(..)`")
    })
}

/// `a === b`
fn third_equals(place: &Place) -> Option<Diagnostic> {
    let written = match place.before {
        text if text.ends_with("==") => "===",
        text if text.ends_with("!=") => "!==",
        _ => return None,
    };
    let meant = written.strip_suffix('=')?;
    place.rest.starts_with('=').then(|| {
        place
            .error(format!("`{written}` is no operator"))
            .help(format!("write `{meant}`"))
            .fix(place.span, "")
    })
}

/// Quotes of a word processor.
fn curly_quote(place: &Place) -> Option<Diagnostic> {
    let quote = place.rest.chars().next()?;
    let straight = match quote {
        '“' | '”' | '„' => '"',
        '‘' | '’' | '‚' => '\'',
        _ => return None,
    };
    Some(
        place
            .error(format!("`{quote}` begins no text"))
            .help(format!("write `{straight}`")),
    )
}

/// `set { state.n: 1 }`
fn state_prefix(place: &Place) -> Option<Diagnostic> {
    let names_field = place.tried(Rule::colon) && place.tried(Rule::assign);
    (names_field && place.last_word() == "state" && place.rest.starts_with('.')).then(|| {
        place
            .error("expected `:` after the field's name, found `.`")
            .help("name the field without `state.`")
    })
}

/// `call search("x")`
fn positional_argument(place: &Place) -> Option<Diagnostic> {
    let (head, _) = place.before.rsplit_once('(')?;
    let mut words = head.split_ascii_whitespace().rev();
    let (_tool, call) = (words.next()?, words.next()?);
    let first = place.rest.chars().next()?;
    let value = !place.tried(Rule::op) && (first.is_alphanumeric() || "\"'[{(.-!".contains(first));
    (call == "call" && value && innermost_open(place.before) == Some('(')).then(|| {
        place
            .error("expected the name of an argument")
            .help("arguments are named: `name: value`")
    })
}

/// `model "openai/gpt-5.2"`, in a node or with no name before it.
fn model_text(place: &Place) -> Option<Diagnostic> {
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

/// `node a: lmm`
fn wrong_kind(place: &Place) -> Option<Diagnostic> {
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
    Some(match name::closest(word, keyword::KINDS.iter().copied()) {
        Some(close) => found
            .help(format!("did you mean `{close}`?"))
            .fix(place.span, close),
        None => found.help(format!(
            "kinds are {}",
            name::list(keyword::KINDS.iter().copied())
        )),
    })
}

/// `node a update`, `node a = update`
fn kind_without_colon(place: &Place) -> Option<Diagnostic> {
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
    Some(
        place
            .error(format!("expected `:` after `{name}`, found `{found}`"))
            .help(format!("write `node {name}: {kind}`"))
            .fix(
                Span {
                    start,
                    end,
                    ..place.span
                },
                if sign.is_empty() { ": " } else { ":" },
            ),
    )
}

/// `node a -> b`
fn missing_kind(place: &Place) -> Option<Diagnostic> {
    let is_node = first_word(place.text) == "node"
        && place.tried(Rule::colon)
        && innermost_open(place.before).is_none();
    (is_node && place.text.split_ascii_whitespace().count() > 1).then(|| {
        let name = place.last_word();
        place
            .error(format!("expected `:` and the kind of node `{name}`"))
            .help(format!("write `node {name}: update`, or another kind"))
    })
}

/// `a => b`
fn fat_arrow(place: &Place) -> Option<Diagnostic> {
    let line = place.rest.lines().next().unwrap_or("");
    let again = line.get(2..).is_some_and(|line| line.contains("->"));
    if place.rest.starts_with("=>") && place.after_operand() && (again || !place.tried(Rule::arrow))
    {
        return Some(
            place
                .error("`=>` does not compare")
                .help("write `>=`")
                .fix(place.span, ">="),
        );
    }
    (place.rest.starts_with("=>")).then(|| {
        place
            .error("`=>` is no arrow")
            .help("write `->`")
            .fix(place.span, "->")
    })
}

/// `a = b` for `a == b`, and `set { a = b }` for `set { a: b }`
fn equals_sign(place: &Place) -> Option<Diagnostic> {
    if !place.rest.starts_with('=') || place.rest.starts_with("==") {
        return None;
    }
    if let Some(key) = map_key(place) {
        return Some(
            place
                .error(format!("expected `:` after the key {key}, found `=`"))
                .help(format!("write `{key}: ..`"))
                .fix(place.span, ":"),
        );
    }
    if place.rest.starts_with("=!") && place.after_operand() {
        let at = place.at(0, 2);
        return Some(
            place
                .error_at(at, "`=!` is no operator")
                .help("write `!=`")
                .fix(at, "!="),
        );
    }
    if place.rest.starts_with("=<") && place.after_operand() {
        let at = place.at(0, 2);
        return Some(
            place
                .error_at(at, "`=<` is no operator")
                .help("write `<=`")
                .fix(at, "<="),
        );
    }
    if place.after_operand() {
        return Some(
            place
                .error("`=` does not compare")
                .help("write `==`")
                .fix(place.span, "=="),
        );
    }
    let name = place.last_word();
    place.tried(Rule::colon).then(|| {
        place
            .error(format!("expected `:` after `{name}`, found `=`"))
            .help(format!("write `{name}: ..`"))
            .fix(place.span, ":")
    })
}

/// The key of a map that is written out before a place.
fn map_key<'a>(place: &'a Place) -> Option<&'a str> {
    let quote = place
        .before
        .chars()
        .last()
        .filter(|c| matches!(c, '"' | '\''))?;
    let key = place.before.get(..place.before.len() - 1)?;
    let start = key
        .rfind([quote, '\n'])
        .filter(|at| key.get(*at..).is_some_and(|t| t.starts_with(quote)))?;
    let open = place
        .before
        .get(..start)?
        .trim_ascii_end()
        .ends_with(['{', ',']);
    (open && place.tried(Rule::colon) && innermost_open(place.before) == Some('{'))
        .then(|| place.before.get(start..))
        .flatten()
}

/// Operators of other languages.
fn other_operator(place: &Place) -> Option<Diagnostic> {
    let (written, meant) = match place.first_word() {
        "and" if place.after_operand() => ("and", "&&"),
        "or" if place.after_operand() => ("or", "||"),
        "is" if place.after_operand() => {
            let behind = place.rest.get(2..).unwrap_or("");
            let value = behind.trim_ascii_start();
            if first_word(value) == "not" {
                let at = place.at(0, 2 + (behind.len() - value.len()) + 3);
                return Some(
                    place
                        .error_at(at, "`is not` is no operator")
                        .help("write `!=`")
                        .fix(at, "!="),
                );
            }
            ("is", "==")
        }
        "" if place.before.ends_with('?') && place.rest.starts_with('?') => {
            return Some(
                place
                    .error("`??` is no operator")
                    .help("write `x == null ? other : x`, or `x.?y.orValue(other)`"),
            );
        }
        "" if place.after_operand() && place.rest.starts_with('&') => ("&", "&&"),
        "" if place.after_operand() && place.rest.starts_with('|') => ("|", "||"),
        _ if place.after_operand() && place.last_word() == "not" => {
            return Some(
                place
                    .error("`not` is no operator")
                    .help("write `!` before what is negated"),
            );
        }
        _ => return None,
    };
    let found = place.error(format!("`{written}` is no operator"));
    let behind = place.rest.get(written.len()..).unwrap_or("");
    let value = behind.trim_ascii_start();
    let quote = |c: char| matches!(c, '"' | '\'');
    let is_text = value.starts_with(quote) || place.before.ends_with(quote);
    let is_value =
        is_text || value.starts_with(|c: char| matches!(c, '[' | '{') || c.is_ascii_digit());
    Some(match written {
        "or" | "|" if is_value => found.help(crate::base::foreign::DEFAULT),
        "&" if is_text => found.help("write `+`").fix(place.span, "+"),
        _ => found
            .help(format!("write `{meant}`"))
            .fix(place.span, meant),
    })
}

/// `goto -> a`
fn goto_arrow(place: &Place) -> Option<Diagnostic> {
    (place.last_word() == "goto" && place.rest.starts_with("->")).then(|| {
        place
            .error("expected a target after `goto`, found `->`")
            .help("write the target without `->`")
            .fix(place.span, "")
    })
}

/// `set n: 1`
fn missing_brace(place: &Place) -> Option<Diagnostic> {
    let word = place.last_word();
    let example = match word {
        "set" => "set { field: value }",
        "with" => "with { field: value }",
        "into" => "into { field: field }",
        "input" => "input { name: type }",
        "cache" => "cache { key value, ttl 1h }",
        "state" => "state { name: type }",
        "context" => "context { name: type }",
        "migrate" => "migrate { rename field a -> b }",
        _ => return None,
    };
    (message::wanted(&place.tried)? == "`{`").then(|| {
        let found = message::found(place.rest);
        place
            .error(format!("expected `{{` after `{word}`, found {found}"))
            .help(format!("write `{example}`"))
    })
}

/// `tool f(a: T) T`
fn missing_result_arrow(place: &Place) -> Option<Diagnostic> {
    let is_function = matches!(first_word(place.text), "tool" | "reducer" | "function");
    let after_params = place.before.ends_with(')') && !place.first_word().is_empty();
    (is_function && after_params && place.tried(Rule::arrow)).then(|| {
        let found = message::found(place.rest);
        let here = place.span.before();
        place
            .error(format!("expected `->` before the result type {found}"))
            .fix(here, "-> ")
    })
}

/// `start a`, `start: a`, `node a: update end`
fn missing_arrow(place: &Place) -> Option<Diagnostic> {
    if !place.tried(Rule::arrow) || place.after_operand() {
        return None;
    }
    let before = place.span.before();
    let found = message::found(place.rest);
    let (at, text) = match place.rest.chars().next()? {
        c if c.is_ascii_alphabetic() || c == '[' => (before, "-> "),
        ':' | '=' | '>' => (place.span, "->"),
        _ => return None,
    };
    let wanted = message::wanted(&place.tried)?;
    let missing = place.error(format!("expected {wanted}, found {found}"));
    // What begins with a word of its own is no edge from a node of that name.
    let begun = place.before == first_word(place.text)
        && keyword::MEMBERS.contains(&place.before)
        && place.before != "start";
    let missing = match begun {
        true => missing,
        false => missing.fix(at, text),
    };
    let result = place.before.ends_with(')') && first_word(place.text) == "tool";
    Some(match result {
        true => missing.help("what it gives back stands behind `->`"),
        false => missing,
    })
}

/// `name type` for `name: type`
fn missing_colon(place: &Place) -> Option<Diagnostic> {
    let named = !place.last_word().is_empty() && !place.first_word().is_empty();
    if !named || place.tried.iter().any(|rule| *rule != Rule::colon) {
        return None;
    }
    let before = place.span.before();
    let found = message::found(place.rest);
    Some(
        place
            .error(format!(
                "expected `:` after `{}`, found {found}",
                place.last_word()
            ))
            .fix(before, ": "),
    )
}

/// `[a b]`, `f(a b)`, `{k: v k: v}`
fn missing_comma(place: &Place) -> Option<Diagnostic> {
    let open = innermost_open(place.before)?;
    let begins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'' | '{' | '(' | '[');
    if !place.rest.starts_with(begins) || place.before.ends_with([',', '(', '[', '{', ':']) {
        return None;
    }
    let reserved = |word: &str| keyword::RESERVED.contains(&word);
    if place.after_operand() && (reserved(place.first_word()) || reserved(place.last_word())) {
        return None;
    }
    // What was tried only ends the list, or goes on with what is complete.
    let ends = |rule: &Rule| {
        matches!(
            rule,
            Rule::rbracket | Rule::rparen | Rule::kw_where | Rule::kw_as | Rule::kw_keep
        ) || message::wanted(&[*rule]).is_none()
    };
    let gap = place
        .text
        .get(place.before.len()..place.text.len() - place.rest.len())?;
    let lists = [Rule::rparen, Rule::rbracket];
    let next_line =
        gap.contains('\n') && open != '{' && lists.iter().any(|rule| place.tried(*rule));
    let complete = next_line || place.after_operand() || place.tried.iter().all(ends);
    (complete && open != '{' || place.after_operand()).then(|| {
        let found = message::found(place.rest);
        if gap.contains('\n') {
            // The line that lacks it is the one before.
            let end = place.before.len();
            let last = match place.last_word() {
                "" => 1,
                word => word.len(),
            };
            let start = (0..=end - last)
                .rev()
                .find(|at| place.before.is_char_boundary(*at));
            let own = place.before_at(start.unwrap_or(end), end);
            let shown = match place.before.get(start.unwrap_or(end)..).unwrap_or("") {
                "\"" | "'" => "a text in quotes".to_owned(),
                shown => format!("`{shown}`"),
            };
            return place
                .error_at(own, format!("expected `,` behind {shown}, before {found}"))
                .fix(place.before_at(end, end), ",");
        }
        let here = place.span.before();
        let missing = place.error(format!("expected `,` before {found}"));
        // `[a else b]`: more than a sign is wrong with a word of the language in a list of names.
        match place.after_operand() || !keyword::is_any(place.first_word()) {
            true => missing.fix(here, ", "),
            false => missing,
        }
    })
}

/// The innermost bracket that is open at the end of a text. Strings and comments are passed over.
fn innermost_open(text: &str) -> Option<char> {
    let mut open = Vec::new();
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(q), _) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => open.push(c),
            (None, ')' | ']' | '}') => {
                open.pop();
            }
            _ => {}
        }
    }
    open.pop()
}

/// A reserved word of CEL where a value must stand.
fn reserved_word(place: &Place) -> Option<Diagnostic> {
    let word = place.first_word();
    let value = message::wanted(&place.tried).is_some_and(|w| w.contains(message::EXPRESSION));
    (value && keyword::RESERVED.contains(&word)).then(|| {
        let found = place.error(format!(
            "expected an expression, found the reserved word `{word}`"
        ));
        match word {
            "if" => found.help("write `condition ? value : other`"),
            _ => found,
        }
    })
}

/// The text stops where something has to follow.
fn unfinished(place: &Place) -> Option<Diagnostic> {
    if !place.rest.is_empty() {
        return None;
    }
    let wanted = message::wanted(&place.tried)?;
    let start = place.span.start as usize;
    let shown = match last_word(place.before) {
        "" if place.before.ends_with("->") => "->".to_owned(),
        "" => place.before.chars().last().map(|c| c.to_string())?,
        word => word.to_owned(),
    };
    let gap = place.text.len() - place.before.len();
    let at = Span::new(
        place.span.file,
        start.saturating_sub(gap),
        start.saturating_sub(gap),
    );
    Some(Diagnostic::new(
        &codes::SYNTAX_ERROR,
        format!("expected {wanted} after `{shown}`"),
        at,
    ))
}
