//! What a mention stands for: the fields of the node's graph, and of the graph that it calls.

use std::collections::HashMap;

use crate::base::Span;
use crate::ir::GraphId;
use crate::resolve::program::{Node, Program, Work};

use super::super::reads::{self, Lets, Mention};
use super::decided::Place;
use super::decision::mentioned;

/// The fields that a mention in a node, or in a jump of no node, reads a decision from: one of the state, or those of the
/// `result` of a called graph.
pub fn places(
    program: &Program,
    (id, node): (GraphId, Option<&Node>),
    mention: Mention<'_>,
) -> Vec<Place> {
    match (mention, node) {
        (Mention::Field(_) | Mention::FieldPart(..), _) => {
            let graph = program.graphs.get(id);
            let field = graph.and_then(|graph| mentioned(program, graph, mention));
            field.into_iter().map(|field| (id, field)).collect()
        }
        (_, Some(node)) => results(program, node, mention),
        (_, None) => Vec::new(),
    }
}

/// The fields of a called graph that a mention of its `result` is: one that is named, or any that it gives back.
fn results(program: &Program, node: &Node, mention: Mention<'_>) -> Vec<Place> {
    if !matches!(
        mention,
        Mention::Name("result") | Mention::Part("result", _)
    ) {
        return Vec::new();
    }
    let Work::Subgraph {
        graph: Some(child), ..
    } = &node.work
    else {
        return Vec::new();
    };
    let Some(called) = program.graphs.get(*child) else {
        return Vec::new();
    };
    let out = called.fields.entries().filter(|(_, f)| f.mode.is_out());
    let named = out.filter(|(_, field)| match mention {
        Mention::Part(_, part) => field.name.node == part,
        _ => true,
    });
    named.map(|(from, _)| (*child, from)).collect()
}

/// What the `let` names of nodes come to, made once for each node.
#[derive(Default)]
pub struct LetsOf<'a> {
    none: Lets<'a>,
    known: HashMap<Span, Lets<'a>>,
}

impl<'a> LetsOf<'a> {
    /// Those of a node, by the place of its name.
    pub fn of(&mut self, node: Option<&'a Node>) -> &Lets<'a> {
        match node {
            Some(node) if !node.lets.is_empty() => {
                let made = || reads::lets(&node.lets);
                self.known.entry(node.name.span).or_insert_with(made)
            }
            _ => &self.none,
        }
    }
}
