//! What all builders share: spans, names, docs, and lists with separators.

use crate::ast::{Doc, Name};
use crate::base::{FileId, Span, Spanned};
use crate::diag::{Diagnostic, Diagnostics, codes};

use super::comment::Comments;
use super::grammar::{Pair, Rule};
use super::scan::Scanned;
use super::text::{Decoder, Quoted};

/// Makes the tree of matched rules.
pub struct Builder<'a> {
    /// The text that the grammar read.
    pub text: &'a str,
    /// Its comments.
    pub comments: &'a Comments,
    /// Which file it is.
    pub file: FileId,
    /// Where findings go.
    pub diags: &'a mut Diagnostics,
    /// Whether an expression was already reported as too deep since its outermost rule began.
    pub too_deep: bool,
}

impl<'a> Builder<'a> {
    /// A builder for a scanned text.
    pub fn new(scanned: &'a Scanned, file: FileId, diags: &'a mut Diagnostics) -> Self {
        Self {
            text: &scanned.text,
            comments: &scanned.comments,
            file,
            diags,
            too_deep: false,
        }
    }

    /// Where a rule stands, without the blanks and comments that it may have taken at its end.
    pub fn span(&self, pair: &Pair) -> Span {
        let span = pair.as_span();
        let end = self.comments.trim(self.text, span.end());
        Span::new(self.file, span.start(), end.max(span.start()))
    }

    /// Where a word or another atomic rule stands.
    pub fn word_span(&self, pair: &Pair) -> Span {
        let span = pair.as_span();
        Span::new(self.file, span.start(), span.end())
    }

    /// A word as a name.
    pub fn name(&self, pair: &Pair) -> Name {
        Spanned::new(pair.as_str().to_owned(), self.word_span(pair))
    }

    /// A string literal as a name: an import's module, a model's reference.
    pub fn quoted_name(&mut self, pair: &Pair) -> Name {
        let span = self.word_span(pair);
        let quoted = Quoted::new(pair.as_str());
        let text = self.decoder(span).string(&quoted);
        Spanned::new(text, span)
    }

    /// A decoder for the literal at `span`.
    pub fn decoder(&mut self, span: Span) -> Decoder<'_> {
        Decoder {
            diags: self.diags,
            span,
        }
    }

    /// The names of a list.
    pub fn names(&self, pair: Pair) -> Vec<Name> {
        pair.into_inner()
            .filter(|p| p.as_rule() == Rule::ident)
            .map(|p| self.name(&p))
            .collect()
    }

    /// Doc comment before a declaration.
    pub fn doc(&self, pair: &Pair) -> Doc {
        self.comments.doc_before(self.text, pair.as_span().start())
    }

    /// Builds the entries of a braced list, checks that a comma or a line end stands between
    /// them, and reports what is none by parsing it again as `only`.
    pub fn entries<'i, T>(
        &mut self,
        pairs: impl IntoIterator<Item = Pair<'i>>,
        only: Rule,
        mut build: impl FnMut(&mut Self, Pair<'i>) -> Option<T>,
    ) -> Vec<T> {
        let mut entries = Vec::new();
        let mut previous: Option<(usize, usize, bool)> = None;
        for pair in pairs {
            let rule = pair.as_rule();
            if rule == Rule::lbrace || super::message::is_keyword(rule) {
                continue;
            }
            let bad = matches!(rule, Rule::bad_entry | Rule::bad_line | Rule::bad_arm);
            let span = pair.as_span();
            let end = self.comments.trim(self.text, span.end());
            if bad {
                self.bad(
                    span.start(),
                    end,
                    previous.map(|(start, end, _)| (start, end)),
                    only,
                );
            } else {
                if rule_needs_separator(rule) {
                    self.check_separator(previous, span.start());
                }
                entries.extend(build(self, pair));
            }
            previous = Some((span.start(), end, bad));
        }
        entries
    }

    /// Reports two entries with neither a comma nor a line end between them.
    fn check_separator(&mut self, previous: Option<(usize, usize, bool)>, start: usize) {
        let Some((_, end, false)) = previous else {
            return;
        };
        let between = self.text.get(end..start).unwrap_or("");
        if !between.contains([',', '\n']) {
            let here = Span::new(self.file, end, end);
            let next = self.text.get(start..).unwrap_or("");
            let found = format!(
                "expected `,` or a line end before {}",
                super::message::found(next)
            );
            self.diags
                .push(Diagnostic::new(&codes::SYNTAX_ERROR, found, here).fix(here, ","));
        }
    }
}

/// Whether entries of this kind may not follow each other without a comma or a line end: those that
/// begin with a name, not with a keyword.
fn rule_needs_separator(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::field
            | Rule::state_field
            | Rule::named
            | Rule::set_item
            | Rule::setting
            | Rule::binding
            | Rule::enum_member
            | Rule::import_name
            | Rule::cache_key
            | Rule::cache_ttl
    )
}
