//! From a resolved graph to its flow.

use thin_vec::{ThinVec, thin_vec};

use crate::base::{IdVec, Span};
use crate::ir::{Channel, FieldId, GraphId, JoinId, NodeId};
use crate::resolve::program::{
    Graph, Jump, Node, Program, Route, SetItem, Target, TargetKind, ToolBody, Work,
};

use super::fan_out::{Synthetics, to};
use super::model::{
    Block, BlockId, ControlFlowGraph, EdgeKind, JoinBlock, Successor, Transition, Write,
};
use super::written::Written;

/// The flow of a graph. `written` says which `out` fields the graphs that it calls may write.
pub fn build(program: &Program, id: GraphId, written: &Written) -> ControlFlowGraph {
    let graph = program.graphs.get(id);
    graph.map_or_else(ControlFlowGraph::default, |graph| {
        of(program, graph, written)
    })
}

/// The flow of a graph that need not be one of the program's.
pub fn of(program: &Program, graph: &Graph, written: &Written) -> ControlFlowGraph {
    let mut builder = Builder {
        program,
        graph,
        written,
        synthetics: Synthetics::default(),
        broken: false,
    };
    let start = graph.start.as_ref();
    let start = start.map_or_else(Vec::new, |route| builder.route(route, EdgeKind::Edge, None));
    let nodes = graph.nodes.entries();
    let mut nodes: Vec<Block> = nodes.map(|(id, node)| builder.node(id, node)).collect();
    let joins: IdVec<JoinId, JoinBlock> = graph
        .joins
        .iter()
        .map(|join| JoinBlock {
            members: join.members.iter().map(|m| (m.node, m.span)).collect(),
            transitions: builder.transitions(&join.to, EdgeKind::Edge, None).into(),
            span: join.span,
        })
        .collect();
    nodes.extend(builder.synthetics.all);
    let broken = builder.broken || graph.broken || graph.start.is_none();
    let cfg = ControlFlowGraph::new(start, nodes.into_iter().collect(), joins);
    ControlFlowGraph {
        broken: broken || cfg.broken,
        colliding: graph
            .fields
            .iter()
            .map(|field| {
                let collides = matches!(field.channel, Channel::Last) && !field.via_wrong;
                collides.then(|| field.name.node.clone())
            })
            .collect(),
        exits: !graph.exits.is_empty(),
        exit: graph.exits.first().map(|when| ends_at(when.span)),
        ..cfg
    }
}

/// Makes the parts of a graph's flow.
pub(super) struct Builder<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: &'a Graph,
    pub(super) written: &'a Written,
    pub(super) synthetics: Synthetics,
    pub(super) broken: bool,
}

