//! Members of a graph that are neither state, nodes nor edges: its entry and defaults.

use crate::ast::graph::{Graph as Written, Member};
use crate::base::{Span, Spanned};

use super::super::Resolver;
use super::super::names::{Definition, Wanted};
use super::Inside;

impl Resolver<'_> {
    /// Resolves them into the graph.
    pub(super) fn members(&mut self, inside: &Inside, written: &Written) {
        let mut seen: Vec<(&'static str, Span)> = Vec::new();
        for member in &written.members {
            if let Some((word, span)) = single(member) {
                if let Some((_, first)) = seen.iter().find(|(known, _)| *known == word) {
                    self.given_twice_at(word, *first, span);
                    // What only the second one leads to is meant to be reached.
                    self.program.graphs[inside.graph].broken |= word == "start";
                    continue;
                }
                seen.push((word, span));
            }
            self.member(inside, member);
        }
    }

    fn member(&mut self, inside: &Inside, member: &Member) {
        let id = inside.graph;
        match member {
            Member::Tools(refs, span) => {
                let before = self.diags.len();
                let list = self.tool_list(inside.file, refs, *span);
                self.fixed_in_graph(&list);
                // A bound that lacks a tool would blame those who use it.
                let whole = self.diags.len() == before;
                self.program.graphs[id].tools = whole.then_some(list);
            }
            Member::Model(name, _) => {
                if let Some(Definition::Model(model)) = self.find(inside.file, name, Wanted::Model)
                {
                    self.program.graphs[id].model = Some(Spanned::new(model, name.span));
                }
            }
            Member::Retry(spec, span) => {
                self.program.graphs[id].retry_at = Some(*span);
                self.program.graphs[id].retry = self.retry(inside.file, spec);
            }
            Member::Timeout(duration, span) => {
                self.program.graphs[id].timeout_at = Some(*span);
                let timeout = self.duration("`timeout`", *duration);
                self.program.graphs[id].timeout_ms = timeout;
            }
            Member::RecursionLimit(expr, span) => {
                let limit = self.count(inside, "`recursion_limit`", expr);
                let number = limit.number.map(|limit| Spanned::new(limit, *span));
                self.program.graphs[id].recursion_limit = number;
                self.program.graphs[id].recursion_by = limit.by;
            }
            Member::OnError(jumps, _) => {
                let route = self.route(inside, jumps);
                self.program.graphs[id].on_error = Some(route);
            }
            Member::Start(jumps, _) => {
                let route = self.route(inside, jumps);
                self.program.graphs[id].start = Some(route);
            }
            Member::Exit(when, _) => {
                let when = self.expr(inside.file, when);
                self.program.graphs[id].exits.push(when);
            }
            Member::State(..)
            | Member::Context(..)
            | Member::Interrupt(_)
            | Member::Migrate(..)
            | Member::Node(_)
            | Member::Edge(_) => {}
        }
    }
}

/// Members that a graph has at most once.
fn single(member: &Member) -> Option<(&'static str, Span)> {
    Some(match member {
        Member::State(_, span) => ("state", *span),
        Member::Context(_, span) => ("context", *span),
        Member::Tools(_, span) => ("tools", *span),
        Member::Model(_, span) => ("model", *span),
        Member::Retry(_, span) => ("retry", *span),
        Member::Timeout(_, span) => ("timeout", *span),
        Member::RecursionLimit(_, span) => ("recursion_limit", *span),
        Member::OnError(_, span) => ("on_error", *span),
        Member::Start(_, span) => ("start", *span),
        _ => return None,
    })
}
