//! What all builders share: spans, names, docs, and lists with separators.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::ast::{Doc, Name};
use crate::base::foreign::expression::Types;
use crate::base::{FileId, Span, Spanned};
use crate::diag::{Diagnostic, Diagnostics, codes};

use super::comment::Comments;
use super::grammar::{Pair, Rule};
use super::mend::Shift;
use super::scan::Scanned;
use super::text::{Decoder, Quoted};

/// What stands before an entry in its list.
#[derive(Debug, Clone, Copy)]
pub struct Previous {
    /// Where it begins.
    pub start: usize,
    /// Where it ends, blanks and comments left out.
    pub end: usize,
    /// Whether it was no entry, which is reported.
    pub is_bad: bool,
    /// Whether an entry was made of it.
    pub made: bool,
    /// Whether an entry was made of what stands before it.
    pub follows_entry: bool,
    /// Whether its entry takes the place of the one before.
    pub replaces: bool,
}

/// Makes the tree of matched rules.
pub struct Builder<'a> {
    /// The text that the grammar read.
    pub text: &'a str,
    /// What it declares names as.
    pub types: Types<'a>,
    /// Its comments.
    pub comments: &'a Comments<'a>,
    /// Which file it is.
    pub file: FileId,
    /// Where in the text the slice begins that the grammar read last.
    pub base: usize,
    /// Where in the text the next piece begins.
    pub next: usize,
    /// Where findings go.
    pub diags: &'a mut Diagnostics,
    /// How places of a corrected piece are found, while one is built.
    pub shift: Option<Shift>,
    /// Pieces that did not parse and are not certainly what they were read as.
    pub damaged: Vec<Span>,
    /// The column of `def f(state):` where that was reported last: what is indented below it is part of it.
    pub foreign_body: Option<usize>,
    /// Places that are reported already, in order.
    pub torn: &'a [usize],
    /// Places around which it isn't certain what was meant, in order.
    pub lost: &'a [usize],
    /// Closing braces that were taken out as too many, in order.
    pub surplus: &'a [usize],
    /// Those of them whose opening one was found to lack.
    pub explained: Vec<usize>,
    /// Where the last entry begins that neither a comma nor a line end stands before.
    pub unseparated: Option<usize>,
    /// Where heads of nodes begin that are reported to lack their `{`.
    pub heads: Vec<usize>,
    /// The names of its nodes, where somebody asked for them.
    pub nodes: OnceCell<BTreeSet<&'a str>>,
    /// Whether the node that is read has a `set`.
    pub has_set: bool,
    /// Whether an expression was already reported as too deep since its outermost rule began.
    pub too_deep: bool,
}

impl<'a> Builder<'a> {
    /// A builder for a scanned text.
    pub fn new(scanned: &'a Scanned, file: FileId, diags: &'a mut Diagnostics) -> Self {
        Self {
            text: &scanned.text,
            types: Types::new(&scanned.text, &scanned.index),
            comments: &scanned.comments,
            file,
            base: 0,
            next: 0,
            shift: None,
            damaged: scanned.damaged.clone(),
            foreign_body: None,
            torn: &scanned.torn,
            lost: &scanned.lost,
            surplus: &scanned.surplus,
            explained: Vec::new(),
            unseparated: None,
            heads: Vec::new(),
            nodes: OnceCell::new(),
            has_set: false,
            diags,
            too_deep: false,
        }
    }

    /// Where a rule begins.
    pub fn begin(&self, pair: &Pair) -> usize {
        self.place(pair.as_span().start())
    }

    /// The place in the text of an offset into the slice that the grammar read.
    fn place(&self, offset: usize) -> usize {
        let at = self.base + offset;
        self.shift.map_or(at, |shift| shift.place(at))
    }

    /// Where a rule stands, without the blanks and comments that it may have taken at its end.
    pub fn span(&self, pair: &Pair) -> Span {
        let start = self.begin(pair);
        let end = self.place(pair.as_span().end());
        let end = self.comments.trim(self.text, end);
        Span::new(self.file, start, end.max(start))
    }

