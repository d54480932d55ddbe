//! Expressions in one layout, so that another layout of the source is no change; and fields under their new names.

use std::collections::BTreeMap;

/// Signs of more than one character.
const LONG: [&str; 9] = ["&&", "||", "==", "!=", "<=", ">=", ".?", ":=", "->"];

/// The tokens of an expression, comments left out. Texts are one token.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => {
                let end = rest.find('\n').unwrap_or(rest.len());
                rest = rest.get(end..).unwrap_or_default().trim_start();
                continue;
            }
            '"' | '\'' => quoted(rest, false),
            'r' | 'R'
                if rest
                    .get(1..)
                    .is_some_and(|rest| rest.starts_with(['"', '\''])) =>
            {
                1 + quoted(rest.get(1..).unwrap_or_default(), true)
            }
            _ if word(first) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            _ => match LONG.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => sign.len(),
                None => first.len_utf8(),
            },
        };
        let (token, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        found.push(token);
        rest = behind.trim_start();
    }
    found
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '@'
}

/// The length of a text in quotes.
fn quoted(text: &str, raw: bool) -> usize {
    let mark = text.get(..1).unwrap_or_default();
    let long = mark.repeat(3);
    let close = if text.starts_with(&long) {
        &*long
    } else {
        mark
    };
    let mut at = close.len();
    while let Some(rest) = text.get(at..) {
        if rest.starts_with(close) {
            return at + close.len();
        }
        let Some(next) = rest.chars().next() else {
            break;
        };
        at += next.len_utf8();
        if next == '\\' && !raw {
            at += rest.chars().nth(1).map_or(0, char::len_utf8);
        }
    }
    text.len()
}

/// An expression in one line, laid out in one way, with the fields of `state` under their new names.
pub(in crate::ir::diff) fn laid_out(text: &str, fields: &BTreeMap<String, String>) -> String {
    let all = tokens(text);
    // A comma behind the last element is one of the layout.
    let kept = all.iter().enumerate().filter(|(at, token)| {
        let closes = matches!(all.get(at + 1), Some(&(")" | "]" | "}")));
        **token != "," || !closes
    });
    let tokens: Vec<&str> = kept.map(|(_, token)| *token).collect();
    let mut out = String::with_capacity(text.len());
    // Conditions without their `:` so far, by bracket.
    let mut choices = vec![0_usize];
    let mut before = "";
    let mut sign = false;
    for (at, token) in tokens.iter().enumerate() {
        let choice = *token == ":" && choices.last().is_some_and(|open| *open > 0);
        if !out.is_empty() && spaced(before, sign, token, choice) {
            out.push(' ');
        }
        match *token {
            "(" | "[" | "{" => choices.push(0),
            ")" | "]" | "}" => {
                choices.pop();
            }
            "?" if !sign => choices.iter_mut().last().into_iter().for_each(|n| *n += 1),
            ":" if choice => choices.iter_mut().last().into_iter().for_each(|n| *n -= 1),
            _ => {}
        }
        let behind = |steps: usize| at.checked_sub(steps).and_then(|at| tokens.get(at)).copied();
        let of_state = matches!(behind(1), Some("." | ".?"))
            && behind(2) == Some("state")
            && !matches!(behind(3), Some("." | ".?"));
        let now = fields.get(*token).filter(|_| of_state);
        out.push_str(now.map_or(*token, String::as_str));
        // `[?k]`, `{?k: v}`: what may not be there.
        let optional = *token == "?" && sign;
        // Whether an operand comes next, so that `-` and `[` begin one.
        sign = !matches!(*token, ")" | "]" | "}")
            && !token.starts_with(|c| word(c) || c == '"' || c == '\'');
        sign |= *token == "in";
        before = match (*token, sign_before(before)) {
            ("-", true) => "!",
            ("?", _) if optional => "!",
            (token, _) => token,
        };
    }
    out
}

/// Whether what comes behind a token is an operand.
fn sign_before(before: &str) -> bool {
    !matches!(before, ")" | "]" | "}") && !before.starts_with(|c| word(c) || c == '"' || c == '\'')
        || before == "in"
}

/// Whether a blank stands between two tokens. `operand` says that an operand comes next, `choice` that a `:` is one
/// of `? :`.
fn spaced(before: &str, operand: bool, token: &str, choice: bool) -> bool {
    match (before, token) {
        ("." | ".?" | "(" | "[" | "!", _) | (_, "." | ".?" | ")" | "]" | ",") => false,
        ("{", "}") => false,
        (_, ":") => choice,
        (_, "(" | "[") => operand,
        _ => true,
    }
}

/// A template with the fields of `state` under their new names.
pub(super) fn renamed(text: &str, fields: &BTreeMap<String, String>) -> String {
    const STATE: &str = "state.";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !fields.is_empty()
        && let Some(at) = rest.find(STATE)
    {
        let (ahead, behind) = rest
            .split_at_checked(at + STATE.len())
            .unwrap_or((rest, ""));
        let within = ahead.strip_suffix(STATE).unwrap_or_default();
        let whole = !within.ends_with(|c| word(c) || c == '.');
        out.push_str(ahead);
        let end = behind.find(|c| !word(c)).unwrap_or(behind.len());
        let (name, left) = behind.split_at_checked(end).unwrap_or((behind, ""));
        let now = fields.get(name).filter(|_| whole);
        out.push_str(now.map_or(name, String::as_str));
        rest = left;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn one_layout() {
        let none = BTreeMap::new();
        for (written, expected) in [
            ("a+b", "a + b"),
            ("xs\n  .map(x,\n    x.n+1,\n  )", "xs.map(x, x.n + 1)"),
            ("f( -1 , [ 2,3, ] )", "f(-1, [2, 3])"),
            ("a - -b", "a - -b"),
            ("a?b:{k:v}", "a ? b : { k: v }"),
            ("Item {id:\"a  b\"}", "Item { id: \"a  b\" }"),
            ("x in [1]", "x in [1]"),
            ("!a&&b .? c // why\n || d[0]", "!a && b.?c || d[0]"),
            ("{k:x.?a,?l:xs[? n]}", "{ k: x.?a, ?l: xs[?n] }"),
            ("c?x.?a:b", "c ? x.?a : b"),
            ("r'a\\' + \"\"\"b \" c\"\"\"", "r'a\\' + \"\"\"b \" c\"\"\""),
        ] {
            let once = laid_out(written, &none);
            assert_eq!(once, expected);
            assert_eq!(laid_out(&once, &none), once);
        }
    }

    #[test]
    fn fields_under_new_names() {
        let names = BTreeMap::from([("inner".to_owned(), "innen".to_owned())]);
        let of = |text| laid_out(text, &names);
        assert_eq!(of("state.inner+x.inner"), "state.innen + x.inner");
        assert_eq!(of("state.?inner"), "state.?innen");
        assert_eq!(of("a.state.inner"), "a.state.inner");
        assert_eq!(of("\"state.inner\""), "\"state.inner\"");
        let template = "{{ state.inner }} {{ mystate.inner }} {{ state.inner2 }}";
        let expected = "{{ state.innen }} {{ mystate.inner }} {{ state.inner2 }}";
        assert_eq!(renamed(template, &names), expected);
    }
}
