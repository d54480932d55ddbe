//! Expressions: choices, operators, chains of calls.
//!
//! The grammar gives an expression as a flat row of operands and operators; what binds least breaks first.

use crate::parse::tree::{Kind, Part, Sign};

use super::page::Op;
use super::write::{Gap, Writer};

impl Writer<'_, '_> {
    /// `a ? b : c`, or what a choice is made of.
    pub fn expression(&mut self, parts: &[Part]) {
        let choice = |writer: &Self, part: Part| match part {
            Part::Token(token) => matches!(writer.text(token), "?" | ":"),
            Part::Node(_) => false,
        };
        self.broken_at(parts, choice, Self::operators);
    }

    /// Operands and operators between them.
    fn operators(&mut self, parts: &[Part]) {
        let strengths = parts.iter().filter_map(|part| self.strength(*part));
        match strengths.min() {
            None => self.operand(parts),
            Some(least) => {
                let here = |writer: &Self, part| writer.strength(part) == Some(least);
                self.broken_at(parts, here, Self::operators);
            }
        }
    }

    /// How strongly the operator that a part is binds.
    fn strength(&self, part: Part) -> Option<u8> {
        let Part::Token(token) = part else {
            return None;
        };
        self.sign(part).filter(|sign| *sign == Sign::Operator)?;
        Some(match self.text(token) {
            "||" => 0,
            "&&" => 1,
            "+" | "-" => 3,
            "*" | "/" | "%" => 4,
            _ => 2,
        })
    }

    /// Parts between signs; where they don't fit on one line, each sign begins one.
    pub fn broken_at(
        &mut self,
        parts: &[Part],
        at: impl Fn(&Self, Part) -> bool,
        inner: impl Fn(&mut Self, &[Part]),
    ) {
        let signs: Vec<usize> = parts
            .iter()
            .enumerate()
            .filter(|(_, part)| at(self, **part))
            .map(|(i, _)| i)
            .collect();
        if signs.is_empty() {
            return inner(self, parts);
        }
        let first = signs.first().copied().unwrap_or(0);
        self.open(parts);
        inner(self, parts.get(..first).unwrap_or_default());
        self.push(Op::In);
        for (i, sign) in signs.iter().enumerate() {
            let end = signs.get(i + 1).copied().unwrap_or(parts.len());
            let operand = parts.get(sign + 1..end).unwrap_or_default();
            if let Some(Part::Token(sign)) = parts.get(*sign) {
                // A comment behind a sign that would begin a line stands before that line.
                let behind = operand.first().map(|part| self.tokens(*part).0);
                self.comments_above(*sign, Gap::Line);
                if let Some(behind) = behind {
                    let gap = self.gap;
                    self.comments_above(behind, gap);
                }
                self.token(*sign);
            }
            inner(self, operand);
        }
        self.push(Op::Out);
        self.push(Op::Close);
    }

    /// An operand: prefixes, a value, what is read from it and called on it.
    fn operand(&mut self, parts: &[Part]) {
        let calls: Vec<usize> = parts
            .iter()
            .enumerate()
            .filter(|(_, part)| self.is_call(**part))
            .map(|(i, _)| i)
            .collect();
        if calls.len() < 2 {
            return self.plain_parts(parts, Kind::Other);
        }
        let first = calls.first().copied().unwrap_or(0);
        self.open(parts);
        self.plain_parts(parts.get(..first).unwrap_or_default(), Kind::Other);
        self.push(Op::In);
        for (i, call) in calls.iter().enumerate() {
            let end = calls.get(i + 1).copied().unwrap_or(parts.len());
            self.gap = Gap::Soft;
            self.plain_parts(parts.get(*call..end).unwrap_or_default(), Kind::Other);
        }
        self.push(Op::Out);
        self.push(Op::Close);
    }

    /// Whether a part is a call of a method.
    fn is_call(&self, part: Part) -> bool {
        let node = self.node_of(part).filter(|node| node.kind == Kind::Select);
        let last = node.and_then(|node| self.parts(node).last());
        last.is_some_and(|part| matches!(part, Part::Node(_)))
    }
}
