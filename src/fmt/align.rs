//! What stands in columns: values of properties, types and reducers of state fields, targets of arms, and names of events and
//! models that follow each other.
//!
//! A column reaches as far as no empty line stands between. Lists of these kinds with more than one entry
//! never stand on one line, so that a column never leaves gaps in a line.

use crate::parse::tree::{Kind, Part, Sign};

use super::WIDTH;
use super::list::Entry;
use super::write::Writer;

/// How wide a type may be and still set a column.
const WIDEST: usize = 40;

impl Writer<'_, '_> {
    /// Pads the tokens of entries that begin a column.
    pub fn align(&mut self, entries: &[(Entry, usize)], kind: Kind) {
        let mut from = 0;
        for to in 1..=entries.len() {
            let ends = match (entries.get(to - 1), entries.get(to)) {
                (Some((before, _)), Some((entry, _))) => {
                    self.begins_paragraph(entry) || !self.alike(before, entry, kind)
                }
                _ => true,
            };
            if ends {
                let run = entries.get(from..to).unwrap_or_default();
                if run.len() > 1 {
                    self.align_run(run, kind);
                }
                from = to;
            }
        }
    }

    fn align_run(&mut self, run: &[(Entry, usize)], kind: Kind) {
        match kind {
            Kind::Body => self.keywords(run),
            Kind::State => self.fields(run),
            Kind::Arms => self.arms(run),
            Kind::File => self.names(run),
            _ => {}
        }
    }

    /// Whether an empty line stands before an entry, or among the comments before it.
    fn begins_paragraph(&self, entry: &Entry) -> bool {
        let Some(first) = self.read(entry.tokens(self).0) else {
            return false;
        };
        let (from, to) = first.comments;
        let comments = self.tree.comments.get(from..to).unwrap_or_default();
        let mut above = comments.iter().filter(|comment| comment.own_line);
        first.after_blank || above.any(|comment| comment.after_blank)
    }

    /// Whether two entries share their columns.
    fn alike(&self, one: &Entry, other: &Entry, kind: Kind) -> bool {
        let kind_of = |entry: &Entry| {
            let node = entry.parts.first().and_then(|part| self.node_of(*part));
            node.map(|node| node.kind)
        };
        match kind {
            Kind::State => self.modifiers(one).is_empty() == self.modifiers(other).is_empty(),
            Kind::File => kind_of(one) == kind_of(other),
            _ => true,
        }
    }

    /// The parts of the rule that an entry is.
    fn inner(&self, entry: &Entry) -> &[Part] {
        let node = entry.parts.first().and_then(|part| self.node_of(*part));
        node.map(|node| self.parts(node)).unwrap_or_default()
    }

    /// Pads each `token` of `width` so that what follows begins in one column.
    fn column(&mut self, cells: &[(usize, usize)]) {
        let widest = cells.iter().map(|(_, width)| *width).max().unwrap_or(0);
        for (token, width) in cells {
            self.pads.insert(*token, widest - width + 1);
        }
    }

    /// The keywords of properties that have a value.
    fn keywords(&mut self, run: &[(Entry, usize)]) {
        let cells: Vec<_> = run
            .iter()
            .map(|(entry, _)| entry.tokens(self))
            .filter(|(first, end)| end - first > 1)
            .map(|(first, _)| (first, self.text(first).len()))
            .collect();
        self.column(&cells);
    }

    /// The words before a state field's name.
    fn modifiers(&self, field: &Entry) -> Vec<usize> {
        let parts = self.inner(field).iter();
        let words: Vec<usize> = parts
            .map_while(|part| match part {
                Part::Token(token) if self.text(*token) != ":" => Some(*token),
                _ => None,
            })
            .collect();
        words.split_last().map_or(Vec::new(), |(_, m)| m.to_vec())
    }

    /// Modifiers, names and types of state fields.
    fn fields(&mut self, run: &[(Entry, usize)]) {
        let (mut modifiers, mut names, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for (field, _) in run {
            let words = self.modifiers(field);
            if let Some(last) = words.last() {
                let width: usize = words.iter().map(|word| self.text(*word).len() + 1).sum();
                modifiers.push((*last, width - 1));
            }
            let parts = self.inner(field).to_vec();
            let colon = parts.get(words.len() + 1);
            let (Some(Part::Token(colon)), Some(ty)) = (colon, parts.get(words.len() + 2)) else {
                continue;
            };
            names.push((*colon, self.text(colon.saturating_sub(1)).len()));
            let via = parts.get(words.len() + 3).and_then(|p| self.node_of(*p));
            let (first, end) = self.tokens(*ty);
            let width = self.plain_width(first, end);
            if via.is_some_and(|via| via.kind == Kind::Via) && width <= WIDEST {
                types.push((end.saturating_sub(1), width));
            }
        }
        for column in [modifiers, names, types] {
            self.column(&column);
        }
    }

    /// The width of tokens on one line, without the comments between them: these may come to stand elsewhere, which
    /// must not move a column.
    fn plain_width(&self, first: usize, end: usize) -> usize {
        let tokens = (first..end).filter_map(|token| self.read(token));
        let mut close = true;
        tokens.fold(0, |width, token| {
            let blank = usize::from(!close && !token.close_before);
            close = token.close_after;
            width + blank + token.text.chars().count()
        })
    }

    /// The conditions of arms, where each arm fits on a line.
    fn arms(&mut self, run: &[(Entry, usize)]) {
        let mut cells = Vec::new();
        let mut rests = Vec::new();
        for (arm, _) in run {
            let parts = self.inner(arm).to_vec();
            let arrow = parts
                .iter()
                .position(|part| self.sign(*part) == Some(Sign::Arrow));
            let (condition, _) = parts.split_at(arrow.unwrap_or(parts.len()));
            let width = self.measured(|w| w.plain_parts(condition, Kind::Arm));
            let whole = self.measured(|w| w.plain_parts(&parts, Kind::Arm));
            let last = condition.last().map(|part| self.tokens(*part).1);
            let (Some(width), Some(whole), Some(last)) = (width, whole, last) else {
                return;
            };
            cells.push((last.saturating_sub(1), width));
            rests.push(whole - width);
        }
        let widest = cells.iter().map(|(_, width)| *width).max().unwrap_or(0);
        let rest = rests.into_iter().max().unwrap_or(0);
        if 2 * self.level + widest + rest <= WIDTH {
            self.column(&cells);
        }
    }

    /// The names of events with a payload, and of models.
    fn names(&mut self, run: &[(Entry, usize)]) {
        let mut cells = Vec::new();
        for (item, _) in run {
            let node = item.parts.first().and_then(|part| self.node_of(*part));
            let named = node.is_some_and(|n| matches!(n.kind, Kind::Event | Kind::Model));
            if let (true, [_, Part::Token(name), _, ..]) = (named, self.inner(item)) {
                cells.push((*name, self.text(*name).len()));
            }
        }
        self.column(&cells);
    }
}
