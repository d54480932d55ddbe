//! Rules that are more than their parts in a row.

use crate::parse::tree::{Kind, Part, Sign};

use super::list::Style;
use super::page::Op;
use super::write::{Gap, Writer};

impl Writer<'_, '_> {
    /// The whole text.
    pub fn file(&mut self) {
        let end = self.tree.tokens.len().saturating_sub(1);
        if let Some(file) = self.tree.nodes.first() {
            let items = self.entries_of(self.parts(file), true);
            let any = !items.is_empty();
            self.items(items, end);
            let gap = match any {
                true => Gap::Entry {
                    spaced: false,
                    first: false,
                },
                false => Gap::Start,
            };
            self.comments_above(end, gap);
        }
    }

    /// A rule.
    pub fn node(&mut self, index: usize) {
        let Some(node) = self.tree.nodes.get(index) else {
            return;
        };
        let parts = self.parts(node);
        match node.kind {
            Kind::Expr => self.expression(parts),
            Kind::Type => {
                let bar = |writer: &Self, part| writer.sign(part) == Some(Sign::Bar);
                self.broken_at(parts, bar, |w, p| w.plain_parts(p, Kind::Type));
            }
            Kind::Edge => self.edge(parts),
            Kind::Require => {
                let is_else =
                    |w: &Self, part| matches!(part, Part::Token(t) if w.text(t) == "else");
                self.lines_before(&[], parts, is_else);
            }
            Kind::Reducer => self.reducer(parts),
            Kind::Field | Kind::StateField => {
                let is_attribute =
                    |w: &Self, part| w.node_of(part).is_some_and(|n| n.kind == Kind::Attribute);
                self.lines_before(&[], parts, is_attribute);
            }
            kind => self.plain_parts(parts, kind),
        }
    }

    /// `a -> b -> c`: where it doesn't fit on a line, each arrow but the first begins one.
    fn edge(&mut self, parts: &[Part]) {
        let first = parts
            .iter()
            .position(|part| self.sign(*part) == Some(Sign::Arrow));
        let (head, rest) = parts.split_at(first.map_or(parts.len(), |arrow| arrow + 1));
        self.lines_before(head, rest, |w, part| w.sign(part) == Some(Sign::Arrow));
    }

    /// A rule in which a line may break before some of its parts. Those of `head` are no such parts.
    fn lines_before(&mut self, head: &[Part], rest: &[Part], at: impl Fn(&Self, Part) -> bool) {
        let mut inside = false;
        self.open(if head.is_empty() { rest } else { head });
        self.plain_parts(head, Kind::Other);
        for part in rest {
            if at(self, *part) {
                if !std::mem::replace(&mut inside, true) {
                    self.push(Op::In);
                }
                self.gap = Gap::Line;
            }
            self.plain_parts(&[*part], Kind::Other);
        }
        if inside {
            self.push(Op::Out);
        }
        self.push(Op::Close);
    }

    /// A reducer, whose expression may stand on a line of its own.
    fn reducer(&mut self, parts: &[Part]) {
        let (head, body) = parts.split_at(parts.len().saturating_sub(1));
        self.plain_parts(head, Kind::Other);
        self.push(Op::Open);
        self.push(Op::In);
        self.gap = Gap::Line;
        self.plain_parts(body, Kind::Other);
        self.push(Op::Out);
        self.push(Op::Close);
    }

    /// Opens a group behind what comes before its first token.
    pub fn open(&mut self, parts: &[Part]) {
        if let Some(first) = parts.first() {
            self.gap_before(self.tokens(*first).0);
        }
        self.push(Op::Open);
    }

    /// The items of the file, one on a line.
    fn items(&mut self, items: Vec<super::list::Entry>, end: usize) {
        self.entries(items, Style::of(Kind::File), Kind::File, end);
    }
}
