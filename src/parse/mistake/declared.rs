//! Mistakes in declarations: fields, types, lists, attributes.

use crate::base::foreign::attribute;
use crate::base::foreign::text::balanced;
use crate::base::name;
use crate::diag::Diagnostic;

use super::super::grammar::Rule;
use super::super::message;
use super::target::quoted_word;
use super::{Place, first_word, innermost_bracket, last_word};

/// `enum A = x | y`
pub fn enum_sign(place: &Place) -> Option<Diagnostic> {
    if !place.rest.starts_with('=') {
        return None;
    }
    let before = place.types.text.get(..place.span.start as usize)?;
    let (head, inside) = before.rsplit_once('{').unwrap_or(("", ""));
    let line = head.lines().last().unwrap_or("").trim_ascii_start();
    if first_word(line) == "enum" && !inside.contains('}') {
        let member = last_word(inside.trim_ascii_end());
        let found = place.error(format!(
            "a member has no value, found `=` behind `{member}`"
        ));
        return Some(found.help(format!(
            "a member is its own text: write `{member}`, or its value as the name"
        )));
    }
    if first_word(place.text) != "enum" {
        return None;
    }
    let name = place.last_word();
    let found = place.error(format!(
        "no `=` stands between enum `{name}` and its members"
    ));
    let written = place.rest.get(1..)?;
    let body = written.trim_ascii();
    let start = place.offset();
    if body.starts_with('{') {
        let at = place.before_at(start, place.text.len() - written.trim_ascii_start().len());
        return Some(
            found
                .help(format!("write `enum {name} {{ .. }}`"))
                .fix(at, ""),
        );
    }
    let members = body.trim_start_matches('|').split('|');
    let members: Vec<&str> = members
        .map(|m| m.trim_ascii().trim_matches(['"', '\'']))
        .collect();
    let begins = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let plain = |name: &&str| begins(name) && first_word(name) == *name;
    if !members.iter().all(plain) {
        return Some(found.help(format!("write `enum {name} {{ a, b }}`")));
    }
    let found = found.help(format!("write `enum {name} {{ {} }}`", members.join(", ")));
    // Edits one by one: where a text is replaced as a whole, its members have no places of their own.
    let first = place.text.len() - written.trim_ascii_start().len();
    let bar = body.starts_with('|');
    let opened = place.before_at(start, if bar { first + 1 } else { start + 1 });
    let signs = body.char_indices().filter(|(at, c)| match c {
        '|' => *at > 0,
        '"' | '\'' => true,
        _ => false,
    });
    let found = signs.fold(found.fix(opened, "{"), |found, (at, c)| {
        let at = place.before_at(first + at, first + at + 1);
        found.fix(at, if c == '|' { "," } else { "" })
    });
    let end = place.text.trim_ascii_end().len();
    Some(found.fix(place.before_at(end, end), " }"))
}

/// `score: int = Field(default=0, ge=0, description="why")`
pub fn field_call(place: &Place) -> Option<Diagnostic> {
    // Of a type the name alone is read.
    let (open, head) = match place.rest.starts_with('(') {
        true => (place.offset(), place.before),
        false => {
            let (open, _) = innermost_bracket(place.before).filter(|(_, sign)| *sign == '(')?;
            (open, place.before.get(..open)?)
        }
    };
    let head = head.strip_suffix("Field")?.trim_ascii_end();
    let inside = place.text.get(open + 1..)?;
    let end = balanced(inside, ')')?;
    // `n: Field(ge=1)`
    let no_type = head.ends_with(':');
    let declared = head
        .strip_suffix(['=', '@'])
        .unwrap_or(head)
        .trim_ascii_end();
    if declared == head && !no_type {
        return None;
    }
    let number = inside.get(..end)?.contains(|c: char| c.is_ascii_digit());
    let ty = match no_type {
        true if number && !inside.get(..end)?.contains("length") => " int",
        true => " string",
        false => "",
    };
    let typed = format!("{declared}{ty}");
    let attribute::Field {
        doc,
        default,
        limits,
        unknown,
    } = attribute::field(
        inside.get(..end)?,
        last_word(typed.trim_end_matches('?')),
        place.types,
    )?;
    let default = format!("{ty}{default}");
    let meant = format!("{declared}{default}{limits}");
    let at = place.before_at(declared.len(), open + end + 2);
    let found = place.error_at(
        at,
        "a field has no `Field(..)`: what it is for stands before it",
    );
    if !unknown.is_empty() {
        return Some(found.help(format!(
            "write `{meant}`, in which nothing stands for {}",
            name::list(unknown)
        )));
    }
    let found = found.fix(at, default + &limits);
    Some(match doc {
        None => found.help(format!("write `{meant}`")),
        Some(doc) => found
            .help(format!(
                "write `{meant}`, and on the line before it `/// {doc}`"
            ))
            .fix(
                place.before_at(0, 0),
                format!("/// {doc}\n{}", place.indent()),
            ),
    })
}

