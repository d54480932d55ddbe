//! Texts with values in them as other languages compose them: `f"a {x}"`, `` `a ${x}` ``, `"a {}".format(x)`, `"a %s" % x`,
//! `"a " + x`.

use super::expression::{self, LONGEST, Types};

/// A part of a composed text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// As it stands between the quotes.
    Text(String),
    /// An expression, and how it is printed: `%s`.
    Value(String, String),
}

/// A composed text, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composed {
    pieces: Vec<Piece>,
    /// `"`, `'`, `"""` or `'''`.
    quote: String,
    /// How much of what was read it takes.
    pub length: usize,
}

impl Composed {
    /// Whether it is no more than a text.
    pub fn is_plain(&self) -> bool {
        let mut pieces = self.pieces.iter();
        pieces.all(|piece| matches!(piece, Piece::Text(_)))
    }

    /// The first value in it, as a template has it.
    pub fn value(&self, types: Types) -> Option<String> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Value(value, _) => expression::in_template(value, types),
            Piece::Text(_) => None,
        })
    }

    /// It as a template: `"a {{ x }}"`. None where it has a value that is nothing known.
    pub fn template(&self, types: Types) -> Option<String> {
        self.filled(&|value| expression::in_template(value, types))
    }

    /// The same, where `of` gives what is written for a value.
    fn filled(&self, of: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let quote = &self.quote;
        let inner = if quote.starts_with('"') { '\'' } else { '"' };
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Value(value, verb) => {
                let value = of(value)?;
                Some(match verb.as_str() {
                    "%s" => format!("{{{{ {value} }}}}"),
                    verb => format!("{{{{ {inner}{verb}{inner} | format({value}) }}}}"),
                })
            }
        });
        Some(format!(
            "{quote}{}{quote}",
            pieces.collect::<Option<String>>()?
        ))
    }

    /// It as an expression, `"a %s".format([x])`, where `of` gives what is written for a value.
    pub fn expression(&self, of: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let quote = &self.quote;
        if self.is_plain() {
            return self.filled(of);
        }
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.replace('%', "%%"),
            Piece::Value(_, verb) => verb.clone(),
        });
        let values = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(value, _) => Some(of(value)),
            Piece::Text(_) => None,
        });
        let values = values.collect::<Option<Vec<_>>>()?.join(", ");
        let text: String = pieces.collect();
        Some(format!("{quote}{text}{quote}.format([{values}])"))
    }
}

/// Texts and values that a text begins with, joined by `+`; `None` where it begins with something else, or with what has no
/// counterpart here, such as `f"{x:.2f}"`.
pub fn read(written: &str) -> Option<Composed> {
    let mut whole: Option<Composed> = None;
    let mut at = 0;
    loop {
        let rest = written.get(at..).filter(|_| at <= LONGEST)?;
        let part = literal(rest).or_else(|| value(rest))?;
        let end = at + part.length;
        whole = Some(match whole {
            None => part,
            Some(before) => joined(before, part)?,
        });
        let behind = written.get(end..)?.trim_start_matches([' ', '\t']);
        let plus = behind
            .strip_prefix('+')
            .filter(|more| !more.starts_with(['+', '=']));
        match plus {
            Some(more) => at = written.len() - more.trim_ascii_start().len(),
            None => {
                return whole.map(|whole| Composed {
                    length: end,
                    ..whole
                });
            }
        }
    }
}

fn joined(before: Composed, part: Composed) -> Option<Composed> {
    // A text in other quotes may hold those of the first.
    let text = |of: &Composed| {
        of.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Text(_)))
    };
    let quote = match (text(&before), text(&part)) {
        (true, true) if before.quote != part.quote => return None,
        (false, true) => part.quote,
        _ => before.quote,
    };
    let mut pieces = before.pieces;
    pieces.extend(part.pieces);
    Some(Composed {
        pieces,
        quote,
        length: 0,
    })
}

