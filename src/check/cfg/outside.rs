//! Ways that a node does not write itself: jumps of its tools, and names that its subgraph leaves by.

use thin_vec::{ThinVec, thin_vec};

use crate::base::Spanned;
use crate::ir::ToolId;
use crate::resolve::program::{Node, Route, Target, TargetKind};

use super::build::Builder;
use super::fan_out::to;
use super::model::{BlockId, EdgeKind, Successor, Transition, Write};

impl Builder<'_> {
    /// A jump of a tool is one way, with all that it leads to; with a computed target, one for each place that the
    /// node's `ends` have.
    pub(super) fn tool_ways(&mut self, node: &Node) -> Vec<Transition> {
        let mut transitions = Vec::new();
        for used in node.called_tools() {
            let span = used.span;
            let tool = self.program.tools.get(used.node);
            let Some(body) = tool.and_then(|tool| tool.body.as_ref()) else {
                continue;
            };
            for jump in body.goto.iter().flat_map(Route::jumps) {
                let writes: ThinVec<Write> = jump
                    .set
                    .iter()
                    .filter_map(|item| {
                        let field = self.graph.field(&item.name.node)?;
                        Some(Write { field, span })
                    })
                    .collect();
                let mut successors = ThinVec::new();
                let mut choices = Vec::new();
                for target in &jump.to {
                    match &target.kind {
                        TargetKind::Computed(_) => {
                            let computed = self.computed_by(used.node, target, node).into_iter();
                            choices.push((span, computed.map(|to| thin_vec![to]).collect()));
                        }
                        TargetKind::NamedEach(each) => {
                            choices.push((span, self.named_fan_out(each, node, span)));
                        }
                        _ => successors.extend(self.tool_goals(target, node)),
                    }
                }
                let chosen = self.chosen(successors, choices).into_iter();
                let chosen = chosen.filter(|successors| !successors.is_empty());
                transitions.extend(chosen.map(|successors| Transition {
                    kind: EdgeKind::Tool,
                    successors,
                    writes: writes.clone(),
                    span,
                }));
            }
        }
        transitions
    }

    /// The places that a computed target of a tool may lead to.
    fn computed_by(&mut self, tool: ToolId, target: &Target, node: &Node) -> Vec<Successor> {
        let mut computed = self.written.computed(tool).iter();
        let names = computed.find(|found| found.span == target.span);
        match names.and_then(|found| found.names.clone()) {
            Some(names) => {
                let names = names.into_iter();
                let successors = |name| self.named(&Spanned::new(name, target.span), Some(node));
                names.flat_map(successors).collect()
            }
            None => self.successors(target, Some(node)),
        }
    }

    /// What a tool that goes to `fail` ends with is its error, and no way.
    fn tool_goals(&mut self, target: &Target, node: &Node) -> Vec<Successor> {
        match &target.kind {
            TargetKind::Fail(_) => Vec::new(),
            TargetKind::End => self.named(&Spanned::new("end".to_owned(), target.span), Some(node)),
            _ => self.successors(target, Some(node)),
        }
    }

    pub(super) fn child_ways(&mut self, node: &Node) -> Vec<Transition> {
        let Some((child, name)) = node.called() else {
            return Vec::new();
        };
        let mhp = self.written.leaving.get(child);
        let Some(child) = self.program.graphs.get(child) else {
            return Vec::new();
        };
        let successors: Vec<ThinVec<Successor>> = child
            .leaves
            .iter()
            .map(|left| self.named(left, Some(node)).into())
            .collect();
        // Tasks that run side by side in the called graph may leave by two names at once.
        let mut at_once: Vec<ThinVec<Successor>> = Vec::new();
        if let Some(pairs) = mhp.filter(|pairs| !pairs.is_empty()) {
            let of = |name: &str| child.leaves.iter().position(|left| left.node == name);
            let both = |one: &str, other: &str| {
                let (one, other) = (successors.get(of(one)?)?, successors.get(of(other)?)?);
                Some(one.iter().chain(other).cloned().collect())
            };
            at_once.extend(pairs.iter().filter_map(|(one, other)| both(one, other)));
        }
        let transition = |successors| Transition {
            kind: EdgeKind::Child,
            successors,
            writes: ThinVec::new(),
            span: name.span,
        };
        successors
            .into_iter()
            .chain(at_once)
            .map(transition)
            .collect()
    }

    /// What a tool's or a leaving subgraph's name leads to: the node's `ends` say so. Where they
    /// lack it (which is reported), a node of that name is what was meant.
    pub(super) fn named(&mut self, name: &Spanned<String>, node: Option<&Node>) -> Vec<Successor> {
        if let Some(end) = node
            .and_then(|n| n.ends.as_ref())
            .and_then(|e| e.find(&name.node))
        {
            return self.successors(&end.to, None);
        }
        match self.graph.node(&name.node) {
            Some(id) => vec![to(BlockId::Node(id), name.span)],
            None if name.node == "end" => vec![to(BlockId::End, name.span)],
            None => self.unknown(),
        }
    }
}