    /// Where a word or another atomic rule stands.
    pub fn word_span(&self, pair: &Pair) -> Span {
        let span = pair.as_span();
        Span::new(self.file, self.place(span.start()), self.place(span.end()))
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
        self.comments.doc_before(self.begin(pair))
    }

    /// Builds the entries of a braced list, checks that a comma or a line end stands between
    /// them, and reports what is none by parsing it again as `only`.
    pub fn entries<'i, T>(
        &mut self,
        pairs: impl IntoIterator<Item = Pair<'i>>,
        only: Rule,
        mut build: impl for<'p> FnMut(&mut Self, Pair<'p>) -> Option<T>,
    ) -> Vec<T> {
        let mut entries = Vec::new();
        let mut previous = None;
        for pair in pairs {
            let rule = pair.as_rule();
            if rule == Rule::lbrace || super::message::is_keyword(rule) {
                continue;
            }
            let entry = self.entry(pair, &mut previous, only, &mut build);
            if previous.is_some_and(|previous| previous.replaces) {
                entries.pop();
            }
            entries.extend(entry);
        }
        // A vector that grew has room for four, and most lists have one.
        entries.shrink_to_fit();
        entries
    }

    /// One entry of a list; `previous` is the one before it, and then this one.
    pub fn entry<'i, T>(
        &mut self,
        pair: Pair<'i>,
        previous: &mut Option<Previous>,
        only: Rule,
        build: impl for<'p> FnOnce(&mut Self, Pair<'p>) -> Option<T>,
    ) -> Option<T> {
        let rule = pair.as_rule();
        let is_bad = matches!(
            rule,
            Rule::bad_item
                | Rule::bad_entry
                | Rule::bad_name
                | Rule::bad_field
                | Rule::bad_line
                | Rule::bad_arm
        );
        let span = self.span(&pair);
        let (start, end) = (span.start as usize, span.end as usize);
        let before = previous.replace(Previous {
            start,
            end,
            is_bad,
            made: false,
            follows_entry: previous.is_some_and(|previous| previous.made),
            replaces: false,
        });
        let entry = if is_bad {
            let meant = self.bad(start, end, before, only);
            self.mend((start, end), meant, only, previous, build)
        } else {
            if rule_needs_separator(rule) {
                self.check_separator(before, start);
            }
            match is_whole(rule) && self.is_lost(start, end) {
                true => {
                    self.damaged.push(span);
                    None
                }
                false => build(self, pair),
            }
        };
        if let Some(previous) = previous {
            previous.made = entry.is_some();
        }
        entry
    }

    /// Whether it isn't certain what was meant in a stretch, or right behind it.
    fn is_lost(&self, start: usize, end: usize) -> bool {
        if self.lost.is_empty() {
            return false;
        }
        let rest = self.text.get(end..).unwrap_or("");
        let until = end + (rest.len() - rest.trim_ascii_start().len());
        let first = self.lost.partition_point(|at| *at < start);
        self.lost.get(first).is_some_and(|at| *at < until)
    }

    /// Reports two entries with neither a comma nor a line end between them.
    fn check_separator(&mut self, previous: Option<Previous>, start: usize) {
        let Some(Previous {
            start: began,
            end,
            is_bad: false,
            ..
        }) = previous
        else {
            return;
        };
        let between = self.text.get(end..start).unwrap_or("");
        // A bracket that was put where one lacks may stand on the next line.
        let first = self.torn.partition_point(|at| *at < began);
        let mended = self.torn.get(first).is_some_and(|at| *at < start);
        // Both stand in a correction.
        let mended = mended || began == start;
        if !between.contains([',', '\n']) && !mended {
            // Of a row without commas, the first one is reported.
            let row = self.unseparated.replace(start);
            if row == Some(began) {
                return;
            }
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

/// Whether an entry holds no others, so that it is lost as a whole.
fn is_whole(rule: Rule) -> bool {
    rule_needs_separator(rule)
        || matches!(
            rule,
            Rule::let_p
                | Rule::require_p
                | Rule::ensure_p
                | Rule::messages_p
                | Rule::until_p
                | Rule::max_turns_p
                | Rule::tools_p
                | Rule::return_line
                | Rule::exit_m
                | Rule::limit_m
        )
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
