//! Forms of expressions that other languages have: `a if c else b`, `a ?? b`, `a is None`, `[f(x) for x in xs]`, `lambda x: a`.
//! Their help is the whole expression around them as it is written here, where all of it is known.

use std::collections::{HashMap, HashSet};

use pest::Parser;

use crate::base::foreign::expression::{Index, LONGEST, Types, Written, around, in_template};
use crate::base::foreign::ty::Kind;
use crate::base::foreign::{self, DEFAULT};
use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Diagnostic, Diagnostics, Fact};

use super::super::grammar::{Grammar, Rule};
use super::{Place, first_word, innermost_open, last_word};

/// What is written for the expression around a place of a text, where it has another form here.
pub fn whole(text: &str, at: usize, types: Types) -> Option<Written> {
    let found = around(text, at, types)?;
    let parses = Grammar::parse(Rule::only_expr, &found.here).is_ok();
    (parses && !found.here.contains('\n')).then_some(found)
}

/// Gives findings that speak of a foreign form the whole expression around it as their help. One that several speak of is
/// said once.
pub fn in_whole(sources: &SourceMap, diags: &mut Diagnostics) {
    let mut said = HashSet::new();
    let mut indexes: HashMap<FileId, Index> = HashMap::new();
    for mut found in diags.take() {
        if let Some(span) = found.facts.contains(&Fact::Foreign).then(|| found.span())
            && let Some(file) = sources.file(span.file)
        {
            let before = file.text.get(..span.start as usize).unwrap_or("");
            let line = before.rfind('\n').map_or(0, |at| at + 1);
            let text = file.text.get(line..).unwrap_or("");
            let types = Types::new(&file.text, indexes.entry(span.file).or_default());
            let found_at = before.len() - line;
            let near = found_at <= LONGEST;
            let whole = match near.then(|| placeholder(text, found_at)) {
                None => None,
                Some(Some(at)) => in_placeholder(text, at, types),
                Some(None) => whole(text, found_at, types),
            };
            if let Some(whole) = whole {
                let at = Span::new(span.file, line + whole.start, line + whole.end);
                if !said.insert(at) {
                    continue;
                }
                found = written(found, at, &whole.here);
            }
        }
        diags.push(found);
    }
}

/// The inside of the `{{ .. }}` around a place.
fn placeholder(text: &str, at: usize) -> Option<(usize, usize)> {
    let start = text.get(..at)?.rfind("{{")? + 2;
    let end = start + text.get(start..)?.find("}}")?;
    (at <= end && !text.get(start..end)?.contains('\n')).then_some((start, end))
}

fn in_placeholder(text: &str, (start, end): (usize, usize), types: Types) -> Option<Written> {
    let written = text.get(start..end)?;
    let blanks = written.len() - written.trim_ascii_start().len();
    let (start, end) = (start + blanks, start + written.trim_ascii_end().len());
    let written = text.get(start..end)?;
    let here = in_template(written, types).filter(|here| here != written)?;
    Some(Written { start, end, here })
}

fn written(mut found: Diagnostic, at: Span, here: &str) -> Diagnostic {
    found.fix.clear();
    found.help(format!("write `{here}`")).fix(at, here)
}

impl Place<'_> {
    fn whole(&self) -> Option<&Written> {
        let whole = || whole(self.text, self.offset(), self.types);
        self.whole.get_or_init(whole).as_ref()
    }

    /// A finding with the whole expression as its help, and else its own.
    pub fn in_whole(&self, found: Diagnostic) -> Diagnostic {
        self.help_of(found, self.whole())
    }

    /// The same of the expression around another place of the text.
    pub fn in_whole_at(&self, found: Diagnostic, at: usize) -> Diagnostic {
        self.help_of(found, whole(self.text, at, self.types).as_ref())
    }

    fn help_of(&self, found: Diagnostic, whole: Option<&Written>) -> Diagnostic {
        match whole {
            Some(whole) => written(found, self.before_at(whole.start, whole.end), &whole.here),
            None => found,
        }
    }
}

