//! From a resolved graph to its flow.

use thin_vec::{ThinVec, thin_vec};

use crate::base::{IdVec, Span};
use crate::ir::{Channel, FieldId, GraphId, JoinId, NodeId};
use crate::resolve::program::{
    Graph, Jump, Node, Program, Route, SetItem, Target, TargetKind, ToolBody, Work,
};

use super::model::{Cause, Flow, Gather, Goal, Spot, Stop, Way, Write};
use super::written::Written;

/// Most choices of computed targets of one jump that are told apart. Of more, nobody knows where it leads.
const CHOICES: usize = 4_096;

/// The flow of a graph. `written` says which `out` fields the graphs that it calls may write.
pub fn build(program: &Program, id: GraphId, written: &Written) -> Flow {
    let graph = program.graphs.get(id);
    graph.map_or_else(Flow::default, |graph| of(program, graph, written))
}

/// The flow of a graph that need not be one of the program's.
pub fn of(program: &Program, graph: &Graph, written: &Written) -> Flow {
    let mut builder = Builder {
        program,
        graph,
        written,
        broken: false,
    };
    let start = graph.start.as_ref();
    let start = start.map_or_else(Vec::new, |route| builder.route(route, Cause::Edge, None));
    let stops: IdVec<NodeId, Stop> = graph
        .nodes
        .entries()
        .map(|(id, node)| builder.stop(id, node))
        .collect();
    let joins: IdVec<JoinId, Gather> = graph
        .joins
        .iter()
        .map(|join| Gather {
            members: join.members.iter().map(|m| (m.node, m.span)).collect(),
            ways: builder.ways(&join.to, Cause::Edge, None).into(),
            span: join.span,
        })
        .collect();
    Flow {
        broken: builder.broken || graph.broken || graph.start.is_none(),
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
        start,
        stops,
        joins,
    }
}

/// Makes the parts of a graph's flow.
pub(super) struct Builder<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: &'a Graph,
    pub(super) written: &'a Written,
    broken: bool,
}