/// One text, with what its language puts behind it: `f"a {x}"`, `"a {}".format(x)`.
pub fn literal(written: &str) -> Option<Composed> {
    let formats = written.starts_with(['f', 'F']);
    let start = usize::from(formats);
    let opened = written.get(start..)?;
    let quote = ["\"\"\"", "'''", "\"", "'", "`"];
    let quote = quote.into_iter().find(|quote| opened.starts_with(quote))?;
    let inside = opened.get(quote.len()..)?;
    let end = closing(inside, quote)?;
    let text = inside.get(..end)?;
    let mut length = start + end + 2 * quote.len();
    let behind = written.get(length..)?;
    let pieces = match (formats, quote) {
        (true, _) => braces(text, "{", &mut |inner| named(inner))?,
        (false, "`") => braces(text, "${", &mut |inner| named(inner))?,
        (false, _) => {
            let (pieces, more) = formatted(text, behind)?;
            length += more;
            pieces
        }
    };
    let quote = match quote {
        "`" if text.contains('"') => return None,
        "`" if text.contains('\n') => "\"\"\"",
        "`" => "\"",
        quote => quote,
    };
    Some(Composed {
        pieces,
        quote: quote.to_owned(),
        length,
    })
}

/// Where a text ends that was opened by a quote.
fn closing(inside: &str, quote: &str) -> Option<usize> {
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        if inside.get(at..)?.starts_with(quote) {
            return Some(at);
        }
        let over = c == '\n' && quote.len() == 1 && quote != "`";
        match c {
            '\\' => drop(chars.next()),
            _ if over || at > LONGEST => return None,
            _ => {}
        }
    }
    None
}

/// A text whose values stand in braces behind `open`; `of` gives the value for what stands in them.
fn braces(
    text: &str,
    open: &str,
    of: &mut dyn FnMut(&str) -> Option<(String, String)>,
) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let doubled = open == "{" && (rest.starts_with("{{") || rest.starts_with("}}"));
        if let Some(inner) = rest.strip_prefix(open).filter(|_| !doubled) {
            let end = balanced(inner, '}')?;
            let (inner, behind) = (inner.get(..end)?, inner.get(end + 1..)?);
            pieces.extend(text_of(&mut plain));
            let (value, verb) = of(inner)?;
            pieces.push(Piece::Value(value, verb));
            rest = behind;
            continue;
        }
        plain.push(c);
        rest = rest.get(c.len_utf8() * (1 + usize::from(doubled))..)?;
    }
    if !plain.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Some(pieces)
}

/// What stands in the braces: a value, and how it is printed.
fn named(inner: &str) -> Option<(String, String)> {
    let (value, verb) = printed(inner)?;
    (!value.is_empty()).then(|| (value.to_owned(), verb))
}

/// `x:.2f`, `x!r`: a value with what says how it is printed.
pub fn printed(inner: &str) -> Option<(&str, String)> {
    let parts = parts(inner, ':');
    let (value, spec) = match parts.as_slice() {
        [value] => (*value, ""),
        [value, spec] => (*value, *spec),
        _ => return None,
    };
    let value = value.trim_ascii();
    let value = ["!r", "!s"]
        .iter()
        .find_map(|sign| value.strip_suffix(sign))
        .unwrap_or(value);
    Some((value, printed_as(spec)?))
}

/// How a value is printed: `s`, `d`, `.2f`.
fn printed_as(spec: &str) -> Option<String> {
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let short = || spec.strip_prefix('.')?.strip_suffix('f');
    Some(match spec {
        "" | "s" => "%s".to_owned(),
        "d" => "%d".to_owned(),
        _ => short().is_some_and(digits).then(|| format!("%{spec}"))?,
    })
}

/// A text with what stands behind it: `.format(..)`, `% x`. How much of that it takes.
fn formatted(text: &str, behind: &str) -> Option<(Vec<Piece>, usize)> {
    if let Some(args) = behind
        .strip_prefix(".format(")
        .filter(|args| !args.starts_with('['))
    {
        let end = balanced(args, ')')?;
        let args = split(args.get(..end)?);
        let mut next = 0..;
        let mut of = |inner: &str| {
            let (name, verb) = printed(inner)?;
            let value = match name.parse::<usize>() {
                Ok(at) => args.get(at).copied(),
                Err(_) if name.is_empty() => args.get(next.next()?).copied(),
                Err(_) => args.iter().find_map(|arg| {
                    let (own, value) = arg.split_once('=')?;
                    (own.trim_ascii() == name).then(|| value.trim_ascii())
                }),
            };
            Some((value?.to_owned(), verb))
        };
        let mut pieces = braces(text, "{", &mut of)?;
        // `"{{ x }}".format()` is a template already.
        if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
            pieces = vec![Piece::Text(text.to_owned())];
        }
        return Some((pieces, ".format(".len() + end + 1));
    }
    let blanks = behind.len() - behind.trim_start_matches(' ').len();
    if let Some(args) = behind.trim_start_matches(' ').strip_prefix('%') {
        let gap = args.len() - args.trim_start_matches(' ').len();
        let args = args.trim_start_matches(' ');
        let (args, taken) = match args.strip_prefix('(') {
            Some(inner) => {
                let end = balanced(inner, ')')?;
                (split(inner.get(..end)?), end + 2)
            }
            None => {
                let length = value(args)?.length;
                (vec![args.get(..length)?], length)
            }
        };
        return Some((percents(text, &args)?, blanks + 1 + gap + taken));
    }
    Some((vec![Piece::Text(text.to_owned())], 0))
}

