//! How many elements a list has at most that a send goes over.
//!
//! What bounds it: a list that is written out, `@len` where every value is held to it (fields of a state, and what comes from
//! outside: a model's output, an answer, the result of a tool without a body), and `slice` between two constants.

use std::cell::Cell;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal};
use crate::expr::function::{Length, meant};
use crate::expr::ty::Type;
use crate::ir::graph::{Graph, Node};
use crate::ir::node::Work;
use crate::ir::{self, Flow};

/// Expressions that are looked into for one list, so that `let` names that double each other come to an end.
const MOST: u32 = 200;

/// Where a list is written.
#[derive(Clone, Copy)]
pub(super) struct Scope<'g> {
    pub flow: &'g Flow,
    pub graph: &'g Graph,
    /// The node whose jump it is, if it is one's.
    pub node: Option<&'g Node>,
}

impl Scope<'_> {
    /// The most elements of a list; `None` where nothing is known.
    pub fn most(&self, list: &ir::Expr) -> Option<u64> {
        self.list(list.tree().ok()?, &Cell::new(MOST))
    }

    fn list(&self, list: &Expr, left: &Cell<u32>) -> Option<u64> {
        left.set(left.get().checked_sub(1)?);
        let part = |expr: &Expr| self.list(expr, left);
        match &list.kind {
            ExprKind::List(elements) => u64::try_from(elements.len()).ok(),
            ExprKind::Binary(op, a, b) if op.node == BinaryOp::Add => {
                part(a)?.checked_add(part(b)?)
            }
            ExprKind::Conditional(_, yes, no) => Some(u64::max(part(yes)?, part(no)?)),
            ExprKind::Call {
                target: Some(target),
                function,
                args,
            } => match (meant(function, true)?.length, args.as_slice()) {
                (Length::Between, [from, to]) => {
                    let length = number(from).zip(number(to));
                    let length = length.map(|(from, to)| to.saturating_sub(from));
                    match (length, part(target)) {
                        (Some(length), Some(whole)) => Some(u64::min(length, whole)),
                        (length, whole) => length.or(whole),
                    }
                }
                (Length::Any, _) => None,
                (Length::NoLonger | Length::Between, _) => part(target),
            },
            ExprKind::Select { operand, field, .. } => match &operand.kind {
                ExprKind::Ident(root) => self.field(root, &field.node),
                _ => None,
            },
            ExprKind::Ident(name) => {
                let node = self.node?;
                let mut lets = node
                    .lets
                    .iter()
                    .chain(&node.lets_within)
                    .chain(&node.lets_behind);
                let bound = lets.find(|bound| bound.name == *name)?;
                self.list(bound.value.tree().ok()?, left)
            }
            _ => None,
        }
    }

    /// The greatest length of a field of the state, or of a record that came from outside.
    fn field(&self, root: &str, field: &str) -> Option<u64> {
        if root == "state" {
            let id = self.graph.field(field)?;
            let length = self.graph.fields.get(id)?.constraints.len?;
            return Some(length.1);
        }
        let ty = match (root, &self.node?.work) {
            ("output", Work::Llm(call) | Work::Agent { call, .. }) => call.output.as_ref()?,
            ("answer", Work::Interrupt { expect, .. }) => expect.as_ref()?,
            ("result", Work::Call { tool, .. }) => {
                let tool = self
                    .flow
                    .tools
                    .get(*tool)
                    .filter(|tool| tool.body.is_none())?;
                tool.returns.as_ref()?
            }
            _ => return None,
        };
        let Type::Record(id) = ty.without_null() else {
            return None;
        };
        let record = self.flow.types.records.get(id)?;
        let field = record.fields.iter().find(|known| known.name == field)?;
        Some(field.constraints.len?.1)
    }
}

fn number(expr: &Expr) -> Option<u64> {
    match expr.kind {
        ExprKind::Literal(Literal::Int(number)) => u64::try_from(number).ok(),
        _ => None,
    }
}
