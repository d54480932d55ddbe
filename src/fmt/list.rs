//! What stands between brackets: entries, commas, and whether each has a line of its own.

use crate::parse::tree::{Kind, Part, Sign};

use super::page::Op;
use super::write::{Gap, Writer};

/// How wide the arguments of an attribute, or the type in `<>`, may be and still never be broken.
const SHORT: usize = 40;

/// How a kind of list is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    /// Blanks inside of the brackets on one line.
    spaced: bool,
    /// Commas between entries.
    commas: Commas,
    /// When it stands on one line.
    one_line: OneLine,
    /// Whether each rule in it is an entry, with or without a comma between them.
    by_rule: bool,
}

/// Commas between entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Commas {
    /// Between all, and behind the last one where each has a line.
    All,
    /// Where they stand on one line.
    OnOneLine,
    /// Between all, but none behind the last one.
    Between,
}

/// When a list stands on one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OneLine {
    /// Where it fits.
    Fits,
    /// Where it fits and its first entry was written on the line of the opening bracket.
    AsWritten,
    /// Like that, but with one entry alone.
    Single,
    /// Never, but when it's empty.
    Never,
}

impl Style {
    /// The style of a rule's brackets.
    pub fn of(kind: Kind) -> Self {
        let style = |spaced, commas, one_line, by_rule| Self {
            spaced,
            commas,
            one_line,
            by_rule,
        };
        match kind {
            Kind::Import => style(true, Commas::All, OneLine::Fits, true),
            Kind::File => style(false, Commas::OnOneLine, OneLine::Never, true),
            Kind::Fields => style(true, Commas::OnOneLine, OneLine::AsWritten, true),
            Kind::Values | Kind::RecordBody => style(true, Commas::All, OneLine::AsWritten, true),
            Kind::Update => style(true, Commas::OnOneLine, OneLine::AsWritten, true),
            Kind::Body | Kind::State => style(true, Commas::OnOneLine, OneLine::Single, true),
            Kind::Members | Kind::Arms => style(true, Commas::OnOneLine, OneLine::Never, true),
            Kind::Map => style(false, Commas::All, OneLine::AsWritten, false),
            Kind::Wrap | Kind::TypeArgs => style(false, Commas::Between, OneLine::Fits, false),
            _ => style(false, Commas::All, OneLine::Fits, false),
        }
    }
}

/// An entry of a list.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// What it is made of.
    pub parts: Vec<Part>,
    /// The comma behind it.
    comma: Option<usize>,
}

impl Entry {
    /// Its first token, and the one behind its last.
    pub fn tokens(&self, writer: &Writer) -> (usize, usize) {
        let first = self.parts.first().map_or(0, |part| writer.tokens(*part).0);
        let last = self.parts.last().map_or(0, |part| writer.tokens(*part).1);
        (first, last)
    }
}

impl Writer<'_, '_> {
    /// Parts of a rule one after the other, lists in brackets as `kind` has them.
    pub fn plain_parts(&mut self, parts: &[Part], kind: Kind) {
        let mut at = 0;
        while let Some(part) = parts.get(at) {
            match *part {
                Part::Token(open) if self.sign(*part) == Some(Sign::Open) => {
                    let close = self.closing(parts, at);
                    let inner = parts.get(at + 1..close).unwrap_or_default();
                    if let Some(Part::Token(close)) = parts.get(close) {
                        self.bracketed(open, inner, *close, kind);
                    }
                    at = close;
                }
                Part::Token(token) => self.token(token),
                Part::Node(node) => self.node(node),
            }
            at += 1;
        }
    }

    /// Where in `parts` the bracket at `open` is closed.
    fn closing(&self, parts: &[Part], open: usize) -> usize {
        let mut depth = 0;
        for (i, part) in parts.iter().enumerate().skip(open) {
            match self.sign(*part) {
                Some(Sign::Open) => depth += 1,
                Some(Sign::Close) => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return i;
            }
        }
        parts.len()
    }

