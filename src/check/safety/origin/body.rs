//! Tools: what they give back, and what is in scope of their bodies.

use crate::base::Span;
use crate::ir::{GraphId, NodeId, ToolId};
use crate::resolve::program::{Tool, Work};

use super::cross::Source;
use super::env::env;
use super::leaf::{Leaf, Path, leaves};
use super::search::{Inside, Search};
use super::shape::shape;
use super::value::made;

impl Search<'_> {
    /// Results of the tools that an agent or a `tools` node may call.
    pub(super) fn by_tools_in_scope(
        &mut self,
        id: GraphId,
        node: NodeId,
        parent: Option<usize>,
    ) -> Option<Source> {
        let (_, declared) = self.node(id, node)?;
        if matches!(declared.work, Work::Llm(_)) {
            return None;
        }
        declared.tools().into_iter().find_map(|used| {
            let tool = self.program.tools.get(used.node)?;
            let mark = self.result_mark(tool);
            mark.or_else(|| self.returned((id, node, used.node), &[], parent))
        })
    }

    /// The mark of a tool's result that is looked for.
    pub fn result_mark(&self, tool: &Tool) -> Option<Source> {
        let held = tool.returns.as_ref();
        let held = held.map(|ty| shape(self.program, &ty.node, &[]).held);
        let own = self.wanted.mark(&tool.marks);
        let (span, word) = own.or_else(|| self.wanted.mark(&held?))?;
        Some(marked_result(tool, span, word))
    }

    /// What makes a tool's result such a value where that node calls it: its mark, or what its body makes it from.
    pub fn result_source(&mut self, at: (GraphId, NodeId), tool: ToolId) -> Option<Source> {
        let declared = self.program.tools.get(tool)?;
        if let Some(source) = self.result_mark(declared) {
            return Some(source);
        }
        let body = declared.body.as_ref()?;
        let read = leaves(body.returns.as_ref()?, &env(&body.lets));
        let trail = self.source(Inside::Body(at.0, at.1, tool), &read)?;
        Some(trail.source)
    }

    /// What the body of a tool makes a part of its result from.
    fn returned(
        &mut self,
        (id, node, tool): (GraphId, NodeId, ToolId),
        rest: &[String],
        parent: Option<usize>,
    ) -> Option<Source> {
        let body = self.program.tools.get(tool)?.body.as_ref()?;
        let value = made(body.returns.as_ref()?, &env(&body.lets));
        let made_from = value.below(rest).leaves();
        let inside = Inside::Body(id, node, tool);
        let mut made_from = made_from.into_iter();
        made_from.find_map(|leaf| self.resolve(inside, &leaf, parent))
    }

    /// What a `call` gives back.
    pub(super) fn call_result(
        &mut self,
        (id, node, tool): (GraphId, NodeId, ToolId),
        leaf: &Leaf,
        parent: Option<usize>,
    ) -> Option<Source> {
        let declared = self.program.tools.get(tool)?;
        let path = leaf.path.0.get(1..).unwrap_or_default();
        let returns = declared.returns.as_ref();
        let settled = returns.and_then(|ty| self.settled(&ty.node, path, leaf));
        if let Some(settled) = settled {
            return settled;
        }
        let mark = self.wanted.mark(&declared.marks);
        mark.map(|(span, word)| marked_result(declared, span, word))
            .or_else(|| self.returned((id, node, tool), path, parent))
    }

    /// A name in the body of a tool: a parameter, or a field that it reads.
    pub(super) fn in_body(
        &mut self,
        (id, node, tool): (GraphId, NodeId, ToolId),
        leaf: &Leaf,
        parent: Option<usize>,
    ) -> Option<Source> {
        let declared = self.program.tools.get(tool)?;
        let (name, rest) = leaf.path.0.split_first()?;
        let body = declared.body.as_ref()?;
        if body.reads.iter().any(|read| read.name.node == *name) {
            let mut path = vec!["state".to_owned(), name.clone()];
            path.extend(rest.iter().cloned());
            let read = Leaf::new(Path(path), leaf.span);
            return self.resolve(Inside::Before(id, node), &read, parent);
        }
        let param = declared
            .params
            .iter()
            .find(|param| param.name.node == *name)?;
        if let Some(settled) = self.settled_on_its_way(&param.ty.node, rest, leaf) {
            return settled;
        }
        if self.wanted.guarded && param.constraints.pattern.is_some() {
            return None;
        }
        let (_, calling) = self.node(id, node)?;
        let mut given = calling.given(tool).iter();
        if let Some(arg) = given.find(|arg| arg.name.node == *name) {
            let lets = self.guarded(calling);
            let made_from = made(&arg.value, &lets).below(rest).leaves();
            let mut made_from = self.unguarded(calling, made_from).into_iter();
            return made_from
                .find_map(|leaf| self.resolve(Inside::Before(id, node), &leaf, parent));
        }
        match &calling.work {
            Work::Agent { .. } | Work::Tools { .. }
                if self.wanted.model && (!declared.asks() || self.unseen.contains_key(&tool)) =>
            {
                let said = format!(
                    "a model chooses `{name}` of tool `{}` in `{}`",
                    declared.name.node, calling.name.node
                );
                Some((param.name.span, said))
            }
            _ => None,
        }
    }
}

fn marked_result(tool: &Tool, span: Span, word: &str) -> Source {
    let name = &tool.name.node;
    (span, format!("what tool `{name}` gives back is `@{word}`"))
}
