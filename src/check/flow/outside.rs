//! Ways that a node does not write itself: jumps of its tools, and names that its subgraph leaves by.

use thin_vec::ThinVec;

use crate::base::{Span, Spanned};
use crate::ir::ToolId;
use crate::resolve::program::{Node, Route, Target, TargetKind, Work};

use super::build::Builder;
use super::model::{Cause, Goal, Spot, Way, Write};

impl Builder<'_> {
    /// A jump of a tool is one way, with all that it leads to; with a computed target, one for each place that the
    /// node's `ends` have.
    pub(super) fn tool_ways(&mut self, node: &Node) -> Vec<Way> {
        let mut ways = Vec::new();
        if matches!(node.work, Work::Llm(_)) {
            return ways;
        }
        for used in node.tools() {
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
                let mut goals = ThinVec::new();
                let mut alternatives = Vec::new();
                for target in &jump.to {
                    match &target.kind {
                        TargetKind::Computed(_) => {
                            alternatives.extend(self.computed_by(used.node, target, node));
                        }
                        _ => goals.extend(self.tool_goals(target, node, span)),
                    }
                }
                let way = |goals| Way {
                    cause: Cause::Tool,
                    goals,
                    writes: writes.clone(),
                    span,
                };
                if alternatives.is_empty() && !goals.is_empty() {
                    ways.push(way(goals));
                } else {
                    ways.extend(alternatives.into_iter().map(|goal| {
                        let all = std::iter::once(goal).chain(goals.iter().cloned());
                        way(all.collect())
                    }));
                }
            }
        }
        ways
    }

    /// The places that a computed target of a tool may lead to.
    fn computed_by(&mut self, tool: ToolId, target: &Target, node: &Node) -> Vec<Goal> {
        let mut computed = self.written.computed(tool).iter();
        let names = computed.find(|found| found.span == target.span);
        match names.and_then(|found| found.names.clone()) {
            Some(names) => {
                let names = names.into_iter();
                let goals = |name| self.named(&Spanned::new(name, target.span), Some(node));
                names.flat_map(goals).collect()
            }
            None => self.goals(target, Some(node)),
        }
    }

    /// What a tool that goes to `fail` ends with is its error, and no way.
    fn tool_goals(&mut self, target: &Target, node: &Node, span: Span) -> Vec<Goal> {
        match &target.kind {
            TargetKind::Fail(_) => Vec::new(),
            TargetKind::End => self.named(&Spanned::new("end".to_owned(), target.span), Some(node)),
            TargetKind::NamedEach(each) => {
                let goals = self.named(&each.worker, Some(node)).into_iter();
                goals
                    .map(|goal| Goal {
                        many: true,
                        span,
                        ..goal
                    })
                    .collect()
            }
            _ => self.goals(target, Some(node)),
        }
    }

    pub(super) fn child_ways(&mut self, node: &Node) -> Vec<Way> {
        let Work::Subgraph {
            graph: Some(child),
            name,
            ..
        } = &node.work
        else {
            return Vec::new();
        };
        let together = self.written.leaving.get(*child);
        let Some(child) = self.program.graphs.get(*child) else {
            return Vec::new();
        };
        let goals: Vec<ThinVec<Goal>> = child
            .leaves
            .iter()
            .map(|left| self.named(left, Some(node)).into())
            .collect();
        // Tasks that run side by side in the called graph may leave by two names at once.
        let mut at_once: Vec<ThinVec<Goal>> = Vec::new();
        if let Some(pairs) = together.filter(|pairs| !pairs.is_empty()) {
            let of = |name: &str| child.leaves.iter().position(|left| left.node == name);
            let both = |one: &str, other: &str| {
                let (one, other) = (goals.get(of(one)?)?, goals.get(of(other)?)?);
                Some(one.iter().chain(other).cloned().collect())
            };
            at_once.extend(pairs.iter().filter_map(|(one, other)| both(one, other)));
        }
        let way = |goals| Way {
            cause: Cause::Child,
            goals,
            writes: ThinVec::new(),
            span: name.span,
        };
        goals.into_iter().chain(at_once).map(way).collect()
    }

    /// What a tool's or a leaving subgraph's name leads to: the node's `ends` say so. Where they
    /// lack it (which is reported), a node of that name is what was meant.
    pub(super) fn named(&mut self, name: &Spanned<String>, node: Option<&Node>) -> Vec<Goal> {
        if let Some(end) = node
            .and_then(|n| n.ends.as_ref())
            .and_then(|e| e.find(&name.node))
        {
            return self.goals(&end.to, None);
        }
        match self.graph.node(&name.node) {
            Some(id) => vec![Goal {
                to: Spot::Node(id),
                many: false,
                span: name.span,
            }],
            None if name.node == "end" => vec![Goal {
                to: Spot::End,
                many: false,
                span: name.span,
            }],
            None => self.unknown(),
        }
    }
}