/// What may stand before a field of a state.
const MODIFIERS: [&str; 5] = ["in", "out", "persist", "ephemeral", "untracked"];

/// `ephemral x: int`, `inout x: int`
pub fn modifier(place: &Place) -> Option<Diagnostic> {
    let (word, field) = (place.last_word(), place.first_word());
    let after = place.rest.get(field.len()..)?.trim_ascii_start();
    let named = !word.is_empty() && !field.is_empty() && after.starts_with(':');
    if !named
        || place.tried.iter().any(|rule| *rule != Rule::colon)
        || last_word(place.before.strip_suffix(word)?.trim_ascii_end()) == "node"
    {
        return None;
    }
    let at = place.before_at(place.before.len() - word.len(), place.before.len());
    let meant = match word {
        "inout" | "in_out" => Some("in out"),
        "transient" | "temp" | "temporary" | "volatile" => Some("ephemeral"),
        "persistent" | "persisted" | "keep" | "kept" | "durable" => Some("persist"),
        "input" | "readonly" => Some("in"),
        "output" => Some("out"),
        _ => name::closest(word, MODIFIERS).filter(|_| word.len() > 1),
    };
    // Half of `if` isn't `in`: that may be any of them.
    let certain = word.len() > 2;
    let found = place.error_at(at, format!("`{word}` is no modifier of a field"));
    Some(match meant {
        Some(meant) if !MODIFIERS.contains(&word) => {
            let found = found.help(format!("did you mean `{meant}`?"));
            match certain {
                true => found.fix(at, meant),
                false => found,
            }
        }
        _ if MODIFIERS.contains(&word) => place
            .error_at(
                at,
                format!("`{word}` stands only before fields of a `state`"),
            )
            .help(format!("write `{field}: ..`")),
        _ => found.help(format!(
            "before the name `{field}` may stand {}",
            name::list(MODIFIERS)
        )),
    })
}

/// `input { n := int }`
pub fn assign_for_colon(place: &Place) -> Option<Diagnostic> {
    let word = place.last_word();
    let only_colon = place.tried.iter().all(|rule| *rule == Rule::colon);
    (place.rest.starts_with(":=") && only_colon && !word.is_empty()).then(|| {
        let at = place.at(0, 2);
        let found = place.error_at(at, format!("expected `:` after `{word}`, found `:=`"));
        found
            .help("`:=` stands only in `set`, where a value goes past a reducer")
            .fix(at, ":")
    })
}

/// `x?: string`
pub fn optional_name(place: &Place) -> Option<Diagnostic> {
    let word = place.last_word();
    (place.rest.starts_with('?')
        && !word.is_empty()
        && place.tried(Rule::colon)
        && !place.after_operand())
    .then(|| {
        let found = place.error(format!("expected `:` after `{word}`, found `?`"));
        found.help(format!(
            "`?` stands behind the type: `{word}: {}?`",
            written_type(place.rest).unwrap_or("string")
        ))
    })
}

/// The name of the type behind `?:`.
fn written_type(rest: &str) -> Option<&str> {
    let behind = rest
        .strip_prefix('?')?
        .trim_ascii_start()
        .strip_prefix(':')?;
    let word = first_word(behind.trim_ascii_start());
    (!word.is_empty()).then_some(word)
}

