//! Constants of a run: `context.token` is marked where it is declared, in the graph that reads it or in one that hands
//! its context on.

use std::collections::HashSet;

use crate::ir::GraphId;

use super::cross::{Source, marked};
use super::leaf::Leaf;
use super::search::{Inside, Search};

impl Search<'_> {
    /// What a read constant comes from: its mark, or that of the same one in a graph that calls.
    pub(super) fn context(&self, inside: Inside, leaf: &Leaf) -> Option<Source> {
        let (name, rest) = leaf.path.0.get(1..)?.split_first()?;
        let mut open = vec![inside.graph()];
        let mut seen: HashSet<GraphId> = HashSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let graph = self.program.graphs.get(id);
            let declared = graph.and_then(|graph| graph.context.as_ref());
            let mut fields = declared.into_iter().flat_map(|context| &context.fields);
            // A constant that the caller has not begins with its default.
            let Some(field) = fields.find(|field| field.name.node == *name) else {
                continue;
            };
            if self.wanted.guarded && field.constraints.pattern.is_some() {
                continue;
            }
            match self.settled(&field.ty.node, rest, leaf) {
                Some(None) => continue,
                Some(source) => return source,
                None => {}
            }
            if let Some((span, word)) = self.wanted.mark(&field.marks) {
                return Some(marked(span, word, name));
            }
            let callers = self.callers.get(id).into_iter().flatten();
            open.extend(callers.map(|(caller, _)| *caller));
        }
        None
    }
}