impl Builder<'_> {
    fn stop(&mut self, id: NodeId, node: &Node) -> Stop {
        let mut ways = self.own_ways(id, node);
        ways.extend(self.tool_ways(node));
        ways.extend(self.child_ways(node));
        Stop {
            name: node.name.node.clone(),
            span: node.name.span,
            branch: matches!(node.work, Work::Branch),
            defer: node.defer,
            writes: exact(self.writes(node)),
            ways: exact(ways),
        }
    }

    fn own_ways(&mut self, id: NodeId, node: &Node) -> Vec<Way> {
        let mut ways = Vec::new();
        for skip in node.skips.iter().filter_map(|skip| skip.to.as_ref()) {
            ways.extend(self.ways(skip, Cause::Skip, Some(node)));
        }
        ways.extend(self.edge(node));
        if let Some(goto) = &node.goto {
            ways.extend(self.route(&goto.node, Cause::Goto, Some(node)));
        }
        if let Some(route) = self.graph.on_error_of(id) {
            ways.extend(self.route(route, Cause::Error, Some(node)));
        }
        if let Some(max) = &node.max_visits {
            ways.extend(self.ways(&max.to, Cause::Visits, Some(node)));
        }
        if let Work::Interrupt {
            timeout: Some(timeout),
            ..
        } = &node.work
        {
            ways.extend(self.ways(&timeout.to, Cause::Timeout, Some(node)));
        }
        ways
    }

    /// All static edges and joins together are one way: they are followed at once.
    fn edge(&mut self, node: &Node) -> Vec<Way> {
        let first = node.edges.first();
        let joins = node.joins.iter().filter_map(|join| {
            let member = self.graph.joins.get(*join)?;
            Some(Goal {
                to: Spot::Join(*join),
                many: false,
                span: member.span,
            })
        });
        let joins: ThinVec<Goal> = joins.collect();
        let span = first.map(|jump| jump.span);
        let Some(span) = span.or(joins.first().map(|goal| goal.span)) else {
            return Vec::new();
        };
        let targets = node.edges.iter().flat_map(|jump| &jump.to);
        let all = self.alternatives(targets.collect(), Some(node), joins);
        let way = |goals| Way {
            cause: Cause::Edge,
            goals,
            writes: node.edges.iter().flat_map(|jump| sets(&jump.set)).collect(),
            span,
        };
        all.into_iter().map(way).collect()
    }

    fn route(&mut self, route: &Route, cause: Cause, node: Option<&Node>) -> Vec<Way> {
        route
            .jumps()
            .flat_map(|jump| self.ways(jump, cause, node))
            .collect()
    }

    /// A jump is one way; with computed targets, one for each choice of the names that they may give.
    fn ways(&mut self, jump: &Jump, cause: Cause, node: Option<&Node>) -> Vec<Way> {
        let all = self.alternatives(jump.to.iter().collect(), node, ThinVec::new());
        let way = |goals| Way {
            cause,
            goals,
            writes: sets(&jump.set).collect(),
            span: jump.span,
        };
        all.into_iter().map(way).collect()
    }

    /// What several targets may lead to at once, beside what is `fixed`. Of more choices than [`CHOICES`] there are as many as
    /// have each name once.
    fn alternatives(
        &mut self,
        targets: Vec<&Target>,
        node: Option<&Node>,
        mut fixed: ThinVec<Goal>,
    ) -> Vec<ThinVec<Goal>> {
        let mut computed: Vec<Vec<Goal>> = Vec::new();
        for target in targets {
            let goals = self.goals(target, node);
            match target.kind {
                TargetKind::Computed(_) if !goals.is_empty() => computed.push(goals),
                _ => fixed.extend(goals),
            }
        }
        let count = computed
            .iter()
            .try_fold(1_usize, |all, goals| all.checked_mul(goals.len()));
        if count.is_none_or(|count| count > CHOICES) {
            self.broken = true;
            return some_of(&fixed, &computed);
        }
        fixed.shrink_to_fit();
        computed.into_iter().fold(vec![fixed], |all, goals| {
            let with = |chosen: &ThinVec<Goal>, goal: &Goal| -> ThinVec<Goal> {
                chosen.iter().cloned().chain([goal.clone()]).collect()
            };
            all.iter()
                .flat_map(|chosen| {
                    goals
                        .iter()
                        .map(|goal| with(chosen, goal))
                        .collect::<Vec<_>>()
                })
                .collect()
        })
    }

    pub(super) fn goals(&mut self, target: &Target, node: Option<&Node>) -> Vec<Goal> {
        let span = target.span;
        let one = |to| {
            vec![Goal {
                to,
                many: false,
                span,
            }]
        };
        match &target.kind {
            TargetKind::Node(id) => one(Spot::Node(*id)),
            TargetKind::End => one(Spot::End),
            TargetKind::Fail(_) => one(Spot::Fail),
            TargetKind::Parent(_) => one(Spot::Leave),
            TargetKind::Each(each) => match each.worker {
                Some(id) => vec![Goal {
                    to: Spot::Node(id),
                    many: true,
                    span,
                }],
                None => self.unknown(),
            },
            TargetKind::Computed(_) => match node.and_then(|node| node.ends.as_ref()) {
                Some(ends) => ends
                    .items
                    .iter()
                    .flat_map(|end| self.goals(&end.to, None))
                    .collect(),
                None => self.unknown(),
            },
            TargetKind::Named(name) => self.named(name, node),
            TargetKind::NamedEach(each) => self.named(&each.worker, node),
            TargetKind::Unknown => self.unknown(),
        }
    }

    pub(super) fn unknown(&mut self) -> Vec<Goal> {
        self.broken = true;
        vec![Goal {
            to: Spot::End,
            many: false,
            span: Span::default(),
        }]
    }

    fn bodies(&self, node: &Node) -> Vec<(Span, &ToolBody)> {
        called_bodies(self.program, node)
    }

    fn writes(&self, node: &Node) -> Vec<Write> {
        let by_tools = self.bodies(node).into_iter().flat_map(|(span, body)| {
            body.set.iter().filter_map(move |item| {
                let field = self.graph.field(&item.field.node)?;
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
        if let Work::Subgraph {
            graph: Some(child),
            name,
            ..
        } = &node.work
        {
            let taken = self.written.taken(self.program, self.graph, node, *child);
            writes.extend(taken.into_iter().map(|(field, span)| Write {
                field,
                span: span.unwrap_or(name.span),
            }));
        }
        writes
    }
}

/// Choices among several targets that have each goal once, beside what is fixed.
fn some_of(fixed: &[Goal], computed: &[Vec<Goal>]) -> Vec<ThinVec<Goal>> {
    let most = computed.iter().map(Vec::len).max().unwrap_or(0);
    let choice = |number: usize| {
        let chosen = computed
            .iter()
            .filter_map(|goals| goals.get(number % goals.len()));
        fixed.iter().chain(chosen).cloned().collect()
    };
    (0..most).map(choice).collect()
}

/// Bodies of the tools that a node runs itself, each with the place where the node names it. An
/// `llm` only asks for calls; it runs none.
pub fn called_bodies<'a>(program: &'a Program, node: &Node) -> Vec<(Span, &'a ToolBody)> {
    if matches!(node.work, Work::Llm(_)) {
        return Vec::new();
    }
    let bodies = node.tools().into_iter().filter_map(|used| {
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

fn ends_at(span: Span) -> Way {
    let end = Goal {
        to: Spot::End,
        many: false,
        span,
    };
    Way {
        cause: Cause::Exit,
        goals: thin_vec![end],
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