/// `x as T`
pub fn cast(place: &Place) -> Option<Diagnostic> {
    let ty = first_word(place.rest.strip_prefix("as ")?.trim_ascii_start());
    let path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let start = place.before.trim_end_matches(path).len();
    let value = place
        .before
        .get(start..)
        .filter(|value| !value.is_empty())?;
    let takes = place.after_operand() && !place.tried(Rule::kw_as);
    let message = format!("`as {ty}` is no part of an expression");
    let end = place.offset() + "as ".len() + ty.len();
    takes.then(|| match crate::base::foreign::ty::kind(ty) {
        Some(Kind::Plain(meant @ ("string" | "int" | "float" | "bool"))) => place.instead(
            place.before_at(start, end),
            message,
            format!("{meant}({value})"),
        ),
        _ => place.instead(place.before_at(start, end), message, value),
    })
}

/// Words and signs between operands.
pub fn operator(place: &Place) -> Option<Diagnostic> {
    let word = place.first_word();
    let behind = place.rest.get(word.len()..)?.trim_ascii_start();
    let (sign, help) = match word {
        // Else it is a condition that stands in a wrong place.
        "if" if place.after_operand() && (place.whole().is_some() || behind.contains(" else ")) => {
            (word, "write `condition ? value : other`")
        }
        "is" if place.after_operand() && first_word(behind) == "not" => ("is not", "write `!=`"),
        "is" if place.after_operand() => (word, "write `==`"),
        "not" if place.after_operand() => (word, "write `!=`, or `!(x in xs)`"),
        "or" if place.after_operand() => (word, OR),
        "and" if place.after_operand() => (word, "write `&&`"),
        "" if place.rest.starts_with('?') && place.tried(Rule::prefix) => ("??", DEFAULT),
        "" if place.rest.starts_with('*') && place.before.ends_with('*') => {
            ("**", "there is no power: write `x * x`")
        }
        "" if place.rest.starts_with('=') && place.before.ends_with("==") => ("===", "write `==`"),
        "" if place.rest.starts_with('=') && place.before.ends_with("!=") => ("!==", "write `!=`"),
        _ => return None,
    };
    let length = match (sign, word) {
        ("is not", _) => place.rest.len() - behind.len() + "not".len(),
        (_, "") => 1,
        (sign, _) => sign.len(),
    };
    let found = place.error_at(place.at(0, length), format!("`{sign}` is no operator"));
    Some(place.in_whole(found.help(help)))
}

const OR: &str = "between conditions write `||`; for a default write `x == null ? other : x`, or `x.?y.orValue(other)`";

/// `not x`
pub fn negation(place: &Place) -> Option<Diagnostic> {
    let start = place.before.strip_suffix("not")?.len();
    if !place.after_operand() || place.last_word() != "not" {
        return None;
    }
    let not = place.before_at(start, place.before.len());
    let blank = place.before_at(start, place.offset());
    let found = place.error_at(not, "`not` is no operator");
    let found = found
        .help("write `!` before what is negated")
        .fix(blank, "!");
    Some(place.in_whole(found))
}

/// `[x * 2 for x in xs]`, `any(x > 1 for x in xs)`
pub fn comprehension(place: &Place) -> Option<Diagnostic> {
    innermost_open(place.before)?;
    let is_for = place.first_word() == "for" && place.after_operand();
    is_for.then(|| {
        let found = place.error("`for` is no part of an expression");
        place.in_whole(found.help(
            "write `xs.map(x, value)`, `xs.filter(x, condition)`, or `xs.exists(x, condition)` for `any`",
        ))
    })
}

