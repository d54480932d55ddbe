//! The way on which a field has no value, for a message.

use std::collections::{HashMap, VecDeque};

use crate::base::{SharedSet, Span};
use crate::diag::{Diagnostic, codes};
use crate::ir::FieldId;
use crate::resolve::program::Field;

use super::super::cfg::{BlockId, ControlFlowGraph};

/// Most names of a way that a message writes out, the last ones, and most arrows that it points at.
const SHOWN: usize = 6;

/// For each block the arrows that lead to it, with the fields that lack a value behind them.
#[derive(Default)]
pub struct Trails {
    into: HashMap<BlockId, HashMap<Arrow, SharedSet<FieldId>>>,
}

/// Where an arrow comes from (`None` is `start`), and its place.
type Arrow = (Option<BlockId>, Span);

/// Where an arrow leads, where it comes from, and its place.
type Step = (BlockId, Option<BlockId>, Span);

impl Trails {
    /// Notes an arrow behind which fields lack a value.
    pub fn note(
        &mut self,
        to: BlockId,
        lacking: &SharedSet<FieldId>,
        from: Option<BlockId>,
        span: Span,
    ) {
        if !lacking.is_empty() {
            let known = self.into.entry(to).or_default().entry((from, span));
            known.or_default().join(lacking);
        }
    }

    /// The arrows to a block behind which a field lacks a value, in the order of the text.
    fn lacking(&self, to: BlockId, field: FieldId) -> Vec<Arrow> {
        let all = self.into.get(&to).into_iter().flatten();
        let lacking = all.filter(|(_, lacking)| lacking.contains(&field));
        let mut arrows: Vec<Arrow> = lacking.map(|(arrow, _)| *arrow).collect();
        arrows.sort_by_key(|(from, span)| (*span, *from));
        arrows
    }

    /// A shortest way from `start` to a block on which a field lacks a value.
    fn to(&self, block: BlockId, field: FieldId) -> Vec<Step> {
        let mut next: HashMap<BlockId, Step> = HashMap::new();
        let mut open = VecDeque::from([block]);
        while let Some(to) = open.pop_front() {
            for (from, span) in self.lacking(to, field) {
                let Some(from) = from else {
                    let first = (to, None, span);
                    let step = |step: &Step| next.get(&step.0).filter(|_| step.0 != block).copied();
                    return std::iter::successors(Some(first), step).collect();
                };
                if from != block && !next.contains_key(&from) {
                    next.insert(from, (to, Some(from), span));
                    open.push_back(from);
                }
            }
        }
        Vec::new()
    }

    /// A read at a block of a field that some way to it does not surely write.
    pub fn report(
        &self,
        cfg: &ControlFlowGraph,
        block: BlockId,
        (field, declared): (FieldId, &Field),
        read: Span,
    ) -> Diagnostic {
        let name = &declared.name.node;
        let trail = match declared.ephemeral {
            // It may have had a value before: only the last step says where it is gone.
            Some(_) => {
                let arrows = self.lacking(block, field).into_iter();
                arrows
                    .map(|(from, span)| (block, from, span))
                    .take(1)
                    .collect()
            }
            None => self.to(block, field),
        };
        let names = cfg.names(trail.iter().map(|(to, _, _)| *to));
        let hidden = names.len().saturating_sub(SHOWN);
        let begin = trail.first().and_then(|(_, from, _)| *from);
        let mut way = vec![match begin.filter(|_| declared.ephemeral.is_some()) {
            Some(from) => cfg.name(from),
            None => "start",
        }];
        if hidden > 0 {
            way.push("...");
        }
        way.extend(names.iter().skip(hidden));
        let lacks = match declared.ephemeral {
            Some(_) => "is `ephemeral`, and has no value",
            None => "has no value yet",
        };
        let message = match names.is_empty() {
            true => format!("`state.{name}` {lacks} on some way to here"),
            false => format!("`state.{name}` {lacks} on the way `{}`", way.join(" -> ")),
        };
        let mut found = Diagnostic::new(&codes::READ_BEFORE_WRITE, message, read)
            .about(declared.name.span)
            .here("read here")
            .label(declared.name.span, "declared without a first value");
        let mut chosen: Vec<_> = trail.iter().filter(|step| chosen(cfg, step)).collect();
        if chosen.is_empty() {
            chosen.extend(trail.last());
        }
        for (to, _, span) in chosen.iter().rev().take(SHOWN) {
            let on = match to {
                BlockId::Join(_) => "on to the join without it".to_owned(),
                to => format!("on to `{}` without it", cfg.name(*to)),
            };
            found = found.label(*span, on);
        }
        found
    }
}

/// Whether another arrow could have been taken.
fn chosen(cfg: &ControlFlowGraph, (_, from, _): &Step) -> bool {
    let transitions = from.map_or(cfg.start.len(), |block| cfg.transitions(block).len());
    transitions > 1
}
