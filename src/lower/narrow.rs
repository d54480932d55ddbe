//! `where` on tools: conditions, and what a schema can say of them.

use crate::check::narrow::Spaces;
use crate::ir::ToolId;
use crate::ir::narrow::Narrowed;
use crate::resolve::graph::Graph;
use crate::resolve::node::{Node, Work};
use crate::resolve::program::{NarrowingId, ToolList};

use super::Lowering;

impl Lowering<'_> {
    /// The narrowed tools of a graph's list.
    pub fn narrowed(&self, list: &ToolList) -> Vec<Narrowed> {
        let tools = list.tools.iter();
        tools
            .filter_map(|used| self.narrow(used.tool, &used.narrowed))
            .collect()
    }

    /// The narrowed tools of a node, what its graph's list asks of them included.
    pub fn narrowed_in(&self, graph: &Graph, node: &Node) -> Vec<Narrowed> {
        let own = match &node.work {
            Work::Llm(call) | Work::Agent { call, .. } => call.tools.as_ref(),
            Work::Tools { tools, .. } => tools.as_ref(),
            _ => None,
        };
        let narrowed = node.tools().into_iter().filter_map(|used| {
            let lists = graph.tools.iter().chain(own);
            let mut conditions: Vec<NarrowingId> = Vec::new();
            for entry in lists.filter_map(|list| list.find(used.node)) {
                let new = entry.narrowed.iter();
                let new: Vec<NarrowingId> =
                    new.filter(|id| !conditions.contains(id)).copied().collect();
                conditions.extend(new);
            }
            self.narrow(used.node, &conditions)
        });
        narrowed.collect()
    }

    fn narrow(&self, id: ToolId, narrowed: &[NarrowingId]) -> Option<Narrowed> {
        let tool = self
            .program
            .tools
            .get(id)
            .filter(|_| !narrowed.is_empty())?;
        let mut spaces = Spaces::new(self.program, tool);
        let mut conditions = Vec::new();
        let mut in_words = Vec::new();
        for (index, id) in narrowed.iter().enumerate() {
            let narrowing = self.program.narrowings.get(*id)?;
            conditions.push(self.expr(&narrowing.condition));
            let whole = spaces.take(narrowing) && spaces.arguments().1;
            if !whole {
                in_words.push(index as u32);
            }
        }
        let (arguments, _) = spaces.arguments();
        Some(Narrowed {
            tool: id,
            conditions,
            arguments,
            in_words,
        })
    }
}
