//! What a walk through a graph has found, reported once: reads without a value, and all else in the order declared.

use std::collections::BTreeMap;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, Fact, codes};
use crate::ir::FieldId;

use super::super::cfg::BlockId;
use super::super::first_value;
use super::cx::{Cx, Unassigned};
use super::flow_state::FlowState;
use super::flow_typing::{FlowTyping, Typed};
use super::jump::JumpStates;

impl<'a> FlowTyping<'a> {
    /// Types what no run comes to, and gathers all findings in the order declared.
    pub(super) fn finish(mut self, diags: &mut Diagnostics) -> Typed {
        for id in self.cfg.nodes.ids() {
            if self.entries.get(id.0 as usize).is_some_and(Option::is_none) {
                self.type_node(id, FlowState::default(), None);
                if let Some(Some(seen)) = self.seen.get_mut(id.0 as usize) {
                    seen.diags.retain(is_proven);
                }
            }
        }
        self.report_unassigned(diags);
        let mut typed = Typed {
            read: std::mem::take(&mut self.read),
            ..Typed::default()
        };
        let seen = std::mem::take(&mut self.seen);
        for (id, seen) in self.cfg.nodes.ids().zip(seen) {
            let seen = seen.map(|seen| *seen).unwrap_or_default();
            let found = seen.diags.into_iter();
            found.for_each(|found| diags.push(self.with_lost_test(id, found)));
            typed.computed.push(seen.computed);
        }
        let (graph, program) = (self.graph, self.program);
        for (id, seen) in self.joined.entries() {
            let brought = self.brought.get(id);
            let led_on = brought.is_some_and(|all| all.iter().all(Option::is_some));
            if let (true, Some(seen)) = (led_on, seen) {
                diags.append(seen.diags.clone());
            } else if let (false, Some(join)) = (led_on, graph.joins.get(id)) {
                let mut cx = Cx::in_graph(program, graph, &self.state, FlowState::default());
                cx.jump(&join.to, &mut JumpStates::new());
                cx.diags.retain(is_proven);
                diags.append(cx.diags);
            }
        }
        typed
    }

    /// Reports reads of fields that some way to them does not surely write. What a handler of the graph reads is read by
    /// each node that may fail, and reported once.
    fn report_unassigned(&self, diags: &mut Diagnostics) {
        let nodes = self.cfg.nodes.ids().map(BlockId::Node).zip(&self.seen);
        let joins = self.cfg.joins.ids().map(BlockId::Join).zip(&self.joined);
        let mut reads: BTreeMap<(Span, FieldId), (BlockId, Unassigned)> = BTreeMap::new();
        for (block, seen) in nodes.chain(joins) {
            for read in seen.iter().flat_map(|seen| &seen.unassigned) {
                let slot = reads.entry((read.read, read.field));
                let known = slot.or_insert((block, *read));
                if known.1.never && !read.never {
                    *known = (block, *read);
                }
            }
        }
        for (block, read) in reads.into_values() {
            let found = match read.never {
                true => self.never_assigned(&read),
                false => self.unassigned_on_way(block, &read),
            };
            found.into_iter().for_each(|found| diags.push(found));
        }
    }

    /// A read in `start` or in an `exit when`, which is asked behind each super-step.
    pub(super) fn unassigned_at_start(&self, read: &Unassigned) -> Option<Diagnostic> {
        let found = self.never_assigned(read)?;
        Some(match read.never {
            true => found,
            false => found.here("this is asked behind each super-step, the first one too"),
        })
    }

    fn never_assigned(&self, read: &Unassigned) -> Option<Diagnostic> {
        let field = self.graph.fields.get(read.field)?;
        let name = &field.name.node;
        let message = match field.ephemeral {
            Some(_) => format!("`state.{name}` has no value any more: it is `ephemeral`"),
            None => format!("`state.{name}` has no value yet"),
        };
        let found = Diagnostic::new(&codes::READ_BEFORE_WRITE, message, read.read)
            .about(field.name.span)
            .label(field.name.span, "declared without a first value");
        let types = &self.program.types;
        Some(first_value::ways_out(
            found,
            types,
            field,
            "write it before",
        ))
    }

    fn unassigned_on_way(&self, block: BlockId, read: &Unassigned) -> Option<Diagnostic> {
        let field = self.graph.fields.get(read.field)?;
        let found = self
            .trails
            .report(self.cfg, block, (read.field, field), read.read);
        let transitions = self
            .cfg
            .blocks()
            .flat_map(|block| self.cfg.transitions(block));
        let mut transitions = transitions.chain(&self.cfg.start);
        let write = match transitions.any(|transition| transition.successors.len() > 1) {
            true => "write it on that way too, wait with a join for what writes it",
            false => "write it on that way too",
        };
        let types = &self.program.types;
        Some(first_value::ways_out(found, types, field, write))
    }
}

/// Whether a finding holds whatever was shown on the way: where no way is, what was to lead there may have shown anything.
fn is_proven(found: &Diagnostic) -> bool {
    !found.facts.contains(&Fact::Unproven)
}