/// `type A { B | C }`
pub fn union_in_braces(place: &Place) -> Option<Diagnostic> {
    let word = place.last_word();
    let only_colon = place.tried.iter().all(|rule| *rule == Rule::colon);
    (place.rest.starts_with('|') && only_colon && !word.is_empty()).then(|| {
        let found = place.error(format!("expected `:` after `{word}`, found `|`"));
        found.help(format!(
            "a union stands behind `=`, without braces: `type NAME = {word} | ..`"
        ))
    })
}

/// `string??`
pub fn second_question(place: &Place) -> Option<Diagnostic> {
    let ty = place.tried(Rule::via) || place.tried(Rule::attribute) || place.tried(Rule::equals);
    (place.before.ends_with('?') && place.rest.starts_with('?') && ty && !place.after_operand())
        .then(|| {
            let at = place.at(0, 1);
            let found = place.error_at(at, "a second `?` says nothing more");
            found.help("write one `?`").fix(at, "")
        })
}

/// `n: int : 0`
pub fn colon_for_default(place: &Place) -> Option<Diagnostic> {
    let name = last_word(place.before.strip_suffix(':')?.trim_ascii_end());
    let ty = place.tried(Rule::type_expr) || place.tried(Rule::type_member);
    let word = first_word(place.rest);
    let behind = place.rest.get(word.len()..)?;
    let value = behind.trim_start_matches([' ', '\t']).strip_prefix(':')?;
    let on_line = value.trim_start_matches([' ', '\t']);
    if !ty || name.is_empty() || word.is_empty() || on_line.starts_with(['\n', '\r']) {
        return None;
    }
    let at = place.at(place.rest.len() - value.len() - 1, 1);
    Some(place.instead(
        at,
        format!("expected `=` before the default of `{name}`, found `:`"),
        "=",
    ))
}

/// `n:` and no type on that line.
pub fn missing_type(place: &Place) -> Option<Diagnostic> {
    let before = place.before.strip_suffix(':')?.trim_ascii_end();
    let word = last_word(before);
    let ty = place.tried(Rule::type_expr) || place.tried(Rule::type_member);
    let gap = place.text.get(place.before.len()..place.offset())?;
    (ty && !word.is_empty()
        && (gap.contains('\n')
            || place.rest.is_empty()
            || place.rest.starts_with([',', '}', ')', '=', '@'])))
    .then(|| {
        let at = place.before_at(before.len() - word.len(), place.before.len());
        let found = place.error_at(at, format!("`{word}` has no type"));
        found.help(format!("write `{word}: string`, for example"))
    })
}

/// `A |` and no type behind it.
pub fn open_union(place: &Place) -> Option<Diagnostic> {
    let member = place.tried(Rule::type_member);
    let sign = place.rest.starts_with('|');
    if member && sign && place.before.ends_with('|') {
        let at = place.at(0, 1);
        let found = place.error_at(at, "types are joined by one `|`, found `||`");
        return Some(found.help("write `|`").fix(at, ""));
    }
    let lost = sign && place.tried(Rule::bar);
    (lost || member && place.before.ends_with('|')).then(|| {
        let at = match lost {
            true => place.at(0, 1),
            false => place.before_at(place.before.len() - 1, place.before.len()),
        };
        place.error_at(at, "expected a type after `|`")
    })
}

/// `"a" "b"` in a type.
pub fn missing_bar(place: &Place) -> Option<Diagnostic> {
    let quoted = |c: char| matches!(c, '"' | '\'');
    let head = first_word(place.text);
    let is_type = matches!(head, "expect" | "output" | "type") || place.tried(Rule::bar);
    (is_type
        && !place.after_operand()
        && place.before.ends_with(quoted)
        && place.rest.starts_with(quoted))
    .then(|| {
        let text = message::token(place.rest);
        let found = place.error(format!("expected `|` before `{text}`"));
        found.fix(place.at(0, 0), "| ")
    })
}

/// `ends a, b` for `ends [a, b]`
pub fn bare_list(place: &Place) -> Option<Diagnostic> {
    let wanted = message::wanted(&place.tried)?;
    let word = place.last_word();
    if wanted != "a list in brackets" || place.first_word().is_empty() || word.is_empty() {
        return None;
    }
    let list = bare_names(place.rest);
    let at = place.at(0, list.len());
    let found = place.error(format!(
        "expected a list in brackets after `{word}`, found `{}`",
        place.first_word()
    ));
    Some(
        found
            .help(format!("write `{word} [{list}]`"))
            .fix(at, format!("[{list}]")),
    )
}

