//! Mermaid's flowcharts, as far as boxes, arrows and frames go. Looks (classes, styles, clicks) are passed over.
//!
//! Follows <https://mermaid.js.org/syntax/flowchart.html>; escapes in ids (`\20`) and marks in labels
//! (`<hr/><small>..`) are LangGraph's.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, codes};

use super::drawing::{Arrow, Drawing, DrawnBox, Frame};

/// Words that begin a line about looks.
const LOOKS: [&str; 9] = [
    "classDef",
    "class",
    "style",
    "linkStyle",
    "click",
    "direction",
    "accTitle",
    "accDescr",
    "title",
];

/// What opens the shape of a box, and what closes it; longer ones first.
const SHAPES: [(&str, &str); 14] = [
    ("(((", ")))"),
    ("((", "))"),
    ("([", "])"),
    ("[[", "]]"),
    ("[(", ")]"),
    ("[/", "/]"),
    ("[/", "\\]"),
    ("[\\", "\\]"),
    ("[\\", "/]"),
    ("{{", "}}"),
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    (">", "]"),
];

/// Most boxes of a drawing: nobody draws more, and a text of 16 MiB may name millions.
const MOST_BOXES: usize = 10_000;

type Read<T> = Result<T, Box<Diagnostic>>;

/// Reads the flowchart in these bytes of a text.
///
/// # Errors
///
/// The first place that is no part of a flowchart, or a text without one box.
pub fn read(text: &str, bytes: Range<usize>, file: FileId) -> Read<Drawing> {
    let mut reader = Reader {
        text: text.get(..bytes.end).unwrap_or(text),
        at: bytes.start,
        file,
        drawing: Drawing::default(),
        ids: BTreeMap::new(),
        open: Vec::new(),
    };
    reader.front_matter();
    reader.head()?;
    while reader.statement()? {}
    if let Some((_, span)) = reader.open.last() {
        return Err(error("this `subgraph` has no `end`", *span, None));
    }
    match reader.drawing.boxes.is_empty() {
        true => Err(error(
            "this flowchart has no box",
            reader.span(bytes.start, bytes.start),
            None,
        )),
        false => Ok(reader.drawing),
    }
}

fn error(message: &str, span: Span, help: Option<&str>) -> Box<Diagnostic> {
    let found = Diagnostic::new(&codes::SYNTAX_ERROR, message, span);
    Box::new(found.maybe_help(help.map(str::to_owned)))
}

