//! What was tried, as a table for people and as a line of JSON each.

use serde::Serialize;
use serde_json::Value as Json;

use crate::base::SourceMap;
use crate::diag::Diagnostics;
use crate::diag::render::snippet::visible;
use crate::diag::render::{self, Style};
use crate::project::tried::{Row, State, What};

/// Narrowest last column; where there is less room its texts stand below their rows.
const NARROWEST: usize = 30;
/// Between two columns.
const GAP: usize = 2;

/// The table, as wide as `style` says at most.
pub fn table(rows: &[Row], sources: &SourceMap, style: Style) -> String {
    let cells = rows.iter().map(|row| {
        let name = match row.name.as_str() {
            "" => row.what.word().to_owned(),
            name => format!("{} {}", row.what.word(), visible(name)),
        };
        [row.state.word().to_owned(), name, place(row, sources)]
    });
    let head = ["state", "what", "where"].map(str::to_owned);
    let cells: Vec<[String; 3]> = std::iter::once(head).chain(cells).collect();
    let whys = std::iter::once(vec!["why".to_owned()]).chain(rows.iter().map(why));
    let mut widths = [0; 3];
    for row in &cells {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let left = widths.iter().map(|width| width + GAP).sum::<usize>();
    let below = left + NARROWEST > style.width;
    let indent = if below { 2 * GAP } else { left };
    let room = style.width.saturating_sub(indent).max(NARROWEST);
    let states = std::iter::once(None).chain(rows.iter().map(|row| Some(row.state)));
    let mut out = String::new();
    for ((cells, why), state) in cells.iter().zip(whys).zip(states) {
        let padded = cells.iter().zip(widths);
        let padded = padded.map(|(cell, width)| format!("{cell:<width$}"));
        let padded: Vec<String> = padded.collect();
        let mut line = padded.join("  ");
        let lines = why.iter().flat_map(|text| wrapped(text, room));
        let mut lines = lines.collect::<Vec<_>>().into_iter();
        if !below {
            line = format!("{line}  {}", lines.next().unwrap_or_default());
        }
        out += &coloured(line.trim_end(), state, style);
        out.push('\n');
        for line in lines {
            out += format!("{:indent$}{line}", "").trim_end();
            out.push('\n');
        }
    }
    out
}

/// The state at the beginning of a line in its colour.
fn coloured(line: &str, state: Option<State>, style: Style) -> String {
    let colour = match state {
        Some(State::Ok) => 32,
        Some(State::Warning) => 33,
        Some(State::Missing) => 31,
        Some(State::Skipped) | None => return line.to_owned(),
    };
    let word = state.map_or("", State::word);
    match (style.color, line.strip_prefix(word)) {
        (true, Some(rest)) => format!("\x1b[{colour}m{word}\x1b[0m{rest}"),
        _ => line.to_owned(),
    }
}

/// File and line; nothing for what is known without a file.
fn place(row: &Row, sources: &SourceMap) -> String {
    let Some(span) = row.span else {
        return String::new();
    };
    let line = sources.location(span).line;
    format!("{}:{line}", visible(sources.name(span.file)))
}

/// What was seen, what is wrong, what to do: a paragraph each.
fn why(row: &Row) -> Vec<String> {
    let findings = row.findings.iter().flat_map(|finding| {
        let help = finding.help.as_ref().map(|help| format!("help: {help}"));
        std::iter::once(finding.message.clone()).chain(help)
    });
    let note = Some(row.note.clone()).filter(|note| !note.is_empty());
    let all = note.into_iter().chain(findings);
    all.map(|text| visible(&text)).collect()
}

/// Lines of at most `width` characters; a longer word is broken.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut column = 0;
    for word in text.split_whitespace() {
        let letters: Vec<char> = word.chars().collect();
        let mut pieces = letters.chunks(width.max(1)).peekable();
        while let Some(piece) = pieces.next() {
            if column > 0 && column + 1 + piece.len() > width {
                lines.push(String::new());
                column = 0;
            }
            if let Some(line) = lines.last_mut() {
                if column > 0 {
                    line.push(' ');
                    column += 1;
                }
                line.extend(piece);
                column += piece.len();
                if pieces.peek().is_some() {
                    lines.push(String::new());
                    column = 0;
                }
            }
        }
    }
    lines
}

/// How many there are of each state: `3 ok, 1 missing`.
pub fn count(rows: &[Row]) -> String {
    let counted = State::ALL.iter().filter_map(|state| {
        let count = rows.iter().filter(|row| row.state == *state).count();
        (count > 0).then(|| format!("{count} {}", state.word()))
    });
    let counted: Vec<String> = counted.collect();
    match counted.is_empty() {
        true => "nothing to try".to_owned(),
        false => counted.join(", "),
    }
}

#[derive(Serialize)]
struct Object<'a> {
    probe: What,
    name: &'a str,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "str::is_empty")]
    note: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<Json>,
}

/// An object a row, each on its own line. `findings` are as diagnostics are.
pub fn json(rows: &[Row], sources: &SourceMap) -> String {
    let mut out = String::new();
    for row in rows {
        let mut findings = Diagnostics::new();
        row.findings
            .iter()
            .for_each(|one| findings.push(one.clone()));
        let findings = render::json(&findings, sources);
        let span = row.span;
        let object = Object {
            probe: row.what,
            name: &row.name,
            state: row.state,
            file: span.map(|span| sources.name(span.file)),
            line: span.map(|span| sources.location(span).line),
            note: &row.note,
            findings: findings
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect(),
        };
        // Plain structs of texts and numbers: serde_json can't fail on them.
        out += &serde_json::to_string(&object).unwrap_or_default();
        out.push('\n');
    }
    out
}