/// The names at the start of a text with commas between them, each perhaps with an `as` and another name.
fn bare_names(rest: &str) -> &str {
    let name = |at: usize| {
        let text = rest.get(at..).unwrap_or("");
        let blanks = text.len() - text.trim_start_matches(' ').len();
        let word = first_word(text.trim_start_matches(' ')).len();
        (word > 0).then_some(at + blanks + word)
    };
    let mut end = 0;
    while let Some(behind) = name(end) {
        end = behind;
        let text = rest.get(end..).unwrap_or("");
        if text.trim_start().starts_with("as ")
            && let Some(behind) = name(end + text.find("as").unwrap_or(0) + 2)
        {
            end = behind;
        }
        let text = rest.get(end..).unwrap_or("");
        let comma = text.trim_start_matches(' ').strip_prefix(',');
        let Some(more) = comma.filter(|more| name(rest.len() - more.len()).is_some()) else {
            break;
        };
        let at = rest.len() - more.len();
        match rest
            .get(at..)
            .is_some_and(|more| !more.trim_start_matches(' ').starts_with('\n'))
        {
            true => end = at,
            false => break,
        }
    }
    rest.get(..end).unwrap_or("")
}

/// `emit "a.b"`, `via upsert("id")`, `node "a": ..`
pub fn quoted_name(place: &Place) -> Option<Diagnostic> {
    let word = quoted_word(place.rest)?;
    let named = [
        Rule::ident,
        Rule::dotted,
        Rule::tool_ref,
        Rule::import_name,
        Rule::based_field,
        Rule::end_name,
    ];
    let texts = [Rule::string, Rule::template, Rule::expr];
    let is_name =
        named.iter().any(|rule| place.tried(*rule)) && !texts.iter().any(|rule| place.tried(*rule));
    is_name.then(|| {
        let at = place.at(0, word.len() + 2);
        let found = place.error_at(at, format!("expected a name, found the text `\"{word}\"`"));
        found
            .help(format!("write `{word}` without quotes"))
            .fix(at, word)
    })
}

/// `@desc(What it is)`
pub fn unquoted_attribute(place: &Place) -> Option<Diagnostic> {
    let at = place.before.rfind('@')?;
    let own = place.before.get(at + 1..)?;
    let word = first_word(own);
    let inside = own.get(word.len()..)?.strip_prefix('(')?;
    let takes_text = matches!(word, "desc" | "pattern" | "alias" | "format" | "title");
    (takes_text && !inside.contains([')', '"', '\''])).then(|| {
        let found = place.error_at(
            place.before_at(at, at + 1 + word.len()),
            format!("the text of `@{word}` stands in quotes"),
        );
        found.help(format!("write `@{word}(\"..\")`"))
    })
}

/// `@min(0) x: int`, `@desc("..") member`
pub fn attribute_before(place: &Place) -> Option<Diagnostic> {
    if !place.before.is_empty() || !place.rest.starts_with('@') {
        return None;
    }
    let word = first_word(place.rest.get(1..)?);
    let mut end = 1 + word.len();
    if let Some(inside) = place.rest.get(end..)?.strip_prefix('(') {
        end += balanced(inside, ')')? + 2;
    }
    let behind = place.rest.get(end..)?;
    let name = behind.trim_ascii_start();
    let declared = first_word(name);
    let attribute = place.rest.get(..end)?;
    let found = place.error_at(
        place.at(0, 1 + word.len()),
        format!("`@{word}` stands before what it describes"),
    );
    if declared.is_empty() {
        return Some(found.help("attributes stand behind the name, or behind the type of a field"));
    }
    let found = found.help(format!("attributes stand behind: `{declared} @{word}`"));
    let all = name.trim_ascii_end();
    let whole = place.at(0, place.rest.len() - (name.len() - all.len()));
    // A piece holds one entry.
    Some(match all.contains('\n') {
        true => found,
        false => found.fix(whole, format!("{all} {attribute}")),
    })
}
