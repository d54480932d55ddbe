//! Tokens and the comments between them.
//!
//! A comment stays between the tokens that it was written between where a line may break there.
//! Elsewhere it goes to the end of the line, so that nothing that belongs on one line is torn apart.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::parse::tree::{Comment, Node, Part, Sign, Token, Tree};

use super::page::Op;

/// What stands between a token and the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Gap {
    /// A blank or none, as the two signs want it.
    #[default]
    Own,
    /// Nothing.
    None,
    /// So many blanks.
    Blanks(usize),
    /// A place where lines may break: a blank on one line.
    Line,
    /// A place where lines may break: nothing on one line.
    Soft,
    /// The beginning of an entry of a list: a [`Gap::Line`] or [`Gap::Soft`] that keeps an empty line above
    /// unless it is the first.
    Entry {
        /// A blank on one line.
        spaced: bool,
        /// Whether nothing stands before it in its list.
        first: bool,
    },
    /// The beginning of the text.
    Start,
}

/// Makes the row of layout commands.
pub(super) struct Writer<'a, 't> {
    pub tree: &'t Tree<'a>,
    pub ops: Vec<Op<'a>>,
    /// What comes before the next token.
    pub gap: Gap,
    /// Blanks after a token where it is padded to a column.
    pub pads: BTreeMap<usize, usize>,
    /// How many levels in lines begin.
    pub level: usize,
    /// Whether what is written is only to tell whether a list is short.
    pub in_short: bool,
    /// Whether the token written last wants nothing behind it.
    close_after: bool,
    /// Comments that are written.
    taken: Vec<bool>,
    /// The same in the order in which they were.
    taken_in_order: Vec<usize>,
}

impl<'a, 't> Writer<'a, 't> {
    pub fn new(tree: &'t Tree<'a>) -> Self {
        Self {
            tree,
            ops: Vec::new(),
            gap: Gap::Start,
            pads: BTreeMap::new(),
            level: 0,
            in_short: false,
            close_after: true,
            taken: vec![false; tree.comments.len()],
            taken_in_order: Vec::new(),
        }
    }

