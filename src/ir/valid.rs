//! Whether an IR holds together: every index is one of what it points into.
//!
//! What the compiler makes always does. An IR read from a file may have been cut or edited by hand,
//! and the runtime indexes without asking.

use crate::base::IdVec;
use crate::base::id::Id;
use crate::expr::ty::{RecordField, Type};

use super::flow::Flow;
use super::graph::{Channel, Graph, Node};
use super::jump::{Emit, Jump, Route, SetItem, Target};
use super::node::{ModelCall, Pass, Permit, Work};

/// What does not hold together, with the place in the IR.
pub type Broken = String;

/// Checks every index of a flow.
///
/// # Errors
/// The first that points nowhere.
pub fn valid(flow: &Flow) -> Result<(), Broken> {
    let types = flow.types.records.iter().flat_map(|record| &record.fields);
    let events = flow.events.iter().flat_map(|event| &event.fields);
    let tools = flow.tools.iter().flat_map(|tool| &tool.params);
    fields(flow, types.chain(events).chain(tools))?;
    for reducer in &flow.reducers {
        ty(flow, &reducer.old.1)?;
        ty(flow, &reducer.new.1)?;
    }
    for model in &flow.models {
        known_all(&flow.models, &model.fallback, "model")?;
    }
    for tool in &flow.tools {
        tool.returns.iter().try_for_each(|of| ty(flow, of))?;
        known_all(&flow.events, tool.progress.as_slice(), "event")?;
        let Some(body) = &tool.body else { continue };
        body.reads.iter().try_for_each(|(_, of)| ty(flow, of))?;
        emits(flow, &body.emits)?;
        if let Some(goto) = &body.goto {
            goto.jumps().try_for_each(|jump| emits(flow, &jump.emits))?;
            let written = goto.jumps().flat_map(|jump| &jump.set);
            for item in written {
                if item.field.0 as usize >= body.fields.len() {
                    return Err(format!(
                        "tool `{}`: there is no field {}",
                        tool.name, item.field.0
                    ));
                }
            }
        }
    }
    known_all(&flow.graphs, flow.entry.as_slice(), "graph")?;
    flow.graphs.iter().try_for_each(|graph| {
        Within { flow, graph }
            .all()
            .map_err(|broken| format!("graph `{}`: {broken}", graph.name))
    })
}

fn known<I: Id, T>(of: &IdVec<I, T>, id: I, what: &str) -> Result<(), Broken> {
    match of.get(id) {
        Some(_) => Ok(()),
        None => Err(format!("there is no {what} {}", id.index())),
    }
}

fn known_all<I: Id, T>(of: &IdVec<I, T>, ids: &[I], what: &str) -> Result<(), Broken> {
    ids.iter().try_for_each(|id| known(of, *id, what))
}

fn fields<'f>(
    flow: &Flow,
    mut fields: impl Iterator<Item = &'f RecordField>,
) -> Result<(), Broken> {
    fields.try_for_each(|field| ty(flow, &field.ty))
}

fn ty(flow: &Flow, of: &Type) -> Result<(), Broken> {
    match of {
        Type::Record(id) => known(&flow.types.records, *id, "record"),
        Type::Enum(id) => known(&flow.types.enums, *id, "enum"),
        Type::List(of) | Type::Map(of) | Type::Nullable(of) | Type::Optional(of) => ty(flow, of),
        Type::Union(members) => members.iter().try_for_each(|member| ty(flow, member)),
        _ => Ok(()),
    }
}

fn emits(flow: &Flow, emits: &[Emit]) -> Result<(), Broken> {
    emits
        .iter()
        .try_for_each(|emit| known(&flow.events, emit.event, "event"))
}

/// The indices of one graph.
struct Within<'a> {
    flow: &'a Flow,
    graph: &'a Graph,
}

