//! `with` and `where` on tools: what is fixed, conditions, and what a schema can say of them.

use crate::ast::item::NamedArg;
use crate::check::narrow::Spaces;
use crate::expr::infer::default_value;
use crate::ir::ToolId;
use crate::ir::narrow::{Argument, Narrowed};
use crate::resolve::graph::Graph;
use crate::resolve::node::Node;
use crate::resolve::program::{NarrowingId, ToolList};

use super::Lowering;

impl Lowering<'_> {
    /// The narrowed tools of a graph's list.
    pub fn narrowed(&self, list: &ToolList) -> Vec<Narrowed> {
        let tools = list.tools.iter();
        tools
            .filter_map(|used| self.narrow(used.tool, &used.narrowed, &[]))
            .collect()
    }

    /// The narrowed tools of a node, what its graph's list asks of them included.
    pub fn narrowed_in(&self, graph: &Graph, node: &Node) -> Vec<Narrowed> {
        let own = node.tool_list();
        let narrowed = node.tools().into_iter().filter_map(|used| {
            let lists = graph.tools.iter().chain(own);
            let mut conditions: Vec<NarrowingId> = Vec::new();
            for entry in lists.filter_map(|list| list.find(used.node)) {
                let new = entry.narrowed.iter();
                let new: Vec<NarrowingId> =
                    new.filter(|id| !conditions.contains(id)).copied().collect();
                conditions.extend(new);
            }
            let fixed = own.and_then(|list| list.find(used.node));
            let fixed = fixed.map_or(&[][..], |used| &used.fixed);
            self.narrow(used.node, &conditions, fixed)
        });
        narrowed.collect()
    }

    fn narrow(&self, id: ToolId, narrowed: &[NarrowingId], fixed: &[NamedArg]) -> Option<Narrowed> {
        let tools = &self.program.tools;
        let tool = tools
            .get(id)
            .filter(|_| !narrowed.is_empty() || !fixed.is_empty())?;
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
        let (mut arguments, _) = spaces.arguments();
        for arg in fixed {
            let param = tool
                .params
                .iter()
                .find(|param| param.name.node == arg.name.node)?;
            let value = default_value(&arg.value, &param.ty.node, &self.program.types);
            arguments.retain(|known| known.name != arg.name.node);
            arguments.extend(value.map(|value| Argument {
                name: arg.name.node.clone(),
                null: value.is_null(),
                values: Some(vec![value]),
                ..Argument::default()
            }));
        }
        Some(Narrowed {
            tool: id,
            fixed: self.named(fixed),
            conditions,
            arguments,
            in_words,
        })
    }
}
