//! `interrupt NAME before NODE { .. }` and `after`: questions that a graph asks around its nodes.

use crate::ast::Name;
use crate::ast::graph::{Graph as Written, Member, StaticInterrupt};
use crate::diag::{Diagnostic, codes};
use crate::ir::NodeId;

use super::super::Resolver;
use super::super::names::Seen;
use super::super::node::{Stop, Work};
use super::Inside;

impl Resolver<'_> {
    /// Adds every static interrupt to its node.
    pub(super) fn stops(&mut self, inside: &Inside, written: &Written) {
        let mut seen = Seen::default();
        for member in &written.members {
            let Member::Interrupt(interrupt) = member else {
                continue;
            };
            let name = &interrupt.name;
            let free = self.check_local_name(name);
            if !self.once(&mut seen, "interrupt", name) {
                continue;
            }
            self.not_a_node(inside, name);
            let stop = self.stop(inside, interrupt);
            if let Some(node) = self.stopped_at(inside, interrupt).filter(|_| free) {
                self.free_of_lets(inside, node, name);
                let node = &mut self.program.graphs[inside.graph].nodes[node];
                node.stops.push(stop);
            }
        }
    }

    fn stop(&mut self, inside: &Inside, interrupt: &StaticInterrupt) -> Stop {
        for (again, first) in &interrupt.twice {
            let word = self.sources.text(*again).to_owned();
            self.given_twice_at(&word, *first, *again);
        }
        let lacking = [
            (
                interrupt.ask.is_none(),
                "ask",
                "say what the person is shown: `ask { .. }`",
            ),
            (
                interrupt.expect.is_none(),
                "expect",
                "say what may be answered: `expect bool`, or a type of your own",
            ),
        ];
        let name = &interrupt.name;
        let damaged = self.is_damaged(interrupt.span);
        for (_, word, help) in lacking.iter().filter(|(lacks, ..)| *lacks && !damaged) {
            let message = format!("interrupt `{}` has no `{word}`", name.node);
            self.report(&codes::MISSING_PROPERTY, message, name.span, *help);
        }
        let (ask, expect) = (interrupt.ask.as_ref(), interrupt.expect.as_ref());
        let permits = interrupt.permits.iter();
        Stop {
            name: name.clone(),
            after: interrupt.after,
            ask: ask.and_then(|ask| self.ask(inside, ask)),
            expect: expect.map(|ty| self.answer_type(inside.file, ty, &interrupt.name.node)),
            permits: permits.map(|permit| self.permit(inside, permit)).collect(),
            span: interrupt.span,
        }
    }

    /// The node that it stands before or after; reported where there is none, or none that could be stopped at.
    fn stopped_at(&mut self, inside: &Inside, interrupt: &StaticInterrupt) -> Option<NodeId> {
        let name = &interrupt.node;
        let Some(node) = inside.nodes.get(&name.node).copied() else {
            self.no_node(inside, name);
            // What reads its answer there is no mistake of its own.
            return inside.closest_node(name);
        };
        let declared = &self.program.graphs[inside.graph].nodes[node];
        if matches!(declared.work, Work::Branch) {
            let message = format!(
                "`{}` is a `branch`, which takes no super-step that could stop",
                name.node
            );
            let place = declared.kind_span;
            let diagnostic = Diagnostic::new(&codes::PROPERTY_NOT_ALLOWED, message, name.span)
                .label(place, "followed as part of the arrow that leads to it")
                .help("stop before or after a node that it leads to, or that leads to it");
            self.diags.push(diagnostic);
            return None;
        }
        Some(node)
    }

    /// An interrupt is found by its name beside nodes: in results, in answers and in scenarios.
    fn not_a_node(&mut self, inside: &Inside, name: &Name) {
        let Some(node) = inside.nodes.get(&name.node).copied() else {
            return;
        };
        let first = self.program.graphs[inside.graph].nodes[node].name.clone();
        let message = format!("`{}` is the name of a node already", name.node);
        let diagnostic = Diagnostic::new(&codes::DUPLICATE_NAME, message, name.span)
            .label(first.span, "the node")
            .help("answers find an interrupt by its name: choose another one");
        self.diags.push(diagnostic);
    }

    /// Its answer is in scope of the node by its name, which no `let` may have, and no piece of a reply.
    fn free_of_lets(&mut self, inside: &Inside, node: NodeId, name: &Name) {
        let node = &self.program.graphs[inside.graph].nodes[node];
        let mut lets = node.lets.iter();
        let streams = node.stream_as().is_some();
        let taken = lets.find(|bound| bound.name.node == name.node);
        if let Some(first) = taken.map(|bound| bound.name.clone()) {
            self.twice("name", &first, name);
        }
        if streams {
            self.free_of_chunk(name);
        }
    }
}
