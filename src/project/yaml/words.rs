//! What is wrong with a text that is no YAML, in words for who wrote it, and at the place to change.
//!
//! The parser speaks of tokens and contexts, and of a bracket that is never closed where the text ends.

use super::parse::Fault;

/// Line and column from 1, columns in characters.
type At = (u32, u32);

/// Rewords the parser's message about a text.
pub fn fault(message: &str, at: Option<At>, text: &str) -> Fault {
    let said = |message: &str, help: &str, at: Option<At>| Fault {
        message: message.to_owned(),
        help: (!help.is_empty()).then(|| help.to_owned()),
        at,
    };
    let (problem, context) = message.split_once(", while ").unwrap_or((message, ""));
    let problem = problem.split(" at line ").next().unwrap_or(problem);
    let line = at.and_then(|(line, _)| text.lines().nth(line as usize - 1));
    let line = line.unwrap_or_default();
    if let (Some(tab), Some((number, _))) = (tab(line), at) {
        let help = "indent with blanks";
        return said("a tab can't indent YAML", help, Some((number, tab)));
    }
    if let Some(opening) = at.and_then(|at| unclosed(text, at)) {
        return said(
            "this text is never closed",
            "write the quote that ends it",
            Some(opening),
        );
    }
    if context.contains("quoted scalar") && is_end(problem) {
        let opening = place(context).or(Some((1, 1)));
        return said(
            "this text is never closed",
            "write the quote that ends it",
            opening,
        );
    }
    for (word, open, close) in [("flow sequence", "[", "]"), ("flow mapping", "{", "}")] {
        if !context.contains(word) {
            continue;
        }
        let opening = place(context);
        let far = opening.map(|(line, _)| line) != at.map(|(line, _)| line);
        return match far || is_end(problem) {
            true => said(
                &format!("this `{open}` is never closed"),
                &format!("write `{close}`"),
                opening.or(at),
            ),
            false => said(&format!("expected `,` or `{close}`"), QUOTED, at),
        };
    }
    match problem {
        "mapping values are not allowed in this context" => said(
            "a `key: value` can't stand here",
            "put a text that holds `: ` between single quotes, or give the line the indentation of its neighbours",
            at,
        ),
        "did not find expected key" | "did not find expected '-' indicator" => {
            let before = at.map_or(0, |(_, column)| column as usize - 1);
            match line.chars().take(before).all(|c| c == ' ') {
                true => said(
                    "this line is indented unlike those before it",
                    "give it the indentation of its neighbours",
                    at,
                ),
                false => said(
                    "nothing can follow here: the text before it has ended",
                    QUOTED,
                    at,
                ),
            }
        }
        "found character that cannot start any token" => {
            let column = at.map_or(0, |(_, column)| column as usize - 1);
            let first = line.chars().nth(column).unwrap_or(' ');
            said(
                &format!("`{first}` can't begin a text"),
                "put the text in quotes",
                at,
            )
        }
        "unknown anchor" => said("no anchor of that name stands above", "", at),
        problem if problem.contains("more than one document") => {
            said("a second YAML document begins in this file", "", at)
        }
        problem if problem.starts_with("EOF") || is_end(problem) => {
            said("this is no YAML document", "", at)
        }
        problem => said(&format!("this is no YAML: {problem}"), "", at),
    }
}

/// What to do about a text that YAML takes for more than a text.
const QUOTED: &str = "a text that begins with `\"` or `[`, or stands in brackets and holds `[`, `{` or `,`, stands between single quotes: `'\"a\" in state.xs'`; within them `''` is a `'`";

fn is_end(problem: &str) -> bool {
    problem.contains("end of stream") || problem.contains("document end")
}

/// The last quote before a place that begins a text which ends where another one begins: the quote that closes it is
/// missing, and all that follows is read the wrong way round.
fn unclosed(text: &str, (line, column): At) -> Option<At> {
    let mut found = None;
    let mut open: Option<(char, At)> = None;
    for (number, row) in (1..=line).zip(text.lines()) {
        let mut before = ' ';
        let mut signs = row.chars().enumerate().peekable();
        while let Some((index, sign)) = signs.next() {
            if number == line && index + 1 > column as usize {
                break;
            }
            match open {
                None if sign == '#' && before.is_whitespace() => break,
                None if matches!(sign, '"' | '\'')
                    && (before.is_whitespace() || "[{,(".contains(before)) =>
                {
                    open = Some((sign, (number, u32::try_from(index + 1).ok()?)));
                }
                Some(('"', _)) if sign == '\\' => {
                    signs.next();
                }
                Some(('\'', _))
                    if sign == '\'' && signs.peek().is_some_and(|(_, next)| *next == '\'') =>
                {
                    signs.next();
                }
                Some((quote, begun)) if sign == quote => {
                    let next = signs.peek().map(|(_, next)| *next);
                    let ends = next.is_none_or(|c| c.is_whitespace() || ",:]}".contains(c));
                    // A text over several lines ends like any other.
                    if !ends && begun.0 < number {
                        found = found.or(Some(begun));
                    }
                    open = None;
                }
                _ => {}
            }
            before = sign;
        }
    }
    found
}

/// Column of a tab among the blanks that a line begins with.
fn tab(line: &str) -> Option<u32> {
    let blank = line.chars().take_while(|c| c.is_whitespace());
    let at = blank.into_iter().position(|c| c == '\t')?;
    u32::try_from(at + 1).ok()
}

/// The place that a context names: `.. at line 3 column 8`.
fn place(context: &str) -> Option<At> {
    let (_, place) = context.split_once(" at line ")?;
    let (line, column) = place.split_once(" column ")?;
    Some((line.parse().ok()?, column.parse().ok()?))
}
