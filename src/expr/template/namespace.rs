//! What a `set` gives to a field of a namespace is charged: of all that a template makes it alone outlives a round of a loop, and so may
//! grow with each of them (`{% set ns.text = ns.text ~ ns.text %}`).
//!
//! The engine has no place to do so in, so the text that it compiles differs from the one that was written: the expression is the argument
//! of a function.

use std::ops::Range;

use minijinja::Environment;
use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;

use crate::base::rendering;

const OPEN: &str = " __charged((";
const CLOSE: &str = "))";

/// What was put into a text.
pub(super) struct Inserted {
    /// Where in the new text, and how many bytes; in order.
    parts: Vec<Range<usize>>,
}

/// The text for the engine, and what differs in it. One that is no template stays as it is.
pub(super) fn charged(text: &str) -> (String, Inserted) {
    let (mut new, mut parts, mut copied) = (String::new(), Vec::new(), 0);
    for (at, inserted) in places(text) {
        new.push_str(text.get(copied..at).unwrap_or_default());
        copied = at;
        parts.push(new.len()..new.len() + inserted.len());
        new.push_str(inserted);
    }
    new.push_str(text.get(copied..).unwrap_or_default());
    (new, Inserted { parts })
}

/// Where something is to be put in, and what.
fn places(text: &str) -> Vec<(usize, &'static str)> {
    /// How far a statement has been read.
    enum At {
        Outside,
        Begun,
        Target { field: bool },
        Value { charged: bool },
    }
    let (mut at, mut places, mut last) = (At::Outside, Vec::new(), 0);
    for token in tokenize(text, false, SyntaxConfig::default()) {
        let Ok((token, span)) = token else {
            return Vec::new();
        };
        at = match (at, token) {
            (_, Token::BlockStart) => At::Begun,
            (At::Begun, Token::Ident("set")) => At::Target { field: false },
            (At::Target { .. }, Token::Dot) => At::Target { field: true },
            (At::Target { field }, Token::Assign) => {
                if field {
                    places.push((span.end_offset as usize, OPEN));
                }
                At::Value { charged: field }
            }
            (At::Value { charged: true }, Token::BlockEnd) => {
                places.push((last, CLOSE));
                At::Outside
            }
            (At::Begun, _) | (_, Token::BlockEnd) => At::Outside,
            (at, _) => at,
        };
        last = span.end_offset as usize;
    }
    places
}

impl Inserted {
    /// A range of the new text as one of the text that was written.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        let original = |at: usize| {
            let before = self.parts.iter().take_while(|part| part.start < at);
            at - before
                .map(|part| part.end.min(at) - part.start)
                .sum::<usize>()
        };
        original(range.start)..original(range.end)
    }
}

/// Gives an environment the function.
pub(super) fn bound(environment: &mut Environment<'static>) {
    environment.add_function("__charged", |value: minijinja::Value| {
        rendering::charge_growth(&value).map(|()| value)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_a_namespace_is_charged_for_and_nothing_else() {
        for (text, new) in [
            (
                "{% set x = a ~ b %}{{ x.y }}",
                "{% set x = a ~ b %}{{ x.y }}",
            ),
            (
                "{%- set ns.x = ns.x ~ 'a' -%} set ns.x = 1",
                "{%- set ns.x = __charged(( ns.x ~ 'a')) -%} set ns.x = 1",
            ),
            (
                "{% set ns.a, b = 1, f(x=2) %}{% if a.b == 1 %}{% endif %}",
                "{% set ns.a, b = __charged(( 1, f(x=2))) %}{% if a.b == 1 %}{% endif %}",
            ),
            (
                "{% set ns.a %}b = {{ c }}{% endset %}",
                "{% set ns.a %}b = {{ c }}{% endset %}",
            ),
        ] {
            assert_eq!(charged(text).0, new);
        }
    }

    #[test]
    fn places_are_those_of_the_text_that_was_written() {
        let text = "{% set ns.a = b %}{% set ns.c = dd %}{{ e }}";
        let (new, inserted) = charged(text);
        for part in ["b", "dd", " e "] {
            let at = new.find(part).unwrap_or_default();
            let at = match part {
                "b" => new.find("( b)").map_or(0, |at| at + 2),
                _ => at,
            };
            let range = inserted.original(at..at + part.len());
            assert_eq!(text.get(range), Some(part));
        }
    }
}
