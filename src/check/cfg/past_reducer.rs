//! Fields that a graph replaces past the reducer (`:=`): what a call of it, or of a tool, hands on to its caller replaces there too.

use std::collections::BTreeMap;

use crate::base::{IdVec, Span};
use crate::ir::{FieldId, GraphId};
use crate::resolve::program::{Graph, Program};

use super::super::calls::settle;
use super::build::called_bodies;
use super::written::Written;

/// What the nodes of each graph may replace by what they call.
pub struct PastReducer(IdVec<GraphId, Vec<HandedOn>>);

/// A field that a tool or a called graph may replace.
#[derive(Debug, Clone, Copy)]
pub struct HandedOn {
    /// The caller's field.
    pub field: FieldId,
    /// Where the caller's node writes it.
    pub at: Span,
    /// The `:=`.
    pub inside: Span,
}

/// A field that a call gives back: the called graph's, the caller's, and where the node says so.
type Link = (GraphId, FieldId, FieldId, Span);

impl PastReducer {
    /// Of all graphs.
    pub fn new(program: &Program, written: &Written) -> Self {
        let graphs = program.graphs.iter();
        let links: IdVec<GraphId, Vec<Link>> = graphs
            .clone()
            .map(|graph| links(program, graph, written))
            .collect();
        let by_tools: Vec<Vec<HandedOn>> = graphs
            .clone()
            .map(|graph| by_tools(program, graph))
            .collect();
        let own = graphs.zip(&by_tools).map(|(graph, by_tools)| {
            let items = graph.sets().filter(|item| item.replace);
            let items = items.filter_map(|item| Some((item.field?, item.name.span)));
            let by_tools = by_tools.iter().map(|tool| (tool.field, tool.inside));
            items.chain(by_tools).collect()
        });
        let mut replaced: IdVec<GraphId, BTreeMap<FieldId, Span>> = own.collect();
        settle(program, |id| {
            let more = links.get(id).map(|links| by_calls(links, &replaced));
            let Some(fields) = replaced.get_mut(id) else {
                return false;
            };
            let before = fields.len();
            for more in more.into_iter().flatten() {
                fields.entry(more.field).or_insert(more.inside);
            }
            fields.len() > before
        });
        let all = links.iter().zip(by_tools).map(|(links, mut all)| {
            all.extend(by_calls(links, &replaced));
            all
        });
        Self(all.collect())
    }

    /// Those of a graph.
    pub fn of(&self, graph: GraphId) -> &[HandedOn] {
        self.0.get(graph).map_or(&[], Vec::as_slice)
    }
}

fn links(program: &Program, graph: &Graph, written: &Written) -> Vec<Link> {
    let mut links = Vec::new();
    for node in &graph.nodes {
        let Some((child, _)) = node.called() else {
            continue;
        };
        let back = written.given_back(program, graph, node).into_iter();
        links.extend(back.map(|(from, to, span)| (child, from, to, span)));
    }
    links
}

fn by_tools(program: &Program, graph: &Graph) -> Vec<HandedOn> {
    let nodes = graph.nodes.iter();
    let bodies = nodes.flat_map(|node| called_bodies(program, node));
    let items = bodies.flat_map(|(at, body)| body.set.iter().map(move |item| (at, item)));
    let replaced = items.filter(|(_, item)| item.replace);
    replaced
        .filter_map(|(at, item)| {
            Some(HandedOn {
                field: graph.field(&item.name.node)?,
                at,
                inside: item.name.span,
            })
        })
        .collect()
}

fn by_calls(links: &[Link], replaced: &IdVec<GraphId, BTreeMap<FieldId, Span>>) -> Vec<HandedOn> {
    let found = links.iter().filter_map(|(child, from, to, at)| {
        let inside = replaced.get(*child)?.get(from)?;
        Some(HandedOn {
            field: *to,
            at: *at,
            inside: *inside,
        })
    });
    found.collect()
}