struct Reader<'a> {
    text: &'a str,
    /// The next byte to read.
    at: usize,
    file: FileId,
    drawing: Drawing,
    /// The boxes by their ids.
    ids: BTreeMap<String, usize>,
    /// The frames that are open, with the places where they begin.
    open: Vec<(usize, Span)>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// What is left of the line.
    fn line(&self) -> &'a str {
        self.rest().split(['\n', '\r']).next().unwrap_or_default()
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span {
            file: self.file,
            start: start as u32,
            end: end as u32,
        }
    }

    /// The place of the next character.
    fn here(&self) -> Span {
        let next = self.rest().chars().next().map_or(0, char::len_utf8);
        self.span(self.at, self.at + next)
    }

    fn take(&mut self, what: &str) -> bool {
        let found = self.rest().starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    /// Passes over blanks within the line.
    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// Passes over blanks, line ends, `;` and comments.
    fn gap(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("%%") {
                return;
            }
            self.at += self.line().len();
        }
    }

    /// Settings between lines of `---` ahead of the drawing.
    fn front_matter(&mut self) {
        self.take("\u{feff}");
        self.gap();
        if self.line().trim_end() != "---" {
            return;
        }
        let mut end = self.at + self.line().len();
        for line in self
            .text
            .get(end..)
            .unwrap_or_default()
            .split_inclusive('\n')
        {
            end += line.len();
            if line.trim_end() == "---" {
                self.at = end;
                return;
            }
        }
    }

    /// `graph TD` or `flowchart LR`.
    fn head(&mut self) -> Read<()> {
        self.gap();
        let word = self.word();
        if !matches!(word, "graph" | "flowchart" | "flowchart-elk") {
            let help = "graphc imports flowcharts: a text that begins with `graph TD` or `flowchart LR`, as LangGraph's `draw_mermaid()` gives";
            return Err(error(
                "a mermaid flowchart is expected",
                self.here(),
                Some(help),
            ));
        }
        self.at += word.len();
        self.blanks();
        let direction = self.word();
        if matches!(direction, "TB" | "TD" | "BT" | "RL" | "LR") {
            self.at += direction.len();
        }
        Ok(())
    }

    /// The letters that come next.
    fn word(&self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-'));
        rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
    }

    /// One line of the flowchart; false at the end of the text.
    fn statement(&mut self) -> Read<bool> {
        self.gap();
        if self.rest().is_empty() {
            return Ok(false);
        }
        let word = self.word();
        let behind = self.rest().get(word.len()..).unwrap_or_default();
        let alone = behind.is_empty() || behind.starts_with([' ', '\t', '\n', '\r', ';', ':']);
        match word {
            "subgraph" if alone => self.frame(),
            "end" if alone => {
                if self.open.pop().is_none() {
                    let span = self.span(self.at, self.at + word.len());
                    return Err(error("there is no `subgraph` to end here", span, None));
                }
                self.at += word.len();
            }
            _ if alone && LOOKS.contains(&word) => self.at += self.line().len(),
            _ => self.arrows()?,
        }
        Ok(true)
    }

    /// `subgraph id [title]`
    fn frame(&mut self) {
        let begin = self.at;
        let line = self.line();
        self.at += line.len();
        let said = line.trim_start_matches("subgraph").trim();
        let said = said.trim_end_matches(';').trim_end();
        let titled = said.split_once('[');
        let id = titled.map_or(said, |(id, _)| id);
        let title = titled.map_or(said, |(_, title)| title.trim_end_matches(']'));
        self.drawing.frames.push(Frame {
            id: words(id),
            title: words(title),
            around: self.open.last().map(|(frame, _)| *frame),
        });
        let frame = self.drawing.frames.len() - 1;
        self.open.push((frame, self.span(begin, self.at)));
    }

    /// `a & b --> c -- label --> d`
    fn arrows(&mut self) -> Read<()> {
        let mut from = self.boxes()?;
        loop {
            self.blanks();
            if self.line().is_empty() || self.line().starts_with([';', '%']) {
                return Ok(());
            }
            let Some((label, dotted, seen)) = self.arrow()? else {
                let help = "an arrow is `-->`, `-.->` or `==>`, with its label between `|` and `|`";
                return Err(error("an arrow is expected", self.here(), Some(help)));
            };
            self.blanks();
            let to = self.boxes()?;
            for from in from.iter().filter(|_| seen) {
                self.drawing.arrows.extend(to.iter().map(|to| Arrow {
                    from: *from,
                    to: *to,
                    label: label.clone(),
                    dotted,
                }));
            }
            from = to;
        }
    }

    /// `a & b`
    fn boxes(&mut self) -> Read<Vec<usize>> {
        let mut all = Vec::new();
        loop {
            self.blanks();
            all.push(self.one_box()?);
            self.blanks();
            if !self.take("&") {
                return Ok(all);
            }
        }
    }

    /// `id`, `id[label]`, `id(["label"]):::class`
    fn one_box(&mut self) -> Read<usize> {
        let begin = self.at;
        let id = self.id();
        if id.is_empty() {
            return Err(error("a box is expected", self.here(), None));
        }
        let span = self.span(begin, self.at);
        let label = self.shape()?;
        while self.take(":::") {
            self.at += self.word().len();
        }
        let frame = self.open.last().map(|(frame, _)| *frame);
        let known = self.ids.get(&id).copied();
        let index = known.unwrap_or(self.drawing.boxes.len());
        if known.is_none() {
            if index >= MOST_BOXES {
                let message = format!("this flowchart has more than {MOST_BOXES} boxes");
                return Err(error(&message, span, None));
            }
            self.ids.insert(id.clone(), index);
            self.drawing.boxes.push(DrawnBox {
                id,
                label: None,
                notes: None,
                frame,
                span,
            });
        }
        if let Some(found) = self.drawing.boxes.get_mut(index) {
            // A box stands where its shape is drawn. One that only arrows name stands in the first frame that does.
            if found.label.is_none() && (label.is_some() || found.frame.is_none()) {
                found.frame = frame;
            }
            if let Some(written) = label {
                let (label, notes) = match written.split_once("<hr/>") {
                    Some((label, notes)) => (label, Some(words(notes))),
                    None => (written.as_str(), None),
                };
                found.label = Some(words(label));
                found.notes = notes;
            }
        }
        Ok(index)
    }

    /// An id; `-` and `.` are part of it unless an arrow begins there.
    fn id(&mut self) -> String {
        let mut id = String::new();
        while let Some(c) = self.rest().chars().next() {
            let next = self.rest().get(c.len_utf8()..).unwrap_or_default();
            let ends = match c {
                '-' => next.starts_with(['-', '.', '>']),
                '=' => next.starts_with('='),
                ':' => next.starts_with("::"),
                '\\' => {
                    let escaped = next
                        .get(..2)
                        .and_then(|hex| u8::from_str_radix(hex, 16).ok());
                    if let Some(byte) = escaped.filter(u8::is_ascii) {
                        id.push(byte.into());
                        self.at += 3;
                        continue;
                    }
                    true
                }
                c => c.is_whitespace() || "[](){}<>&;|\"'~".contains(c),
            };
            if ends {
                break;
            }
            id.push(c);
            self.at += c.len_utf8();
        }
        id
    }

    /// The shape of a box: what is written in it, with its marks.
    fn shape(&mut self) -> Read<Option<String>> {
        let opened = |(open, _): &&(&str, &str)| self.rest().starts_with(open);
        let mut shapes = SHAPES.iter().filter(opened).peekable();
        let Some((open, _)) = shapes.peek() else {
            return Ok(None);
        };
        let inner = self.rest().get(open.len()..).unwrap_or_default();
        if let Some(quoted) = inner.strip_prefix('"') {
            let ends = quoted.find('"').map(|end| (end, quoted.get(end + 1..)));
            if let Some((end, Some(behind))) = ends
                && let Some((open, close)) = shapes.find(|(_, close)| behind.starts_with(close))
            {
                self.at += open.len() + 1 + end + 1 + close.len();
                return Ok(quoted.get(..end).map(str::to_owned));
            }
        } else {
            let line = inner.split(['\n', '\r']).next().unwrap_or_default();
            let closed = shapes.find_map(|(open, close)| Some((open, line.find(close)?, close)));
            if let Some((open, end, close)) = closed {
                self.at += open.len() + end + close.len();
                return Ok(line.get(..end).map(str::to_owned));
            }
        }
        Err(error("this bracket is not closed", self.here(), None))
    }

    /// An arrow: its label, whether it is dotted, and whether it is seen at all.
    fn arrow(&mut self) -> Read<Option<(Option<String>, bool, bool)>> {
        let begin = self.here();
        self.take("<");
        let (line, dotted) = match self.rest() {
            rest if rest.starts_with("--") => ('-', false),
            rest if rest.starts_with("==") => ('=', false),
            rest if rest.starts_with("-.") => ('.', true),
            rest if rest.starts_with("~~~") => {
                self.at += rest.len() - rest.trim_start_matches('~').len();
                return Ok(Some((None, false, false)));
            }
            _ => return Ok(None),
        };
        let mut label = None;
        if !self.shaft(line) {
            // `-- label -->`: the text up to the rest of the arrow.
            let close = match line {
                '-' => "--",
                '=' => "==",
                _ => ".-",
            };
            let Some(end) = self.line().find(close) else {
                return Err(error("this arrow has no end", begin, None));
            };
            label = self.rest().get(..end).map(words);
            self.at += end;
            self.shaft(line);
        }
        self.blanks();
        if self.take("|") {
            let Some(end) = self.line().find('|') else {
                return Err(error("this label has no second `|`", self.here(), None));
            };
            label = self.rest().get(..end).map(words);
            self.at += end + 1;
        }
        Ok(Some((
            label.filter(|label| !label.is_empty()),
            dotted,
            true,
        )))
    }

    /// The line and the head of an arrow; false where its label comes ahead of the head.
    fn shaft(&mut self, line: char) -> bool {
        let rest = self.rest();
        let drawn = match line {
            '.' => rest.trim_start_matches(['-', '.']),
            line => rest.trim_start_matches(line),
        };
        let length = rest.len() - drawn.len();
        let closed = rest.get(..length).is_some_and(|shaft| match line {
            '.' => shaft.len() > 2 && shaft.ends_with('-'),
            _ => length > 2,
        });
        self.at += length;
        let headed = self.take(">")
            || drawn.starts_with(['o', 'x']) && drawn.get(1..).is_some_and(ends_arrow) && {
                self.at += 1;
                true
            };
        headed || closed
    }
}

