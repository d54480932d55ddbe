//! Graphs, ready to run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::IdVec;
use crate::expr::accept::accept;
use crate::expr::constraint::Constraints;
use crate::expr::scope::StateFields;
use crate::expr::ty::{RecordField, TypeTable};
use crate::expr::{Scope, Type};
use crate::ir::graph::Field;
use crate::ir::{Channel, FieldId, FieldMode, Graph, JoinId, NodeId, ToolId};
use crate::run::freshness::BasedPlan;
use crate::value::{Map, Value};

use super::code::{Builder, Code, PlanError};
use super::jump::{self, JumpPlan, RoutePlan};
use super::narrow::{self, NarrowPlans};
use super::node::{self, NodePlan, WorkPlan, slots};

/// A graph.
pub struct GraphPlan {
    /// Its name.
    pub name: Arc<str>,
    /// Names of its context, each with its value where the caller has none.
    pub context: Vec<(Arc<str>, Value)>,
    /// Values of its parameters: what `params` is, in all its expressions.
    pub params: Option<Value>,
    /// First values of its fields.
    pub initial: Vec<Option<Value>>,
    /// How each field's writes are put together.
    pub channels: IdVec<FieldId, Channel>,
    /// Types of its fields.
    pub types: IdVec<FieldId, Type>,
    /// Names of its fields.
    pub fields: IdVec<FieldId, Arc<str>>,
    /// What of its fields is based on others.
    pub based: BasedPlan,
    /// What the attributes of its fields ask, of those that ask anything.
    pub bounds: BTreeMap<FieldId, Constraints>,
    /// Fields that a run's input alone gives: a run without one begins with their default.
    pub inputs: BTreeSet<FieldId>,
    /// Fields that are cleared after the super-step that follows a write.
    pub ephemeral: BTreeSet<FieldId>,
    /// Fields that are left out of checkpoints.
    pub untracked: BTreeSet<FieldId>,
    /// Names of its fields that `migrate` has values for.
    pub given: Vec<String>,
    /// Conditions that end the graph, in the scope of `start`.
    pub exits: Vec<Code>,
    /// The entry, in a scope of the slots that every node has.
    pub start: RoutePlan,
    /// How many slots the scope of `start` and of the joins has.
    pub slots: usize,
    /// Nodes.
    pub nodes: IdVec<NodeId, NodePlan>,
    /// Joins: members, and where they lead.
    pub joins: IdVec<JoinId, (Vec<NodeId>, JumpPlan)>,
    /// Tools that called graphs may call with some arguments alone.
    pub narrowed: NarrowPlans,
    /// Fields of this graph that the bodies of its tools read and write.
    pub tool_fields: BTreeMap<ToolId, ToolFields>,
}

/// Fields of a graph behind the names in a tool's body.
pub struct ToolFields {
    /// By position in the body's `reads`.
    pub reads: Vec<FieldId>,
    /// By position in the body's `writes`.
    pub writes: Vec<FieldId>,
    /// By the index that a jump of the body knows the field by.
    pub jump_writes: Vec<FieldId>,
}

/// A graph of the flow.
pub fn plan(builder: &Builder<'_>, graph: &Graph) -> Result<GraphPlan, PlanError> {
    let fields = graph.fields.iter();
    let state: StateFields = fields
        .map(|field| (field.name.clone(), Type::Json))
        .collect();
    let state = Arc::new(state);
    let mut scope: Scope = builder.scope(&state, false);
    for name in slots::NAMES {
        scope.declare(name, Type::Json);
    }
    let start = jump::route(builder, &graph.start, &mut scope)?;
    let joins = graph.joins.iter().map(|join| {
        let to = jump::jump(builder, &join.to, &mut scope)?;
        Ok((join.members.clone(), to))
    });
    let joins = joins.collect::<Result<_, PlanError>>()?;
    let exits = graph.exits.iter();
    let exits = exits.map(|when| builder.code(when, &scope));
    let exits = exits.collect::<Result<_, PlanError>>()?;
    let mut nodes: IdVec<NodeId, NodePlan> = IdVec::new();
    nodes.reserve_exact(graph.nodes.len());
    for node in &graph.nodes {
        nodes.push(node::plan(builder, &state, node)?);
    }
    Ok(GraphPlan {
        name: graph.name.as_str().into(),
        context: (graph.context.iter())
            .map(|field| constant(field, &builder.flow.types))
            .collect(),
        params: graph.instance.as_ref().map(|instance| {
            let values = instance.params.iter();
            let values = values.map(|(name, value)| (name.as_str(), Value::from_json(value)));
            Value::Map(values.collect::<Map>())
        }),
        initial: (graph.fields.iter())
            .map(|field| initial(field, &builder.flow.types))
            .collect(),
        channels: graph
            .fields
            .iter()
            .map(|field| field.channel.clone())
            .collect(),
        types: graph.fields.iter().map(|field| field.ty.clone()).collect(),
        fields: graph
            .fields
            .iter()
            .map(|field| field.name.as_str().into())
            .collect(),
        based: BasedPlan::new(&graph.fields),
        bounds: bounds(graph),
        inputs: marked(graph, |field| {
            field.mode == FieldMode::In && !field.lives_with_thread()
        }),
        ephemeral: marked(graph, |field| field.ephemeral),
        untracked: marked(graph, |field| field.untracked),
        given: graph.migrate.defaults.keys().cloned().collect(),
        exits,
        start,
        slots: scope.names.len(),
        narrowed: narrow::plan(builder, &graph.narrowed, &Scope::default())?,
        tool_fields: tool_fields(builder, graph, &nodes)?,
        nodes,
        joins,
    })
}

