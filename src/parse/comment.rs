//! Where the comments of a text stand, and which of them document what.
//!
//! The grammar sees blanks in their place, so they may stand anywhere; a doc comment belongs to the
//! declaration that follows it.

/// Comments of a text, in order.
#[derive(Default)]
pub struct Comments<'a> {
    /// All of them, without the line ends behind them.
    all: Vec<(usize, usize)>,
    /// Stretches of comments and the blanks around and between them.
    gaps: Vec<(usize, usize)>,
    /// `///` lines, each with where it begins.
    docs: Vec<(usize, &'a str)>,
    /// `//!` lines.
    file_docs: Vec<(usize, &'a str)>,
}

impl<'a> Comments<'a> {
    /// Adds the comment that stands at `start..end`; they come in order.
    pub fn add(&mut self, text: &'a str, start: usize, end: usize) {
        self.all.push((start, end));
        let body = text.get(start..end).unwrap_or("");
        if body.starts_with("//!") {
            self.file_docs.push((start, body));
        } else if body.starts_with("///") && !body.starts_with("////") {
            self.docs.push((start, body));
        }
        let blanks = text.get(end..).unwrap_or("");
        let after = end + (blanks.len() - blanks.trim_ascii_start().len());
        match self.gaps.last_mut() {
            Some(last) if last.1 == start => last.1 = after,
            _ => {
                let before = text.get(..start).unwrap_or("").trim_ascii_end().len();
                self.gaps.push((before, after));
            }
        }
    }

    /// Where each stands, from its slashes to the end of its line.
    pub fn places(&self) -> &[(usize, usize)] {
        &self.all
    }

    /// The end of what is written before `end`, blanks and comments left out.
    pub fn trim(&self, text: &str, end: usize) -> usize {
        let i = self.gaps.partition_point(|(start, _)| *start < end);
        match i.checked_sub(1).and_then(|i| self.gaps.get(i)) {
            Some((start, gap_end)) if *gap_end >= end => *start,
            _ => text.get(..end).unwrap_or("").trim_ascii_end().len(),
        }
    }

    /// The doc comment that stands directly before `start`.
    pub fn doc_before(&self, start: usize) -> String {
        let i = self.gaps.partition_point(|(_, end)| *end < start);
        match self.gaps.get(i) {
            Some((from, end)) if *end == start => joined(&self.docs, *from, start),
            _ => String::new(),
        }
    }

    /// The `//!` lines.
    pub fn file_doc(&self) -> String {
        joined(&self.file_docs, 0, usize::MAX)
    }
}

/// The comment lines within `from..to` without their slashes.
fn joined(lines: &[(usize, &str)], from: usize, to: usize) -> String {
    let first = lines.partition_point(|(start, _)| *start < from);
    let mut doc = String::new();
    for (i, (start, line)) in lines.iter().skip(first).enumerate() {
        if *start >= to {
            break;
        }
        if i > 0 {
            doc.push('\n');
        }
        let line = line.get(3..).unwrap_or("");
        doc.push_str(line.strip_prefix(' ').unwrap_or(line).trim_ascii_end());
    }
    doc
}
