//! The way on which a field has no value, for a message.

use std::collections::HashMap;

use crate::base::Span;
use crate::diag::{Diagnostic, codes};
use crate::expr::TypeTable;
use crate::ir::FieldId;
use crate::resolve::program::Field;

use super::super::flow::{Flow, Spot};

/// Most names of a way that a message writes out, and most arrows that it points at.
const SHOWN: usize = 6;

/// For each spot and each field that lacks a value there, the arrow by which it first came so.
#[derive(Default)]
pub struct Trails {
    before: HashMap<(Spot, FieldId), (Option<Spot>, Span)>,
}

impl Trails {
    /// Notes an arrow behind which a field lacks a value. The first one is kept, so that trails have no circles.
    pub fn note(&mut self, to: Spot, field: FieldId, from: Option<Spot>, span: Span) {
        self.before.entry((to, field)).or_insert((from, span));
    }

    /// Arrows from `start` to a spot: where each leads, and its place.
    fn to(&self, spot: Spot, field: FieldId) -> Vec<(Spot, Option<Spot>, Span)> {
        let mut trail = Vec::new();
        let mut at = spot;
        while let Some((from, span)) = self.before.get(&(at, field)) {
            trail.push((at, *from, *span));
            match from {
                Some(from) if trail.len() <= self.before.len() => at = *from,
                _ => break,
            }
        }
        trail.reverse();
        trail
    }

    /// A read of a field that nothing on some way here writes: `trail`, or where that is empty the first way
    /// that was found.
    pub fn report(
        &self,
        flow: &Flow,
        types: &TypeTable,
        (spot, trail): (Spot, Vec<(Spot, Option<Spot>, Span)>),
        (field, declared): (FieldId, &Field),
        read: Span,
    ) -> Diagnostic {
        let name = &declared.name.node;
        let trail = match trail.is_empty() {
            true => self.to(spot, field),
            false => trail,
        };
        let names = trail.iter().filter_map(|(to, _, _)| match to {
            Spot::Join(_) => None,
            to => Some(flow.name(*to)),
        });
        let names: Vec<&str> = names.collect();
        let hidden = names.len().saturating_sub(SHOWN);
        let mut way = vec!["start"];
        if hidden > 0 {
            way.push("...");
        }
        way.extend(names.iter().skip(hidden));
        let message = match names.is_empty() {
            true => format!("`state.{name}` has no value yet on some way to here"),
            false => format!(
                "`state.{name}` has no value yet on the way `{}`",
                way.join(" -> ")
            ),
        };
        let mut found = Diagnostic::new(&codes::READ_BEFORE_WRITE, message, read)
            .here("read here")
            .label(declared.name.span, "declared without a first value");
        let chosen = trail.iter().filter(|(_, from, _)| {
            let ways = from.map_or(flow.start.len(), |spot| flow.ways(spot).len());
            ways > 1
        });
        let mut chosen: Vec<_> = chosen.collect();
        if chosen.is_empty() {
            chosen.extend(trail.last());
        }
        for (to, _, span) in chosen.iter().rev().take(SHOWN) {
            let on = match to {
                Spot::Join(_) => "on to the join without it".to_owned(),
                to => format!("on to `{}` without it", flow.name(*to)),
            };
            found = found.label(*span, on);
        }
        found.help(format!(
            "write it on that way too, or give it a first value: `= ..` behind its type, or the type `{}?`",
            types.show(&declared.ty.node)
        ))
    }
}