    /// The entries of a list.
    pub fn entries_of(&self, inner: &[Part], by_rule: bool) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut open = false;
        for part in inner {
            match (*part, self.sign(*part)) {
                (Part::Token(comma), Some(Sign::Comma)) => {
                    if let Some(last) = entries.last_mut() {
                        last.comma = Some(comma);
                    }
                    open = false;
                }
                (part, _) => match entries.last_mut() {
                    Some(last) if open && !by_rule => last.parts.push(part),
                    _ => {
                        entries.push(Entry {
                            parts: vec![part],
                            comma: None,
                        });
                        open = true;
                    }
                },
            }
        }
        entries
    }

    fn bracketed(&mut self, open: usize, inner: &[Part], close: usize, kind: Kind) {
        let style = Style::of(kind);
        let entries = self.entries_of(inner, style.by_rule);
        self.token(open);
        self.gap = Gap::None;
        if entries.is_empty() && !self.has_comments(close) {
            self.token(close);
            return;
        }
        if matches!(kind, Kind::Attribute | Kind::TypeArgs) && self.short(open, inner, close) {
            self.on_one_line(entries, kind);
            self.token(close);
            return;
        }
        if let ([only], false) = (entries.as_slice(), style.spaced)
            && self.hugs(only, open, close)
        {
            self.entry_parts(only, kind);
            if let Some(comma) = only.comma {
                self.comments_aside(comma);
            }
            self.gap = Gap::None;
            self.token(close);
            return;
        }
        self.push(Op::Open);
        if self.forced(open, &entries, style) {
            self.push(Op::Break);
        }
        self.push(Op::In);
        self.trailing(open + 1);
        self.entries(entries, style, kind, close);
        let spaced = style.spaced;
        let first = inner.is_empty();
        self.comments_above(close, Gap::Entry { spaced, first });
        self.push(Op::Flush);
        self.push(Op::Out);
        self.gap = Gap::None;
        self.push(if spaced { Op::Line } else { Op::Soft });
        self.token(close);
        self.push(Op::Close);
    }

    /// Whether a list is so short that breaking it would not help. A comment in it needs a line end.
    ///
    /// A list within one that is measured is written as if it were: if the outer one is short, so is the inner, and if
    /// not, what was measured is thrown away. Measured on its own again, a list in lists would be written twice for each
    /// level around it.
    fn short(&mut self, open: usize, inner: &[Part], close: usize) -> bool {
        if self.in_short {
            return true;
        }
        if (open + 1..=close).any(|token| self.has_comments(token)) {
            return false;
        }
        self.in_short = true;
        let width = self.measured(|w| w.plain_parts(inner, Kind::Other));
        self.in_short = false;
        width.is_some_and(|width| width <= SHORT)
    }

    /// Entries without places where lines may break.
    fn on_one_line(&mut self, entries: Vec<Entry>, kind: Kind) {
        let last = entries.len().saturating_sub(1);
        for (i, entry) in entries.into_iter().enumerate() {
            self.entry_parts(&entry, kind);
            match entry.comma {
                Some(comma) if i < last => self.token(comma),
                Some(comma) => self.comments_aside(comma),
                None => {}
            }
        }
        self.gap = Gap::None;
    }

    /// Whether a list is written on several lines though it could fit on one.
    fn forced(&self, open: usize, entries: &[Entry], style: Style) -> bool {
        let written = self.read(open + 1).is_some_and(|next| next.on_new_line);
        match style.one_line {
            OneLine::Fits => false,
            OneLine::AsWritten => written,
            OneLine::Single => written || entries.len() > 1,
            OneLine::Never => true,
        }
    }

    /// Whether the one entry of a list is itself a list, so that two lines for the two opening brackets would be
    /// one too many: `[Entry { .. }]`, `with({ .. })`.
    fn hugs(&self, only: &Entry, open: usize, close: usize) -> bool {
        let (first, _) = only.tokens(self);
        let [part] = only.parts.as_slice() else {
            return false;
        };
        let inner = self.node_of(*part).filter(|node| node.kind == Kind::Expr);
        let lone = match inner.map(|expr| self.parts(expr)) {
            Some([lone]) => self.node_of(*lone).map(|node| node.kind),
            _ => None,
        };
        matches!(lone, Some(Kind::Map | Kind::Record | Kind::List))
            && first == open + 1
            && !self.has_comments(first)
            && !self.has_comments(close)
    }

    /// Entries with what is between them; `next` is the token behind the last.
    pub fn entries(&mut self, entries: Vec<Entry>, style: Style, kind: Kind, next: usize) {
        let ends: Vec<usize> = entries
            .iter()
            .skip(1)
            .map(|entry| entry.tokens(self).0)
            .chain([next])
            .collect();
        let entries = entries.into_iter().zip(ends).collect();
        let entries = self.in_order(entries, kind);
        let behind = self.comments_behind(&entries);
        self.align(&entries, kind);
        let last = entries.len().saturating_sub(1);
        for (i, (entry, next)) in entries.iter().enumerate() {
            self.gap = match (i, kind) {
                (0, Kind::File) => Gap::Start,
                _ => Gap::Entry {
                    spaced: style.spaced || i > 0,
                    first: i == 0,
                },
            };
            self.entry_parts(entry, kind);
            if let Some(comma) = entry.comma.filter(|comma| self.has_comments(*comma)) {
                self.comments_aside(comma);
                self.push(Op::Break);
            }
            match style.commas {
                Commas::All if i == last => self.push(Op::IfBroken(",")),
                Commas::OnOneLine if i == last => {}
                Commas::Between if i == last => {}
                Commas::OnOneLine => match self.keeps_comma(entry, *next) {
                    true => self.push(Op::Text(",".into())),
                    false => self.push(Op::IfFlat(",")),
                },
                Commas::All | Commas::Between => self.push(Op::Text(",".into())),
            }
            match behind.get(i).copied().flatten() {
                Some(comment) => self.behind(comment),
                None => self.trailing(*next),
            }
            self.push(Op::Flush);
        }
    }

    /// Where entries don't stand in the order of the text, the comment behind each: what follows it may be written first, and
    /// would take the comment along.
    fn comments_behind(&mut self, entries: &[(Entry, usize)]) -> Vec<Option<usize>> {
        if entries.is_sorted_by_key(|(_, next)| *next) {
            return Vec::new();
        }
        let nexts = entries.iter().map(|(_, next)| *next);
        nexts.map(|next| self.take_behind(next)).collect()
    }

    fn entry_parts(&mut self, entry: &Entry, kind: Kind) {
        match entry.parts.as_slice() {
            [Part::Node(node)] => self.node(*node),
            parts => self.plain_parts(parts, kind),
        }
    }

    /// Whether the comma behind an entry has to stay: what follows would go on with it.
    fn keeps_comma(&self, entry: &Entry, next: usize) -> bool {
        entry.comma.is_some()
            && match self.text(next) {
                "[" | "(" | "." | "-" | "?" | "{" => true,
                "in" => !self.modifiers_in_order(next),
                _ => false,
            }
    }

    /// Whether the words before a field of a state stand so that the default of the field before it ends there.
    fn modifiers_in_order(&self, first: usize) -> bool {
        let order = ["in", "out", "persist", "ephemeral", "untracked"];
        let mut least = 0;
        for token in first.. {
            match order.iter().position(|word| *word == self.text(token)) {
                Some(place) if place >= least => least = place.min(2),
                Some(_) => return false,
                None => break,
            }
        }
        true
    }

    /// Properties of a node and lines of a tool in their order, each with the token that followed it.
    fn in_order(&self, mut entries: Vec<(Entry, usize)>, kind: Kind) -> Vec<(Entry, usize)> {
        let rank = |entry: &Entry| {
            let node = entry.parts.first().and_then(|part| self.node_of(*part));
            node.and_then(|node| node.rank).unwrap_or(u8::MAX / 2)
        };
        if kind == Kind::Body && !self.holds_file_comment(&entries) {
            entries.sort_by_key(|(entry, _)| rank(entry));
        }
        entries
    }

    /// Whether a comment of the file stands among entries: their order is its text.
    fn holds_file_comment(&self, entries: &[(Entry, usize)]) -> bool {
        let first = entries.first().map_or(0, |(entry, _)| entry.tokens(self).0);
        let last = entries.last().map_or(0, |(_, next)| *next);
        let comments = |token| self.read(token).map_or((0, 0), |token| token.comments);
        let (from, to) = (comments(first).0, comments(last).1);
        let mut among = self.tree.comments.get(from..to).unwrap_or_default().iter();
        among.any(|comment| comment.text.starts_with("//!"))
    }
}
