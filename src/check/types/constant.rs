//! Conditions that are the same in every run: constant, or made of parts that exclude each other.

use std::collections::BTreeMap;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, LogicalOp, UnaryOp};
use crate::diag::{Diagnostic, Level, codes};
use crate::expr::fold::same::same;

use super::cases::{Atoms, Reader};
use super::cx::Cx;
use super::range::{Range, compared};

/// What a condition decides.
#[derive(Debug, Clone, Copy)]
pub enum Decides<'a> {
    /// An arm of a route, with where it leads.
    Arm(&'a str),
    /// `skip when` of that node
    Skip(&'a str),
    /// `until` of that agent
    Until(&'a str),
    /// `require`
    Require,
    /// `ensure`
    Ensure,
    /// `emit X .. when`
    Emit(&'a str),
    /// `exit when` of that graph
    Exit(&'a str),
}

impl Decides<'_> {
    /// What follows where the condition always has that value.
    fn follows(self, always: bool) -> (String, &'static str) {
        let what = match self {
            Decides::Arm(to) => format!("`when` of the arm to {to}"),
            Decides::Skip(node) => format!("`skip when` of `{node}`"),
            Decides::Until(node) => format!("`until` of `{node}`"),
            Decides::Require => "`require`".to_owned(),
            Decides::Ensure => "`ensure`".to_owned(),
            Decides::Emit(event) => format!("`when` of `emit {event}`"),
            Decides::Exit(graph) => format!("`exit when` of `{graph}`"),
        };
        let so = match (self, always) {
            (Decides::Arm(_), true) => "no arm behind it is ever taken",
            (Decides::Arm(_), false) => "this arm is never taken",
            (Decides::Skip(_), true) => "the node never does anything",
            (Decides::Skip(_), false) => "the node is never skipped",
            (Decides::Until(_), true) => "the agent stops after its first turn",
            (Decides::Until(_), false) => "it never stops the agent",
            (Decides::Require | Decides::Ensure, true) => "nothing is ever refused",
            (Decides::Require | Decides::Ensure, false) => "this always fails",
            (Decides::Emit(_), true) => "it is always sent",
            (Decides::Emit(_), false) => "it is never sent",
            (Decides::Exit(_), true) => "the graph ends after its first super-step",
            (Decides::Exit(_), false) => "it ends nothing",
        };
        (what, so)
    }
}

/// A condition that has one value, and what of it shows that.
pub struct Verdict {
    /// The value.
    pub value: bool,
    /// The place whose values are all ruled out, or all taken; `None` where the condition is a constant.
    pub subject: Option<String>,
}

impl Cx<'_> {
    /// Types a condition, and reports one that is the same in every run. Whether it typed well.
    pub fn deciding(&mut self, expr: &Expr, decides: Decides) -> bool {
        let verdict = Reader::new(self).verdict(expr);
        self.judged(expr, decides, verdict.as_ref())
    }

    /// The same where the verdict is known, should the condition type well.
    pub fn judged(&mut self, expr: &Expr, decides: Decides, verdict: Option<&Verdict>) -> bool {
        let before = self.diags.len();
        self.condition(expr);
        let mut said = self.diags.iter().skip(before);
        if said.any(|found| found.level == Level::Error) {
            return false;
        }
        // What is said of a part of it says enough.
        if let Some(Verdict { value, subject }) = verdict.filter(|_| self.diags.len() == before) {
            let (what, so) = decides.follows(*value);
            let word = if *value { "always" } else { "never" };
            let constant = subject
                .as_ref()
                .and_then(|subject| self.constants.get(subject))
                .cloned();
            let message = match subject {
                Some(subject) if constant.is_some() => {
                    let is = constant
                        .as_ref()
                        .map(|(atom, _)| atom.show())
                        .unwrap_or_default();
                    format!("{what} is {word} true: `{subject}` is `{is}` here")
                }
                Some(subject) if *value => {
                    format!("{what} is always true: it takes every value of `{subject}`")
                }
                Some(subject) => {
                    format!("{what} is never true: no value of `{subject}` fits all of it")
                }
                None => format!("{what} is {word} true"),
            };
            let found = Diagnostic::new(&codes::CONSTANT_CONDITION, message, expr.span);
            let found = found
                .here(so)
                .help("compare something that differs from run to run, or take the condition out");
            self.report(match constant.map(|(_, span)| span) {
                Some(written) => {
                    found.label(written, "written here, and the way on is chosen behind it")
                }
                None => found,
            });
        }
        true
    }
}

impl Reader<'_, '_> {
    /// The value of a condition that is the same in every run, whatever the parameters of the graph.
    pub fn verdict(&mut self, expr: &Expr) -> Option<Verdict> {
        if let Some(value) = self.folder.fold(expr).bool() {
            return Some(Verdict {
                value,
                subject: None,
            });
        }
        self.by_values(expr)
    }

    /// By the values that each place can have.
    pub(super) fn by_values(&mut self, expr: &Expr) -> Option<Verdict> {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.by_values(inner).map(|found| Verdict {
                value: !found.value,
                ..found
            }),
            ExprKind::Logical(op, operands) => self.logical_verdict(*op, operands),
            ExprKind::Binary(op, left, right) if same(left, right) && !changes(left) => {
                let value = match op.node {
                    BinaryOp::Equal | BinaryOp::LessEqual | BinaryOp::GreaterEqual => true,
                    BinaryOp::NotEqual | BinaryOp::Less | BinaryOp::Greater => false,
                    _ => return None,
                };
                Some(Verdict {
                    value,
                    subject: crate::expr::infer::path(left),
                })
            }
            _ => {
                if let Some((subject, atoms)) = self.holds(expr) {
                    return settled(self, subject, &atoms);
                }
                let found = compared(self, expr)?;
                let never = found.range.is_empty(found.whole);
                let always = found.domain.within(found.range);
                (never || always).then_some(Verdict {
                    value: always,
                    subject: Some(found.subject),
                })
            }
        }
    }

    fn logical_verdict(&mut self, op: LogicalOp, operands: &[Expr]) -> Option<Verdict> {
        let decides = op == LogicalOp::Or;
        let each: Vec<Option<Verdict>> = operands.iter().map(|part| self.by_values(part)).collect();
        let mut known = each.iter().flatten();
        if let Some(found) = known.position(|found| found.value == decides) {
            return each.into_iter().flatten().nth(found);
        }
        if each.iter().all(Option::is_some) {
            return each.into_iter().flatten().next();
        }
        // `a && !a`, `a || !a`
        for (i, part) in operands.iter().enumerate() {
            let denied = |other: &Expr| match &other.kind {
                ExprKind::Unary(UnaryOp::Not, inner) => same(inner, part),
                _ => false,
            };
            let others = operands.iter().enumerate().filter(|(j, _)| *j != i);
            if others.map(|(_, other)| other).any(denied) {
                return Some(Verdict {
                    value: decides,
                    subject: crate::expr::infer::path(part),
                });
            }
        }
        self.together(op, operands)
    }

    /// Operands that speak of the same place, taken together.
    fn together(&mut self, op: LogicalOp, operands: &[Expr]) -> Option<Verdict> {
        let mut places: BTreeMap<String, Atoms> = BTreeMap::new();
        let mut ranges: BTreeMap<String, (Range, bool)> = BTreeMap::new();
        let mut joined: BTreeMap<String, (Range, bool, Vec<Range>)> = BTreeMap::new();
        for operand in operands {
            if let Some((subject, atoms)) = self.holds(operand) {
                let known = places.get(&subject);
                let both = match (known, op) {
                    (None, _) => atoms,
                    (Some(known), LogicalOp::And) => known.intersection(&atoms),
                    (Some(known), LogicalOp::Or) => known.union(&atoms),
                };
                places.insert(subject, both);
            } else if let Some(found) = compared(self, operand) {
                if op == LogicalOp::Or {
                    let new = || (found.domain, found.whole, Vec::new());
                    let slot = joined.entry(found.subject).or_insert_with(new);
                    slot.2.push(found.range);
                    continue;
                }
                let slot = ranges
                    .entry(found.subject)
                    .or_insert((found.domain, found.whole));
                slot.0 = slot.0.and(found.range);
            }
        }
        for (subject, atoms) in places {
            let found = settled(self, subject, &atoms);
            if found
                .as_ref()
                .is_some_and(|found| found.value == (op == LogicalOp::Or))
            {
                return found;
            }
        }
        let all = joined.into_iter().find(|(_, (domain, whole, parts))| {
            domain.without(parts.iter().copied(), *whole).is_empty()
        });
        if let Some((subject, _)) = all {
            return Some(Verdict {
                value: true,
                subject: Some(subject),
            });
        }
        let mut empty = ranges
            .into_iter()
            .filter(|(_, (range, whole))| range.is_empty(*whole));
        empty.next().map(|(subject, _)| Verdict {
            value: false,
            subject: Some(subject),
        })
    }
}

/// Whether an expression may have another value when it is evaluated again.
pub(super) fn changes(expr: &Expr) -> bool {
    crate::expr::infer::reads(expr, &crate::expr::Scope::default()).effects
}

fn settled(reader: &Reader, subject: String, atoms: &Atoms) -> Option<Verdict> {
    let never = atoms.is_empty();
    let always = reader.covers(&subject, atoms);
    (never || always).then_some(Verdict {
        value: always,
        subject: Some(subject),
    })
}
