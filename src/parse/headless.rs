//! A node whose properties stand behind its head without braces, as in languages that go by how far lines are set in.

use crate::base::Span;
use crate::diag::{Diagnostic, codes};

use super::build::Builder;
use super::keyword;
use super::mend::Meant;
use super::mistake::first_word;

/// So many lines above a property its node's head is looked for.
const LINES: usize = 60;

impl Builder<'_> {
    /// Reports the head without `{` that the property at `start` stands behind, once a head.
    pub fn headless(&mut self, start: usize, end: usize) -> Option<Meant> {
        let word = first_word(self.text.get(start..end)?);
        if !keyword::PROPERTIES.contains(&word) {
            return None;
        }
        let (from, to) = self.head_above(start)?;
        self.damaged.push(Span::new(self.file, from, to));
        if self.heads.last() != Some(&from) {
            self.heads.push(from);
            let head = self.text.get(from..to)?;
            let last = to - head.rsplit(' ').next().map_or(0, str::len);
            let message = format!("expected `{{` behind `{head}`");
            self.diags.push(
                Diagnostic::new(
                    &codes::SYNTAX_ERROR,
                    message,
                    Span::new(self.file, last, to),
                )
                .label(
                    Span::new(self.file, start, start + word.len()),
                    "so this stands outside of the node",
                )
                .help("open `{` there, and close it by `}` behind the last property"),
            );
        }
        Some(Meant { start, edit: None })
    }

    /// Whether a line stands behind the head without braces that begins at `head`.
    pub fn stands_behind(&self, start: usize, head: usize) -> bool {
        self.head_above(start).is_some_and(|(from, _)| from == head)
    }

    /// The head of a node without `{` above a line, with only lines between that are set in as far.
    fn head_above(&self, start: usize) -> Option<(usize, usize)> {
        let before = self.text.get(..start)?;
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let own = before.get(line..)?;
        if !own.trim_start_matches([' ', '\t']).is_empty() {
            return None;
        }
        let indent = own.len();
        let mut end = line.checked_sub(1)?;
        for _ in 0..LINES {
            let from = before.get(..end)?.rfind('\n').map_or(0, |at| at + 1);
            let above = before.get(from..end)?;
            let code = above.trim_ascii();
            let set_in = above.len() - above.trim_start_matches([' ', '\t']).len();
            if code.starts_with("node ") {
                let is_head = set_in < indent && code.contains(':') && !code.contains(['{', '}']);
                let begin = from + set_in;
                return is_head.then_some((begin, begin + code.len()));
            }
            if !code.is_empty() && (set_in < indent || code.contains("node ")) {
                return None;
            }
            end = from.checked_sub(1)?;
        }
        None
    }
}