impl Builder<'_> {
    fn node(&mut self, id: NodeId, node: &Node) -> Block {
        let mut transitions = self.own_ways(id, node);
        transitions.extend(self.tool_ways(node));
        transitions.extend(self.child_ways(node));
        Block {
            name: node.name.node.clone(),
            span: node.name.span,
            branch: matches!(node.work, Work::Branch),
            synthetic: None,
            defer: node.defer,
            writes: exact(self.writes(node)),
            transitions: exact(transitions),
        }
    }

    fn own_ways(&mut self, id: NodeId, node: &Node) -> Vec<Transition> {
        let mut transitions = Vec::new();
        for skip in node.skips.iter().filter_map(|skip| skip.to.as_ref()) {
            transitions.extend(self.transitions(skip, EdgeKind::Skip, Some(node)));
        }
        transitions.extend(self.edge(node));
        if let Some(goto) = &node.goto {
            transitions.extend(self.route(&goto.node, EdgeKind::Goto, Some(node)));
        }
        if let Some(route) = self.graph.on_error_of(id) {
            transitions.extend(self.route(route, EdgeKind::Error, Some(node)));
        }
        if let Some(max) = &node.max_visits {
            transitions.extend(self.transitions(&max.to, EdgeKind::Visits, Some(node)));
        }
        if let Work::Interrupt {
            timeout: Some(timeout),
            ..
        } = &node.work
        {
            transitions.extend(self.transitions(&timeout.to, EdgeKind::Timeout, Some(node)));
        }
        transitions
    }

    /// All static edges and joins together are one way: they are followed at once.
    fn edge(&mut self, node: &Node) -> Vec<Transition> {
        let first = node.edges.first();
        let joins = node.joins.iter().filter_map(|join| {
            let member = self.graph.joins.get(*join)?;
            Some(to(BlockId::Join(*join), member.span))
        });
        let joins: ThinVec<Successor> = joins.collect();
        let span = first.map(|jump| jump.span);
        let Some(span) = span.or(joins.first().map(|successor| successor.span)) else {
            return Vec::new();
        };
        let targets = node.edges.iter().flat_map(|jump| &jump.to);
        let all = self.alternatives(targets.collect(), Some(node), joins);
        let transition = |successors| Transition {
            kind: EdgeKind::Edge,
            successors,
            writes: node.edges.iter().flat_map(|jump| sets(&jump.set)).collect(),
            span,
        };
        all.into_iter().map(transition).collect()
    }

    fn route(&mut self, route: &Route, kind: EdgeKind, node: Option<&Node>) -> Vec<Transition> {
        route
            .jumps()
            .flat_map(|jump| self.transitions(jump, kind, node))
            .collect()
    }

    /// A jump is one way; with a computed target alone, one for each name that it may give.
    pub(super) fn transitions(
        &mut self,
        jump: &Jump,
        kind: EdgeKind,
        node: Option<&Node>,
    ) -> Vec<Transition> {
        let all = self.alternatives(jump.to.iter().collect(), node, ThinVec::new());
        let transition = |successors| Transition {
            kind,
            successors,
            writes: sets(&jump.set).collect(),
            span: jump.span,
        };
        all.into_iter().map(transition).collect()
    }

    /// What several targets may lead to at once, beside what is `fixed`.
    fn alternatives(
        &mut self,
        targets: Vec<&Target>,
        node: Option<&Node>,
        mut fixed: ThinVec<Successor>,
    ) -> Vec<ThinVec<Successor>> {
        let mut choices = Vec::new();
        for target in targets {
            match &target.kind {
                TargetKind::Each(each) if each.then.is_some() => {
                    choices.push((target.span, self.fan_out(each, target.span)));
                }
                TargetKind::Computed(_) => {
                    let successors = self.successors(target, node).into_iter();
                    choices.push((target.span, successors.map(|to| thin_vec![to]).collect()));
                }
                _ => fixed.extend(self.successors(target, node)),
            }
        }
        self.chosen(fixed, choices)
    }

    pub(super) fn successors(&mut self, target: &Target, node: Option<&Node>) -> Vec<Successor> {
        let span = target.span;
        let one = |block| vec![to(block, span)];
        match &target.kind {
            TargetKind::Node(id) => one(BlockId::Node(*id)),
            TargetKind::End => one(BlockId::End),
            TargetKind::Fail(_) => one(BlockId::Fail),
            TargetKind::Parent(_) => one(BlockId::Leave),
            TargetKind::Each(each) => match each.worker {
                Some(id) => vec![Successor {
                    to: BlockId::Node(id),
                    many: true,
                    span,
                }],
                None => self.unknown(),
            },
            TargetKind::Computed(_) => match node.and_then(|node| node.ends.as_ref()) {
                Some(ends) => ends
                    .items
                    .iter()
                    .flat_map(|end| self.successors(&end.to, None))
                    .collect(),
                None => self.unknown(),
            },
            TargetKind::Named(name) => self.named(name, node),
            TargetKind::NamedEach(each) => self.named(&each.name, node),
            TargetKind::Unknown => self.unknown(),
        }
    }

    pub(super) fn unknown(&mut self) -> Vec<Successor> {
        self.broken = true;
        vec![to(BlockId::End, Span::default())]
    }

    fn writes(&self, node: &Node) -> Vec<Write> {
        let by_tools = called_bodies(self.program, node)
            .into_iter()
            .flat_map(|(span, body)| {
                body.set.iter().filter_map(move |item| {
                    let field = self.graph.field(&item.name.node)?;
                    Some(Write { field, span })
                })
            });
        let mut writes: Vec<Write> = sets(&node.set).chain(by_tools).collect();
        if let Work::Extern { writes: to, .. } = &node.work {
            writes.extend(to.iter().map(|field| Write {
                field: field.node,
                span: field.span,
            }));
        }
        let taken = self.written.given_back(self.program, self.graph, node);
        let taken = taken.into_iter();
        writes.extend(taken.map(|(_, field, span)| Write { field, span }));
        writes
    }
}

/// Bodies of the tools that a node runs itself, each with the place where the node names it. An
/// `llm` only asks for calls; it runs none.
pub fn called_bodies<'a>(program: &'a Program, node: &Node) -> Vec<(Span, &'a ToolBody)> {
    let bodies = node.called_tools().into_iter().filter_map(|used| {
        let tool = program.tools.get(used.node)?;
        Some((used.span, tool.body.as_ref()?))
    });
    bodies.collect()
}

/// Most nodes have one way, and a thin list that grew has room for four.
fn exact<T>(items: Vec<T>) -> ThinVec<T> {
    let mut list = ThinVec::with_capacity(items.len());
    list.extend(items);
    list
}

fn ends_at(span: Span) -> Transition {
    Transition {
        kind: EdgeKind::Exit,
        successors: thin_vec![to(BlockId::End, span)],
        writes: ThinVec::new(),
        span,
    }
}

fn sets(items: &[SetItem]) -> impl Iterator<Item = Write> {
    items.iter().filter_map(|item| {
        let field: FieldId = item.writes()?;
        Some(Write {
            field,
            span: item.name.span,
        })
    })
}