/// `xs.filter(lambda x: x > 1)`, `xs.filter(x => x > 1)`, `xs.filter(x -> x > 1)`
pub fn function(place: &Place) -> Option<Diagnostic> {
    let (head, inside) = place.before.rsplit_once('(')?;
    let called = last_word(head.trim_end_matches('('));
    let lambda = place.last_word() == "lambda" && !place.first_word().is_empty();
    let arrow = ["=>", "->"]
        .into_iter()
        .find(|arrow| place.rest.starts_with(arrow) && place.after_operand());
    let given = inside.trim_ascii().trim_end_matches(')');
    let (sign, at) = match arrow {
        _ if innermost_open(place.before) != Some('(') || called.is_empty() => return None,
        _ if lambda => {
            let start = place.before.len() - "lambda".len();
            ("lambda", place.before_at(start, place.before.len()))
        }
        Some(arrow) if MACROS.contains(&called) && first_word(given) == given => {
            (arrow, place.at(0, arrow.len()))
        }
        _ => return None,
    };
    let name = if lambda { place.first_word() } else { given };
    let found = place.error_at(at, format!("`{sign}` is no part of `{called}`"));
    let found = found.help(format!(
        "name the element, then say what is made of it: `.{called}({name}, ..)`"
    ));
    Some(match arrow {
        Some(_) if !lambda => {
            let gap = place.before_at(place.before.len(), place.offset() + 2);
            place.in_whole(found.fix(gap, ","))
        }
        _ => place.in_whole(found),
    })
}

/// Functions that name an element and say what is made of it.
pub const MACROS: [&str; 15] = [
    "map",
    "filter",
    "all",
    "exists",
    "exists_one",
    "find",
    "sort_by",
    "group_by",
    "any",
    "some",
    "every",
    "reduce",
    "fold",
    "to_map",
    "checked",
];

/// `"%s: %d" % (a, b)`, `x in (a, b)`
pub fn tuple(place: &Place) -> Option<Diagnostic> {
    let (head, _) = place.before.rsplit_once('(')?;
    let head = head.trim_ascii_end();
    let called =
        head.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && last_word(head) != "in";
    let is_tuple = place.after_operand()
        && place.rest.starts_with(',')
        && innermost_open(place.before) == Some('(');
    (is_tuple && !called).then(|| {
        let found = place.error("expected `)`, found `,`");
        place.in_whole(found.help("a list stands in brackets: `[a, b]`"))
    })
}

/// `f"a {x}"` and backticks.
pub fn composed_text(place: &Place) -> Option<Diagnostic> {
    let backtick = place.rest.starts_with('`');
    let formats = place.rest.starts_with(['"', '\''])
        && matches!(place.last_word(), "f" | "F")
        && place.offset() == place.before.len();
    let found = match backtick {
        true => place.error_at(place.at(0, 1), "a text stands in `\"`, found a backtick"),
        false => place.error("`f\"..\"` is no text"),
    };
    (backtick || formats)
        .then(|| place.in_whole(found.help("join texts by `+`, or write `\"%s\".format([..])`")))
}

/// `xs[1:3]`
pub fn range(place: &Place) -> Option<Diagnostic> {
    let is_range = place.rest.starts_with(':') && innermost_open(place.before) == Some('[');
    is_range.then(|| {
        let found = place.error_at(place.at(0, 1), "a part of a list is no `[a:b]`");
        place.in_whole(found.help("write `.slice(from, to)`"))
    })
}

/// `a ?: b`
pub fn elvis(place: &Place) -> Option<Diagnostic> {
    let before = place.before.strip_suffix('?')?;
    (place.rest.starts_with(':') && place.tried(Rule::prefix)).then(|| {
        let sign = place.before_at(before.len(), place.offset() + 1);
        place.error_at(sign, "`?:` is no operator").help(DEFAULT)
    })
}

/// What is said of the maker of a message: `HumanMessage(content="x")`.
pub fn foreign_maker(place: &Place, word: &str, at: Span) -> Option<Diagnostic> {
    let help = foreign::call::in_expression(word)?;
    let found = place.error_at(at, format!("no function `{word}`"));
    Some(place.in_whole(found.help(help)))
}
