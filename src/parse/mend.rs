//! Pieces read again with their one likely correction, so that what hangs on them is not reported as
//! missing: `stat { .. }` still declares the fields, `nod a: ..` the node.

use std::collections::BTreeSet;

use pest::Parser;

use crate::base::Span;
use crate::diag::Edit;

use super::build::{Builder, Previous};
use super::grammar::{Grammar, Pair, Rule};
use super::mistake::first_word;

/// How offsets of a corrected piece become places of the text.
#[derive(Debug, Clone, Copy)]
pub struct Shift {
    /// Where the correction begins.
    at: usize,
    /// Where it ends in the corrected piece.
    until: usize,
    /// How many bytes it has more than what it replaces.
    more: isize,
}

impl Shift {
    /// The place in the text of one in the corrected piece.
    pub fn place(self, at: usize) -> usize {
        match at {
            at if at <= self.at => at,
            at if at < self.until => self.at,
            at => at.saturating_add_signed(-self.more),
        }
    }
}

/// So many mistakes of a piece are mended one after the other to see whether it is right then.
const MENDS: usize = 8;

/// What a piece that did not parse may have been.
pub struct Meant {
    /// Where it begins: what stands before it in its list may be part of it.
    pub start: usize,
    /// The correction, where one is likely.
    pub edit: Option<Edit>,
}

impl Builder<'_> {
    /// Reads a piece that is reported as what it was likely meant to be. `previous` is told whether that takes the
    /// place of the entry before.
    pub fn mend<T>(
        &mut self,
        span: (usize, usize),
        meant: Meant,
        only: Rule,
        previous: &mut Option<Previous>,
        build: impl for<'p> FnOnce(&mut Self, Pair<'p>) -> Option<T>,
    ) -> Option<T> {
        let (start, end) = span;
        let read = meant
            .edit
            .as_ref()
            .and_then(|edit| self.read_again(meant.start, end, edit, only, build));
        // A keyword is certain enough; behind other corrections nothing more is said of the piece.
        let keyword = meant
            .edit
            .is_some_and(|edit| edit.span.start as usize == start && read.is_some())
            && meant.start == start;
        if !keyword {
            self.damaged.push(Span::new(self.file, meant.start, end));
        }
        if let Some(previous) = previous {
            previous.replaces = meant.start < start && read.is_some() && previous.follows_entry;
        }
        read
    }

    /// The text of a piece with a correction. One that opens a brace brings back what should close it.
    pub fn corrected(&self, start: usize, end: usize, edit: &Edit) -> Option<String> {
        let (from, to) = (edit.span.start as usize, edit.span.end as usize);
        let before = self.text.get(start..from)?;
        let mut text = format!("{before}{}{}", edit.text, self.text.get(to..end)?);
        if edit.text.contains('{')
            && let Some(at) = self.surplus_behind(start, end)
        {
            let blanks = at.saturating_sub(end);
            text.extend(std::iter::repeat_n(' ', blanks));
            match at < end {
                true => {
                    let at = before.len() + edit.text.len() + at.checked_sub(to)?;
                    text.replace_range(at..=at, "}");
                }
                false => text.push('}'),
            }
        }
        Some(text)
    }

    /// Whether the edits make what `only` stands for of a stretch, perhaps with further edits of the same kind that the rest of
    /// it needs.
    pub fn mends(&self, (start, end): (usize, usize), edits: &[Edit], only: Rule) -> bool {
        let text = match edits {
            [] => return true,
            [edit] if edit.text != "//" => self.corrected(start, end, edit),
            edits => self
                .text
                .get(start..end)
                .and_then(|text| made(text, start, edits)),
        };
        let Some(mut text) = text else {
            return false;
        };
        for _ in 0..MENDS {
            let error = match Grammar::parse(only, &text) {
                Ok(_) => return true,
                Err(error) => error,
            };
            let at = super::message::offset(&error);
            let found = super::mistake::report(&text, self.types, 0, self.file, error);
            // Each goes on from where the one before has mended it.
            let further = found.fix.iter().all(|edit| edit.span.end as usize >= at);
            match made(&text, 0, &found.fix).filter(|_| further && !found.fix.is_empty()) {
                Some(next) => text = next,
                None => return false,
            }
        }
        false
    }

    /// Whether an arrow that an edit puts before a name leads to a node that the file has.
    pub fn leads(&self, edit: &Edit, only: Rule) -> bool {
        let rest = self.text.get(edit.span.end as usize..).unwrap_or("");
        let target = first_word(rest.trim_ascii_start());
        let lists = [Rule::only_member, Rule::only_property, Rule::only_arm];
        let names_node = lists.contains(&only)
            && edit.text.trim_ascii() == "->"
            && !target.is_empty()
            && !matches!(target, "end" | "fail" | "each" | "parent");
        !names_node || self.node_names().contains(target)
    }

    /// Words that stand behind `node` in the file.
    fn node_names(&self) -> &BTreeSet<&str> {
        self.nodes.get_or_init(|| {
            let words = self.text.split("node ").skip(1);
            words
                .map(|text| first_word(text.trim_ascii_start()))
                .collect()
        })
    }

    fn read_again<T>(
        &mut self,
        start: usize,
        end: usize,
        edit: &Edit,
        only: Rule,
        build: impl for<'p> FnOnce(&mut Self, Pair<'p>) -> Option<T>,
    ) -> Option<T> {
        let (from, to) = (edit.span.start as usize, edit.span.end as usize);
        let text = self.corrected(start, end, edit)?;
        let piece = Grammar::parse(only, &text).ok()?.next()?;
        let piece = piece.into_inner().next()?;
        let shift = Shift {
            at: from,
            until: from + edit.text.len(),
            more: edit.text.len() as isize - (to - from) as isize,
        };
        let outer = (self.base, self.shift.replace(shift));
        self.base = start;
        let built = build(self, piece);
        (self.base, self.shift) = outer;
        built
    }
}

/// A text that begins at `start`, with edits made in it. A comment sign takes the rest of its line.
fn made(text: &str, start: usize, edits: &[Edit]) -> Option<String> {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| edit.span.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        let from = (edit.span.start as usize).checked_sub(start)?;
        let to = (edit.span.end as usize).checked_sub(start)?;
        out.push_str(text.get(at..from)?);
        at = to;
        match &*edit.text {
            "//" => at += text.get(to..)?.find('\n').unwrap_or(text.len() - to),
            // The grammar knows no comments.
            own if own.starts_with("///") => {}
            own => out.push_str(own),
        }
    }
    out.push_str(text.get(at..)?);
    Some(out)
}