fn percents(text: &str, args: &[&str]) -> Option<Vec<Piece>> {
    let mut args = args.iter();
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once('%') {
        plain.push_str(before);
        // `%.2f`
        let length = match after.chars().next()? {
            '.' => after.find('f').filter(|at| *at < 4)? + 1,
            _ => 1,
        };
        let spec = after.get(..length)?;
        rest = after.get(length..)?;
        if spec == "%" {
            plain.push('%');
            continue;
        }
        let verb = printed_as(spec.strip_suffix('d').map_or(spec, |_| "s"))?;
        pieces.extend(text_of(&mut plain));
        pieces.push(Piece::Value((*args.next()?).to_owned(), verb));
    }
    plain.push_str(rest);
    pieces.extend(text_of(&mut plain));
    Some(pieces)
}

/// What was read of a text since the last value.
fn text_of(plain: &mut String) -> Option<Piece> {
    (!plain.is_empty()).then(|| Piece::Text(std::mem::take(plain)))
}

/// A path such as `state.x`, `f(a).b`, `m["k"]`.
fn value(written: &str) -> Option<Composed> {
    let word = |text: &str| {
        text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(text.len())
    };
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    let mut at = word(written.strip_prefix(begins)?) + 1;
    loop {
        let rest = written.get(at..)?;
        at += match rest.chars().next() {
            Some('.') if rest.get(1..)?.starts_with(begins) => 1 + word(rest.get(1..)?),
            Some('(') => balanced(rest.get(1..)?, ')')? + 2,
            Some('[') => balanced(rest.get(1..)?, ']')? + 2,
            _ => break,
        };
    }
    // `f"{x:.2f}"`
    if written.get(at..)?.starts_with(['"', '\'']) {
        return None;
    }
    Some(Composed {
        pieces: vec![Piece::Value(written.get(..at)?.to_owned(), "%s".to_owned())],
        quote: "\"".to_owned(),
        length: at,
    })
}

/// The signs of a text that stand in none of its quotes, and where.
pub fn outside(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quote = None;
    let mut escaped = false;
    text.char_indices().filter(move |(_, c)| {
        let of_text = std::mem::take(&mut escaped) || quote.is_some() || matches!(c, '"' | '\'');
        match quote {
            Some(_) if *c == '\\' => escaped = true,
            Some(q) if q == *c => quote = None,
            None if of_text => quote = Some(*c),
            _ => {}
        }
        !of_text
    })
}

/// Where the bracket closes whose inside a text begins with.
pub fn balanced(inside: &str, close: char) -> Option<usize> {
    let mut open = 0_usize;
    for (at, c) in outside(inside.get(..inside.floor_char_boundary(LONGEST))?) {
        match c {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' if open > 0 => open -= 1,
            ')' | ']' | '}' => return (c == close).then_some(at),
            _ => {}
        }
    }
    None
}

/// The parts of a list, between commas that stand in no bracket and no quote.
pub fn split(list: &str) -> Vec<&str> {
    let parts = parts(list, ',').into_iter().map(str::trim_ascii);
    parts.filter(|part| !part.is_empty()).collect()
}

/// The parts of a text between signs that stand in no bracket and no quote.
fn parts(list: &str, sign: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut open, mut start) = (0_usize, 0);
    for (at, c) in outside(list) {
        match c {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            c if c == sign && open == 0 => {
                parts.extend(list.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(list.get(start..));
    parts
}
