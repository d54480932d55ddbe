//! The way on which a field has no value, for a message.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::base::{SharedSet, Span};
use crate::diag::{Diagnostic, codes};
use crate::ir::FieldId;
use crate::resolve::program::Field;

use super::super::cfg::{BlockId, ControlFlowGraph};

/// Most names of a way that a message writes out, and most arrows that it points at.
const SHOWN: usize = 6;

/// For each block the arrows by which fields came to lack a value there, the first ones first.
#[derive(Default)]
pub struct Trails {
    into: HashMap<BlockId, Vec<Arrow>>,
    /// Where each block that only one arrow leads to is come to from, as far back as there is no choice.
    back: RefCell<HashMap<BlockId, BlockId>>,
}

/// An arrow behind which fields lack a value.
struct Arrow {
    from: Option<BlockId>,
    span: Span,
    /// Fields that lack a value behind it or behind an arrow noted before it.
    lacking: SharedSet<FieldId>,
}

/// Where an arrow leads, where it comes from, and its place.
type Step = (BlockId, Option<BlockId>, Span);

impl Trails {
    /// Notes an arrow behind which fields lack a value. For each the first one counts, so that trails have no cycles.
    pub fn note(
        &mut self,
        to: BlockId,
        lacking: &SharedSet<FieldId>,
        from: Option<BlockId>,
        span: Span,
    ) {
        if lacking.is_empty() {
            return;
        }
        let known = self.into.entry(to).or_default();
        let mut all = match known.last() {
            Some(last) => last.lacking.clone(),
            None => SharedSet::new(),
        };
        if all.join(lacking) {
            known.push(Arrow {
                from,
                span,
                lacking: all,
            });
        }
    }

    /// The arrow by which a field first came to lack a value at a block.
    fn first(&self, block: BlockId, field: FieldId) -> Option<Step> {
        let predecessors = self.into.get(&block)?;
        let at = predecessors.partition_point(|arrow| !arrow.lacking.contains(&field));
        predecessors
            .get(at)
            .map(|arrow| (block, arrow.from, arrow.span))
    }

    /// Arrows from `start` to a block. Of a long way only the last ones, and those before them that were chosen among others.
    fn to(&self, cfg: &ControlFlowGraph, block: BlockId, field: FieldId) -> Vec<Step> {
        let mut trail = Vec::new();
        let (mut named, mut choices) = (0, 0);
        let mut at = block;
        // The first arrows have no cycles; more than there are can't be passed.
        for _ in 0..=2 * (cfg.nodes.len() + cfg.joins.len()) {
            let Some(step) = self.first(at, field) else {
                break;
            };
            trail.push(step);
            named += usize::from(!matches!(step.0, BlockId::Join(_)));
            choices += usize::from(chosen(cfg, &step));
            let Some(from) = step.1.filter(|_| named <= SHOWN || choices < SHOWN) else {
                break;
            };
            at = match named > SHOWN {
                true => self.before(cfg, from),
                false => from,
            };
        }
        trail.reverse();
        trail
    }

    /// From where the nearest arrow comes to a block that may be a choice: the block itself, or one before it.
    fn before(&self, cfg: &ControlFlowGraph, block: BlockId) -> BlockId {
        let mut back = self.back.borrow_mut();
        let mut passed = Vec::new();
        let mut at = block;
        for _ in 0..=cfg.nodes.len() + cfg.joins.len() {
            if let Some(known) = back.get(&at) {
                at = *known;
                break;
            }
            let only = match self.into.get(&at).map(Vec::as_slice) {
                Some([only]) if !chosen(cfg, &(at, only.from, only.span)) => only.from,
                _ => None,
            };
            let Some(from) = only else { break };
            passed.push(at);
            at = from;
        }
        back.extend(passed.into_iter().map(|block| (block, at)));
        at
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
            Some(_) => self.first(block, field).into_iter().collect(),
            None => self.to(cfg, block, field),
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