impl Within<'_> {
    fn all(&self) -> Result<(), Broken> {
        fields(self.flow, self.graph.context.iter())?;
        for field in &self.graph.fields {
            ty(self.flow, &field.ty)?;
            if let Some(basis) = &field.based_on {
                known_all(&self.graph.fields, &basis.on, "field")?;
                known_all(&self.graph.fields, &basis.keep, "field")?;
            }
            if let Channel::Own { reducer } = &field.channel {
                known(&self.flow.reducers, *reducer, "reducer")?;
            }
        }
        let scope = self.graph.tools.iter().flatten();
        scope
            .copied()
            .try_for_each(|tool| known(&self.flow.tools, tool, "tool"))?;
        let nodes = self.graph.nodes.iter().flat_map(|node| &node.narrowed);
        let mut narrowed = self.graph.narrowed.iter().chain(nodes);
        narrowed.try_for_each(|narrowed| known(&self.flow.tools, narrowed.tool, "tool"))?;
        self.route(&self.graph.start)?;
        for join in &self.graph.joins {
            known_all(&self.graph.nodes, &join.members, "node")?;
            self.jump(&join.to)?;
        }
        self.graph.nodes.iter().try_for_each(|node| {
            self.node(node)
                .map_err(|broken| format!("node `{}`: {broken}", node.name))
        })
    }

    fn node(&self, node: &Node) -> Result<(), Broken> {
        fields(self.flow, node.input.iter())?;
        let answers = node.stops.iter().map(|stop| &stop.expect);
        answers.into_iter().try_for_each(|of| ty(self.flow, of))?;
        let stops = node.stops.iter();
        self.permits(stops.flat_map(|stop| &stop.permits))?;
        node.skips
            .iter()
            .filter_map(|skip| skip.to.as_ref())
            .try_for_each(|to| self.jump(to))?;
        self.sets(&node.set)?;
        emits(self.flow, &node.emits)?;
        node.next
            .iter()
            .chain(&node.on_error)
            .try_for_each(|route| self.route(route))?;
        known_all(&self.graph.joins, &node.joins, "join")?;
        node.ends.iter().try_for_each(|end| self.target(&end.to))?;
        if let Some(visits) = &node.max_visits {
            self.jump(&visits.to)?;
        }
        self.work(&node.work)
    }

    fn work(&self, work: &Work) -> Result<(), Broken> {
        match work {
            Work::Llm(call) | Work::Agent { call, .. } => self.call(call),
            Work::Tools { tools, .. } => known_all(&self.flow.tools, tools, "tool"),
            Work::Call { tool, .. } => known(&self.flow.tools, *tool, "tool"),
            Work::Interrupt {
                expect,
                permits,
                timeout,
                ..
            } => {
                self.permits(permits.iter())?;
                expect.iter().try_for_each(|of| ty(self.flow, of))?;
                timeout
                    .iter()
                    .try_for_each(|timeout| self.jump(&timeout.to))
            }
            Work::Extern { reads, writes, .. } => {
                known_all(&self.graph.fields, reads, "field")?;
                known_all(&self.graph.fields, writes, "field")
            }
            Work::Subgraph {
                graph, with, into, ..
            } => {
                known(&self.flow.graphs, *graph, "graph")?;
                let Some(called) = self.flow.graphs.get(*graph).map(|called| &called.fields) else {
                    return Ok(());
                };
                for pass in with {
                    let (Pass::Field { to, .. } | Pass::Value { to, .. } | Pass::Sent { to }) =
                        pass;
                    known(called, *to, "field")?;
                    if let Pass::Field { from, .. } = pass {
                        known(&self.graph.fields, *from, "field")?;
                    }
                }
                into.iter().try_for_each(|binding| {
                    known(called, binding.from, "field")?;
                    known(&self.graph.fields, binding.to, "field")
                })
            }
            Work::Update | Work::Branch => Ok(()),
        }
    }

    fn permits<'p>(&self, mut permits: impl Iterator<Item = &'p Permit>) -> Result<(), Broken> {
        permits.try_for_each(|permit| known(&self.flow.tools, permit.tool, "tool"))
    }

    fn call(&self, call: &ModelCall) -> Result<(), Broken> {
        known(&self.flow.models, call.model, "model")?;
        known_all(&self.flow.tools, &call.tools, "tool")?;
        emits(self.flow, call.stream_as.as_slice())?;
        call.output.iter().try_for_each(|of| ty(self.flow, of))
    }

    fn route(&self, route: &Route) -> Result<(), Broken> {
        route.jumps().try_for_each(|jump| self.jump(jump))
    }

    fn jump(&self, jump: &Jump) -> Result<(), Broken> {
        self.sets(&jump.set)?;
        emits(self.flow, &jump.emits)?;
        jump.to.iter().try_for_each(|target| self.target(target))
    }

    fn sets(&self, items: &[SetItem]) -> Result<(), Broken> {
        items
            .iter()
            .try_for_each(|item| known(&self.graph.fields, item.field, "field"))
    }

    fn target(&self, target: &Target) -> Result<(), Broken> {
        match target {
            Target::Node(node) => known(&self.graph.nodes, *node, "node"),
            Target::Each { worker, then, .. } => {
                known(&self.graph.nodes, *worker, "node")?;
                then.iter().try_for_each(|target| match target {
                    Target::Node(_) | Target::End => self.target(target),
                    _ => Err("`then` leads to what is no node".to_owned()),
                })
            }
            Target::Computed { table, .. } => table.iter().try_for_each(|end| self.target(&end.to)),
            Target::End
            | Target::Fail { .. }
            | Target::Parent(_)
            | Target::Named(_)
            | Target::NamedEach { .. } => Ok(()),
        }
    }
}