/// Whether a head `o` or `x` ends the arrow, and is no letter of an id.
fn ends_arrow(behind: &str) -> bool {
    behind.starts_with([' ', '\t', '|'])
}

/// A label as a person reads it: without quotes, tags and entities, in one line.
fn words(text: &str) -> String {
    let text = text.trim();
    let unquoted = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let mut out = String::new();
    let mut rest = unquoted.unwrap_or(text);
    while let Some(c) = rest.chars().next() {
        let (found, length) = match c {
            '<' => match rest.find('>') {
                Some(end) => (" ".to_owned(), end + 1),
                None => ("<".to_owned(), 1),
            },
            '&' | '#' => entity(rest).unwrap_or_else(|| (c.to_string(), 1)),
            c => (c.to_string(), c.len_utf8()),
        };
        out.push_str(&found);
        rest = rest.get(length..).unwrap_or_default();
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `&nbsp;`, `&#34;`, and mermaid's `#quot;`: what it stands for, and its length.
fn entity(text: &str) -> Option<(String, usize)> {
    let end = text.get(..12.min(text.len())).unwrap_or(text).find(';')?;
    let name = text.get(..end)?.trim_start_matches(['&', '#']);
    let known = match name {
        "nbsp" => ' ',
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        number => char::from_u32(number.parse().ok()?)?,
    };
    Some((known.to_string(), end + 1))
}