    pub fn finish(self) -> Vec<Op<'a>> {
        self.ops
    }

    pub fn push(&mut self, op: Op<'a>) {
        match op {
            Op::In => self.level += 1,
            Op::Out => self.level = self.level.saturating_sub(1),
            _ => {}
        }
        self.ops.push(op);
    }

    pub fn read(&self, token: usize) -> Option<&'t Token<'a>> {
        self.tree.tokens.get(token)
    }

    pub fn text(&self, token: usize) -> &'a str {
        self.read(token).map_or("", |token| token.text)
    }

    pub fn sign(&self, part: Part) -> Option<Sign> {
        match part {
            Part::Token(token) => self.read(token).map(|token| token.sign),
            Part::Node(_) => None,
        }
    }

    pub fn node_of(&self, part: Part) -> Option<&'t Node> {
        match part {
            Part::Node(node) => self.tree.nodes.get(node),
            Part::Token(_) => None,
        }
    }

    /// The parts of a rule.
    pub fn parts(&self, node: &Node) -> &'t [Part] {
        self.tree
            .parts
            .get(node.parts.0..node.parts.1)
            .unwrap_or_default()
    }

    /// The tokens of a part.
    pub fn tokens(&self, part: Part) -> (usize, usize) {
        match part {
            Part::Token(token) => (token, token + 1),
            Part::Node(node) => self.tree.nodes.get(node).map_or((0, 0), |n| n.tokens),
        }
    }

    /// The comments before a token that are still to be written.
    fn comments(&self, token: usize) -> Vec<(usize, Comment<'a>)> {
        let (from, to) = self.read(token).map_or((0, 0), |token| token.comments);
        let all = (from..to).filter_map(|i| Some((i, *self.tree.comments.get(i)?)));
        all.filter(|(i, _)| self.taken.get(*i) == Some(&false))
            .collect()
    }

    pub fn has_comments(&self, token: usize) -> bool {
        !self.comments(token).is_empty()
    }

    fn take(&mut self, comment: usize) {
        if let Some(taken) = self.taken.get_mut(comment) {
            *taken = true;
            self.taken_in_order.push(comment);
        }
    }

    /// Writes the comment behind the last token on its line, if `next` has one before it: it stays there
    /// wherever `next` goes. Lines break here then.
    pub fn trailing(&mut self, next: usize) {
        if let Some(comment) = self.take_behind(next) {
            self.behind(comment);
        }
    }

    /// Takes that comment, for [`behind`](Self::behind) to write.
    pub fn take_behind(&mut self, next: usize) -> Option<usize> {
        let declares = self.read(next).is_some_and(|token| token.declares);
        let (i, comment) = self.comments(next).first().copied()?;
        let behind = !comment.own_line && !(declares && is_doc(comment.text));
        behind.then(|| {
            self.take(i);
            i
        })
    }

    /// Writes a comment at the end of the line. Lines break here then.
    pub fn behind(&mut self, comment: usize) {
        if let Some(comment) = self.tree.comments.get(comment) {
            self.push(Op::Suffix(plain(comment.text)));
            self.push(Op::Break);
        }
    }

    /// Writes the comments of `token` at the end of the line, wherever that is.
    pub fn comments_aside(&mut self, token: usize) {
        for (i, comment) in self.comments(token) {
            self.take(i);
            self.push(Op::Suffix(plain(comment.text)));
        }
    }

    /// Writes the comments of `token` where a line breaks before it.
    pub fn comments_above(&mut self, token: usize, gap: Gap) {
        let declares = self.read(token).is_some_and(|token| token.declares);
        let mut gap = gap;
        for (i, comment) in self.comments(token) {
            self.take(i);
            self.push(Op::Break);
            let doc = declares && is_doc(comment.text);
            // Two comments never share a line: the second would be part of the first.
            let behind = matches!(self.ops.iter().rev().nth(1), Some(Op::Text(text)) if text.starts_with("//"));
            if comment.own_line || doc || behind {
                self.line(gap, comment.after_blank);
                gap = Gap::Entry {
                    spaced: false,
                    first: false,
                };
                let text = match doc {
                    true => Cow::Borrowed(comment.text),
                    false => plain(comment.text),
                };
                self.push(Op::Text(text));
            } else {
                self.push(Op::Suffix(plain(comment.text)));
            }
        }
        self.gap = gap;
    }

    /// A place where a line may break.
    fn line(&mut self, gap: Gap, after_blank: bool) {
        if after_blank && matches!(gap, Gap::Entry { first: false, .. }) {
            self.push(Op::Blank);
            self.push(Op::Break);
        }
        match gap {
            Gap::Line | Gap::Entry { spaced: true, .. } => self.push(Op::Line),
            Gap::Soft | Gap::Entry { .. } => self.push(Op::Soft),
            _ => {}
        }
    }

    /// Writes what stands before a token: its comments and the gap. A group that begins with the token
    /// opens behind that, so that a line end before it doesn't count as its own.
    pub fn gap_before(&mut self, index: usize) {
        let Some(token) = self.read(index) else {
            return;
        };
        match std::mem::replace(&mut self.gap, Gap::None) {
            gap @ (Gap::Own | Gap::None | Gap::Blanks(_)) => {
                self.comments_aside(index);
                let blanks = match gap {
                    Gap::Blanks(count) => count,
                    Gap::Own => usize::from(!self.close_after && !token.close_before),
                    _ => 0,
                };
                if blanks > 0 {
                    self.push(Op::Blanks(blanks));
                }
            }
            gap => {
                self.comments_above(index, gap);
                let gap = std::mem::replace(&mut self.gap, Gap::None);
                self.line(gap, token.after_blank);
            }
        }
    }

    /// Writes a token with what stands before it.
    pub fn token(&mut self, index: usize) {
        self.gap_before(index);
        self.gap = Gap::Own;
        if let Some(token) = self.read(index) {
            self.push(Op::Text(Cow::Borrowed(token.text)));
            self.close_after = token.close_after;
        }
        if let Some(blanks) = self.pads.get(&index) {
            self.gap = Gap::Blanks(*blanks);
        }
    }

    /// The width of what `write` writes on one line; `None` where it takes several.
    pub fn measured(&mut self, write: impl FnOnce(&mut Self)) -> Option<usize> {
        let (gap, close_after) = (self.gap, self.close_after);
        let (ops, taken) = (self.ops.len(), self.taken_in_order.len());
        self.gap = Gap::None;
        write(self);
        let width = super::page::flat_width(self.ops.get(ops..).unwrap_or_default());
        self.ops.truncate(ops);
        for comment in self.taken_in_order.drain(taken..) {
            if let Some(taken) = self.taken.get_mut(comment) {
                *taken = false;
            }
        }
        (self.gap, self.close_after) = (gap, close_after);
        width
    }
}

/// Whether a comment documents a declaration that follows.
fn is_doc(text: &str) -> bool {
    text.starts_with("///") && !text.starts_with("////")
}

/// A comment that documents nothing: without the third slash, since it could come to stand before a
/// declaration.
fn plain(text: &str) -> Cow<'_, str> {
    match text.strip_prefix("///") {
        Some(rest) if is_doc(text) => match rest.starts_with('!') {
            true => Cow::Owned(format!("// {rest}")),
            false => Cow::Owned(format!("//{rest}")),
        },
        _ => Cow::Borrowed(text),
    }
}
