//! `interrupt NAME before NODE { .. }` and `after`: questions that a graph asks around its nodes.

use crate::ast::Name;
use crate::ast::graph::{Graph as Written, Member, StaticInterrupt};
use crate::base::Span;
use crate::base::name::closest;
use crate::diag::{Diagnostic, Home, codes};
use crate::ir::NodeId;

use super::super::Resolver;
use super::super::node::{Stop, Work};
use super::Inside;

impl Resolver<'_> {
    /// Adds every static interrupt to its node.
    pub(super) fn stops(&mut self, inside: &Inside, written: &Written) {
        let mut seen: Vec<&Name> = Vec::new();
        for member in &written.members {
            let Member::Interrupt(interrupt) = member else {
                continue;
            };
            let name = &interrupt.name;
            let free = self.check_local_name(name);
            if let Some(first) = seen.iter().find(|known| known.node == name.node) {
                self.twice("interrupt", first, name);
                continue;
            }
            seen.push(name);
            self.not_a_node(inside, name);
            let stop = self.stop(inside, interrupt);
            if let Some(node) = self.stopped_at(inside, interrupt).filter(|_| free) {
                self.free_of_lets(inside, node, name);
                self.program.graphs[inside.graph].nodes[node]
                    .stops
                    .push(stop);
            }
        }
    }

    fn stop(&mut self, inside: &Inside, interrupt: &StaticInterrupt) -> Stop {
        let name = &interrupt.name;
        for (again, first) in &interrupt.twice {
            let word = self.sources.text(*again);
            let message = format!("`{word}` is given twice");
            let found = Diagnostic::new(&codes::DUPLICATE_PROPERTY, message, *again)
                .here("given again")
                .label(*first, "first given here")
                .help("keep one of the two");
            self.diags.push(found);
        }
        if interrupt.ask.is_none() {
            let help = "say what the person is shown: `ask { .. }`";
            self.lacking(
                interrupt,
                format!("interrupt `{}` has no `ask`", name.node),
                help,
            );
        }
        if interrupt.expect.is_none() {
            let help = "say what may be answered: `expect bool`, or a type of your own";
            self.lacking(
                interrupt,
                format!("interrupt `{}` has no `expect`", name.node),
                help,
            );
        }
        Stop {
            name: name.clone(),
            after: interrupt.after,
            ask: interrupt.ask.as_ref().and_then(|ask| self.ask(inside, ask)),
            expect: interrupt
                .expect
                .as_ref()
                .map(|ty| self.spanned_type(inside.file, ty)),
            permits: self.permits(inside, &interrupt.permits),
            span: interrupt.span,
        }
    }

    /// Reports what is missing, unless it is lost in a part that did not parse.
    fn lacking(&mut self, interrupt: &StaticInterrupt, message: String, help: &str) {
        let span = interrupt.span;
        let inside = |at: &Span| at.start >= span.start && at.start < span.end;
        let file = self.files.get(span.file.0 as usize);
        if file.is_some_and(|file| file.errors.iter().any(inside)) {
            return;
        }
        let place = interrupt.name.span;
        let diagnostic = Diagnostic::new(&codes::MISSING_PROPERTY, message, place);
        self.diags.push(diagnostic.help(help));
    }

    /// The node that it stands before or after; reported where there is none, or none that could be stopped at.
    fn stopped_at(&mut self, inside: &Inside, interrupt: &StaticInterrupt) -> Option<NodeId> {
        let name = &interrupt.node;
        let Some(node) = inside.nodes.get(&name.node).copied() else {
            if !self.is_lost(inside.file, &name.node) {
                let message = format!("`{}` has no node `{}`", inside.name, name.node);
                let near = inside.nodes.keys().map(String::as_str);
                let near: Vec<&str> = near.collect();
                let diagnostic = Diagnostic::new(&codes::UNKNOWN_NODE, message, name.span)
                    .unknown(&name.node, Home::Nodes(None));
                self.diags
                    .push(diagnostic.meant(name.span, &name.node, near, "its nodes are"));
            }
            // What reads its answer there is no mistake of its own.
            let near = closest(&name.node, inside.nodes.keys().map(String::as_str));
            return near.and_then(|near| inside.nodes.get(near).copied());
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

    /// Its answer is in scope of the node by its name, which no `let` may have.
    fn free_of_lets(&mut self, inside: &Inside, node: NodeId, name: &Name) {
        let lets = &self.program.graphs[inside.graph].nodes[node].lets;
        let taken = lets.iter().find(|bound| bound.name.node == name.node);
        if let Some(first) = taken.map(|bound| bound.name.clone()) {
            self.twice("name", &first, name);
        }
    }
}
