//! How many `elif` stand in a row, and how many operators in one expression: the engine reads each inside of the one before, so
//! there must be a bound.

use std::ops::Range;

use super::syntax::{next, quoted};

/// Most `elif` of conditions that stand inside of each other, together.
const MOST: usize = 400;

/// Most operators in a chain of one placeholder or statement, as in expressions.
const MOST_OPERATORS: usize = 400;

/// What goes beyond a bound.
pub struct Beyond {
    /// The sign that is one too many.
    pub place: Range<usize>,
    /// Which bound.
    pub message: String,
    /// What to do.
    pub help: &'static str,
}

/// What of a template goes beyond a bound. It has to be asked before the engine reads the template.
pub fn too_long(text: &str) -> Option<Beyond> {
    let operators = |place| Beyond {
        place,
        message: format!(
            "an expression of a template has at most {MOST_OPERATORS} operators in a chain"
        ),
        help: "make the value where the state is written, or a part of it with `{% set .. %}`",
    };
    let elifs = |place| Beyond {
        place,
        message: format!("a template has at most {MOST} `elif` in a row"),
        help: "look the text up in a map, or make it where the state is written",
    };
    operator_too_many(text)
        .map(operators)
        .or_else(|| elif_too_many(text).map(elifs))
}

/// The place of the operator that is one too many.
fn operator_too_many(text: &str) -> Option<Range<usize>> {
    let mut at = 0;
    while let Some((start, sign)) = next(text, at) {
        at = start + sign.len();
        let rest = text.get(at..)?;
        let word = rest.trim_start_matches(['-', '+']).trim_start();
        if sign == "{#" {
            at += rest.find("#}")?;
        } else if sign == "{%" && word.starts_with("raw") {
            at += rest.find("endraw").unwrap_or(0);
        } else {
            let close = if sign == "{{" { "}}" } else { "%}" };
            match Chain::default().read(rest, close) {
                Ok(length) => at += length,
                Err(place) => return Some(at + place.start..at + place.end),
            }
        }
    }
    None
}

/// How far an expression is read.
#[derive(Default)]
struct Chain {
    /// Operators on the way to here: those of an element of a list are none of the next.
    count: usize,
    /// What there were before each open bracket.
    open: Vec<usize>,
    braces: usize,
}

impl Chain {
    /// Reads to the closing sign; the length, or the operator that is one too many. What is no expression is for the engine
    /// to refuse.
    fn read(mut self, text: &str, close: &str) -> Result<usize, Range<usize>> {
        let mut at = 0;
        while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
            let rest = text.get(at..).unwrap_or_default();
            if (self.braces == 0 && rest.starts_with(close)) || rest.starts_with("{%") {
                break;
            }
            let (length, counts) = match c {
                '"' | '\'' => match quoted(rest, c) {
                    Some(length) => (length, false),
                    None => break,
                },
                c if c.is_alphabetic() || c == '_' => {
                    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                    let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                    let operator = matches!(word, "not" | "and" | "or" | "if" | "is" | "in");
                    (word.len(), operator)
                }
                c if c.is_ascii_digit() => {
                    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
                    (end.unwrap_or(rest.len()), false)
                }
                '=' | '!' | '<' | '>' | '*' | '/' => {
                    let double = rest.get(1..).is_some_and(|rest| rest.starts_with(['=', c]));
                    (1 + usize::from(double), true)
                }
                c => (c.len_utf8(), self.sign(c)),
            };
            self.count += usize::from(counts);
            if self.count > MOST_OPERATORS {
                return Err(at..at + length);
            }
            at += length;
        }
        Ok(at)
    }

    /// Reads a single sign; whether it is an operator.
    fn sign(&mut self, c: char) -> bool {
        match c {
            '(' | '[' | '{' => {
                self.open.push(self.count);
                self.braces += usize::from(c == '{');
                true
            }
            ')' | ']' | '}' => {
                self.braces = self.braces.saturating_sub(usize::from(c == '}'));
                if let Some(before) = self.open.pop() {
                    self.count = before + 1;
                }
                false
            }
            ',' | ':' => {
                self.count = self.open.last().map_or(0, |before| before + 1);
                false
            }
            _ => matches!(c, '-' | '+' | '~' | '|' | '.' | '%'),
        }
    }
}

/// The place of the `elif` that is one too many.
fn elif_too_many(text: &str) -> Option<Range<usize>> {
    // How many each open statement has.
    let mut open: Vec<usize> = Vec::new();
    let mut all = 0;
    for (at, sign) in text.match_indices("{%") {
        let rest = text.get(at + sign.len()..)?;
        let inner = rest.trim_start_matches(['-', '+']).trim_start();
        let end = inner.find(|c: char| !c.is_alphabetic());
        let word = inner.get(..end.unwrap_or(inner.len()))?;
        match word {
            "if" | "for" => open.push(0),
            "elif" => {
                all += 1;
                open.last_mut().into_iter().for_each(|count| *count += 1);
                if all > MOST {
                    let start = text.len() - inner.len();
                    return Some(start..start + word.len());
                }
            }
            "endif" | "endfor" => all -= open.pop().unwrap_or(0).min(all),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{MOST, MOST_OPERATORS, elif_too_many, operator_too_many};

    #[test]
    fn what_has_ended_does_not_count() {
        let chain = |count| format!("{{% if a %}}{}{{% endif %}}", "{%- elif b %}".repeat(count));
        assert_eq!(elif_too_many(&chain(MOST).repeat(3)), None);
        let long = chain(MOST + 1);
        let place = elif_too_many(&long).expect("one too many");
        assert_eq!(&long[place], "elif");
    }

    #[test]
    fn what_stands_beside_each_other_is_no_chain() {
        for operator in [
            "-",
            "not ",
            "a.",
            "a|trim ~ ",
            "a and ",
            "[",
            "a if b else ",
        ] {
            let chain = |count| format!("{{{{ {}x }}}}", operator.repeat(count));
            assert_eq!(
                operator_too_many(&chain(MOST_OPERATORS / 2).repeat(3)),
                None
            );
            assert!(
                operator_too_many(&chain(MOST_OPERATORS + 1)).is_some(),
                "{operator}"
            );
        }
        let wide = format!("{{{{ f({}) }}}}", "a.b + c|d, ".repeat(1_000));
        assert_eq!(operator_too_many(&wide), None);
        let plain = format!(
            "{{# {0} #}}{{% raw %}}{{{{ {0} }}}}{{% endraw %}}{{{{ '{0}' }}}}",
            "- ".repeat(1_000)
        );
        assert_eq!(operator_too_many(&plain), None);
    }
}
