//! Other brackets where blocks begin: they are read as the `{` that was meant.

use crate::diag::{Diagnostic, Edit, codes};

use super::super::opening::{ends_head, wants_brace};
use super::Scan;

/// So many bytes before a bracket its line is looked for. Longer lines are no heads of blocks.
const LONGEST: usize = 400;

/// A bracket that is read as a `{`.
pub struct Reopened {
    /// Where it stands.
    at: usize,
    /// Which of the findings says so.
    found: Option<usize>,
}

impl<'a> Scan<'a> {
    /// Whether a bracket stands where only a `{` can, `node a: update (`, which is then reported.
    pub(super) fn opens_wrong(&mut self) -> bool {
        let before = self.text.get(..self.at).unwrap_or("");
        let code = before.trim_end_matches([' ', '\t']);
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ']';
        if code.len() == before.len() || !code.ends_with(word) {
            return false;
        }
        let head = self.line_before(self.at).filter(|head| ends_head(head));
        if let Some(head) = head {
            self.wrong_opening(self.at, head);
        }
        head.is_some()
    }

    /// Whether a brace closes what was meant to be one, `set ( n: 1 }`, which is then reported.
    pub(super) fn opened_wrong(&mut self, byte: u8) -> bool {
        let Some(at) = self.brackets.opened_for().filter(|_| byte == b'}') else {
            return false;
        };
        let behind = self.text.get(at + 1..self.at).unwrap_or("");
        let head = self.line_before(at);
        let Some(head) = head.filter(|head| wants_brace(head, behind)) else {
            return false;
        };
        self.wrong_opening(at, head);
        self.brackets.reopen(b'{');
        if let Some(layout) = &mut self.layout {
            layout.reopen(at, b'{');
        }
        true
    }

    /// Closes a block that another bracket opened by that one's own closing bracket; says whether there is such a block.
    pub(super) fn closes_reopened(&mut self) -> bool {
        let innermost = self.brackets.innermost();
        // Those behind it are closed.
        while self
            .reopened
            .last()
            .is_some_and(|last| Some(last.at) > innermost)
        {
            self.reopened.pop();
        }
        let last = self.reopened.last();
        let Some(block) = last.filter(|last| Some(last.at) == innermost) else {
            return false;
        };
        let here = self.span(self.at, self.at + 1);
        let found = block.found.and_then(|found| self.found.get_mut(found));
        if let Some(found) = found {
            found.fix.push(Edit {
                span: here,
                text: "}".to_owned(),
            });
        }
        self.replaced.push((self.at, b'}'));
        self.closed(b'}');
        true
    }

    /// Reports a bracket that opens what a `{` was to open.
    fn wrong_opening(&mut self, at: usize, head: &str) {
        let opened = self.text.get(at..at + 1).unwrap_or("(");
        // Of a line with several blocks, the last one.
        let head = head.rsplit('{').next().unwrap_or(head).trim_ascii();
        let here = self.span(at, at + 1);
        let message = format!("expected `{{` behind `{head}`, found `{opened}`");
        self.replaced.push((at, b'{'));
        // What lies in a text that is left open is no bracket.
        let found = (!self.torn).then_some(self.found.len());
        if found.is_some() {
            let wrong = Diagnostic::new(&codes::SYNTAX_ERROR, message, here).fix(here, "{");
            self.found.push(wrong);
        }
        self.reopened.push(Reopened { at, found });
    }

    /// What stands on the line before a place.
    fn line_before(&self, at: usize) -> Option<&'a str> {
        let before = self.text.get(..at)?;
        let bytes = before.as_bytes();
        let near = bytes.iter().rev().take(LONGEST);
        let line = near.take_while(|byte| **byte != b'\n').count();
        (line < LONGEST).then(|| before.get(at - line..).unwrap_or("").trim_ascii())
    }
}