fn bounds(graph: &Graph) -> BTreeMap<FieldId, Constraints> {
    let fields = graph.fields.entries();
    let bound = fields.filter(|(_, field)| !field.constraints.is_empty());
    bound
        .map(|(id, field)| (id, field.constraints.clone()))
        .collect()
}

fn marked(graph: &Graph, is: impl Fn(&Field) -> bool) -> BTreeSet<FieldId> {
    let fields = graph.fields.entries();
    fields
        .filter_map(|(id, field)| is(field).then_some(id))
        .collect()
}

/// A default as a value of its type: times are texts in the IR. The compiler has made it from a value of the type.
pub(super) fn default_value(json: &serde_json::Value, ty: &Type, types: &TypeTable) -> Value {
    accept(json, ty, types).unwrap_or_else(|_| Value::from_json(json))
}

/// A field of the context: its default, else null.
fn constant(field: &RecordField, types: &TypeTable) -> (Arc<str>, Value) {
    let default = field.default.as_ref();
    let default = default.map(|json| default_value(json, &field.ty, types));
    (field.name.as_str().into(), default.unwrap_or_default())
}

impl GraphPlan {
    /// What of a caller's context the graph sees.
    pub fn context_of(&self, given: &Value) -> Value {
        let values = self.context.iter().map(|(name, default)| {
            let value = given.get(name).cloned();
            (&**name, value.unwrap_or_else(|| default.clone()))
        });
        Value::Map(values.collect())
    }
}

/// The default; null for a nullable field, empty for a gathering list or map; else none.
fn initial(field: &crate::ir::Field, types: &TypeTable) -> Option<Value> {
    if let Some(default) = &field.default {
        return Some(default_value(default, &field.ty, types));
    }
    field.channel.begins_with(&field.ty)
}

fn tool_fields(
    builder: &Builder<'_>,
    graph: &Graph,
    nodes: &IdVec<NodeId, NodePlan>,
) -> Result<BTreeMap<ToolId, ToolFields>, PlanError> {
    let mut fields = BTreeMap::new();
    for tool in nodes.iter().flat_map(tools_of) {
        let Some(body) = builder
            .flow
            .tools
            .get(tool)
            .and_then(|tool| tool.body.as_ref())
        else {
            continue;
        };
        let field = |name: &String| {
            let message = || {
                PlanError::new(format!(
                    "graph `{}` has no field `{name}`, which a tool needs",
                    graph.name
                ))
            };
            graph.field(name).ok_or_else(message)
        };
        let reads = body
            .reads
            .iter()
            .map(|(name, _)| field(name))
            .collect::<Result<_, _>>()?;
        let writes = body
            .set
            .iter()
            .map(|item| field(&item.field))
            .collect::<Result<_, _>>()?;
        let jump_writes = body.fields.iter().map(field).collect::<Result<_, _>>()?;
        fields.insert(
            tool,
            ToolFields {
                reads,
                writes,
                jump_writes,
            },
        );
    }
    Ok(fields)
}

/// Tools that a node may call.
pub fn tools_of(node: &NodePlan) -> Vec<ToolId> {
    match &node.work {
        WorkPlan::Llm(call) | WorkPlan::Agent { call, .. } => call.tools.clone(),
        WorkPlan::Tools { tools, .. } => tools.clone(),
        WorkPlan::Call { tool, .. } => vec![*tool],
        WorkPlan::Update
        | WorkPlan::Branch
        | WorkPlan::Interrupt { .. }
        | WorkPlan::Subgraph { .. }
        | WorkPlan::Extern { .. } => Vec::new(),
    }
}
