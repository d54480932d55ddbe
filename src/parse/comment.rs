//! Where the comments of a text stand, and which of them document what.
//!
//! The grammar passes over comments, so they may stand anywhere; a doc comment belongs to the
//! declaration that follows it.

/// Comments of a text, in order.
#[derive(Default)]
pub struct Comments {
    /// Stretches of comments and the blanks around and between them.
    gaps: Vec<(usize, usize)>,
    /// `///` lines.
    docs: Vec<(usize, usize)>,
    /// `//!` lines.
    file_docs: Vec<(usize, usize)>,
}

impl Comments {
    /// Adds the comment that stands at `start..end`; they come in order.
    pub fn add(&mut self, text: &str, start: usize, end: usize) {
        let body = text.get(start..end).unwrap_or("");
        if body.starts_with("//!") {
            self.file_docs.push((start, end));
        } else if body.starts_with("///") && !body.starts_with("////") {
            self.docs.push((start, end));
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

    /// The end of what is written before `end`, blanks and comments left out.
    pub fn trim(&self, text: &str, end: usize) -> usize {
        let i = self.gaps.partition_point(|(start, _)| *start < end);
        match i.checked_sub(1).and_then(|i| self.gaps.get(i)) {
            Some((start, gap_end)) if *gap_end >= end => *start,
            _ => text.get(..end).unwrap_or("").trim_ascii_end().len(),
        }
    }

    /// The doc comment that stands directly before `start`.
    pub fn doc_before(&self, text: &str, start: usize) -> String {
        let i = self.gaps.partition_point(|(_, end)| *end < start);
        match self.gaps.get(i) {
            Some((from, end)) if *end == start => joined(text, &self.docs, *from, start),
            _ => String::new(),
        }
    }

    /// The `//!` lines.
    pub fn file_doc(&self, text: &str) -> String {
        joined(text, &self.file_docs, 0, text.len())
    }
}

/// The comment lines within `from..to` without their slashes.
fn joined(text: &str, lines: &[(usize, usize)], from: usize, to: usize) -> String {
    let first = lines.partition_point(|(start, _)| *start < from);
    let mut doc = String::new();
    for (i, (start, end)) in lines.iter().skip(first).enumerate() {
        if *end > to {
            break;
        }
        if i > 0 {
            doc.push('\n');
        }
        let line = text.get(start + 3..*end).unwrap_or("");
        doc.push_str(line.strip_prefix(' ').unwrap_or(line).trim_ascii_end());
    }
    doc
}
