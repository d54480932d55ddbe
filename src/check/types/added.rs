//! Writes that add a constant to what a field has: counters, and lists that grow.

use std::collections::BTreeSet;

use crate::ast::expr::{BinaryOp, Expr, ExprKind};
use crate::expr::infer::{constant, path};
use crate::expr::{Type, TypeTable};
use crate::ir::{Channel, FieldId};
use crate::resolve::program::{Field, SetItem};

use super::cx::Cx;
use super::says::{Fact, Values};

impl Cx<'_> {
    /// Notes what a write adds. Only a graph that may end by such a number asks for it: it is one more state for each
    /// round of a circle.
    pub(super) fn says_added(&mut self, item: &SetItem, (id, field): (FieldId, &Field)) {
        let counts = self.graph.is_some_and(|graph| !graph.exits.is_empty());
        let types = &self.program.types;
        let Some(saying) = self.saying.as_mut().filter(|_| counts) else {
            return;
        };
        if let Some((place, by)) = added(item, field, types) {
            saying.assigned.push(Fact {
                place: place.into(),
                fields: BTreeSet::from([id]),
                values: Values::Plus(by),
            });
        }
    }
}

/// The place that grows, and by how much.
fn added(item: &SetItem, field: &Field, types: &TypeTable) -> Option<(String, f64)> {
    let place = format!("state.{}", field.name.node);
    let number = |expr: &Expr| constant(expr, types)?.as_f64();
    let of = |channel: &Channel| match channel {
        Channel::Add => Some((format!("#{place}"), number(&item.value)?)),
        Channel::Append => match &item.value.kind {
            ExprKind::List(elements) => Some((format!("#size({place})"), elements.len() as f64)),
            _ if matches!(field.ty.node, Type::List(_)) => None,
            _ => None,
        },
        Channel::Last | Channel::AnyLast => {
            let ExprKind::Binary(op, left, right) = &item.value.kind else {
                return None;
            };
            let own = |expr: &Expr| path(expr).is_some_and(|found| found == place);
            let by = match op.node {
                BinaryOp::Add if own(left) => number(right)?,
                BinaryOp::Add if own(right) => number(left)?,
                BinaryOp::Subtract if own(left) => -number(right)?,
                _ => return None,
            };
            Some((format!("#{place}"), by))
        }
        _ => None,
    };
    match item.replace {
        true => of(&Channel::Last),
        false => of(&field.channel),
    }
}
