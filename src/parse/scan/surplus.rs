//! Braces that close nothing, traced to the one too many or to where one lacks.

use crate::base::FileId;
use crate::diag::{Diagnostic, codes};

use super::super::layout::{Culprit, Layout};
use super::Scan;

/// What is wrong with the braces of an item in which the one at `at` closes nothing.
pub(super) fn culprit(
    text: &str,
    id: FileId,
    item: usize,
    at: usize,
    traced: &[(Culprit, usize)],
) -> Option<Culprit> {
    let line = text.get(..item)?.rfind('\n').map_or(0, |at| at + 1);
    let mut scan = Scan::new(text.get(..=at)?, id);
    scan.at = line;
    scan.traced = traced.to_vec();
    scan.layout = Some(Layout::default());
    scan.run();
    let found = scan.layout?.culprit(text)?;
    let again = traced.iter().any(|(other, _)| other.at() == found.at());
    (!again).then_some(found)
}

impl Scan<'_> {
    /// Comes to a place where a brace is one too many or lacks; says whether that was a brace.
    pub(super) fn trace(&mut self, culprit: Culprit, cause: usize) -> bool {
        match culprit {
            Culprit::Surplus(at) if at == self.at => {
                self.found.push(self.too_many(at, cause));
                self.blanked.push((at, at + 1));
                self.surplus.push(at);
                let line = self.text.get(..at).unwrap_or("");
                let line = line.rfind('\n').map_or(0, |at| at + 1);
                self.spoilt.push(self.span(line, at + 1));
                self.lost.push(at);
                self.brackets.content(b'}');
                self.at += 1;
                true
            }
            Culprit::Lacking { start, end } if end == self.at => {
                let head = self.text.get(start..end).unwrap_or("");
                let last = end - head.rsplit(' ').next().map_or(0, str::len);
                let found = Diagnostic::new(
                    &codes::SYNTAX_ERROR,
                    format!("expected `{{` behind `{head}`"),
                    self.span(last, end),
                );
                self.found.push(
                    found
                        .label(self.span(cause, cause + 1), "so this closes nothing")
                        .fix(self.span(end, end), " {"),
                );
                let behind = self.text.get(end..).unwrap_or("").as_bytes();
                let blank = |at: usize| matches!(behind.get(at), Some(b' ' | b'\t' | b'\r'));
                match (0..2).find(|at| blank(*at)) {
                    Some(at) => self.replaced.push((end + at, b'{')),
                    None => self.damaged = true,
                }
                self.open_brace(end);
                false
            }
            _ => false,
        }
    }

    fn too_many(&self, at: usize, cause: usize) -> Diagnostic {
        let here = self.span(at, at + 1);
        let shown = self.text.get(at..at + 1).unwrap_or("}");
        if at == cause {
            return Diagnostic::new(&codes::UNCLOSED, format!("`{shown}` closes nothing"), here)
                .help("remove it, or write what it should close");
        }
        Diagnostic::new(
            &codes::UNCLOSED,
            format!("this `{shown}` is one too many"),
            here,
        )
        .label(self.span(cause, cause + 1), "so this one closes nothing")
        .help("remove it, or write what it should close")
    }

    pub(super) fn open_brace(&mut self, at: usize) {
        self.brackets.open(b'{', at);
        if let Some(layout) = &mut self.layout {
            layout.bracket(at, b'{', true);
        }
    }
}
