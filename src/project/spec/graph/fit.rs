//! Whether a graph fits the tool that it is bound to.

use std::collections::BTreeSet;

use serde_json::{Map as JsonMap, Value as Json};

use crate::base::name;
use crate::expr::Type;
use crate::expr::schema::json_schema;
use crate::expr::ty::{RecordField, TypeTable};
use crate::ir::graph::{Field, Graph, Node};
use crate::ir::node::Work;
use crate::ir::{Flow, GraphId, Tool, ToolId};
use crate::project::spec::schema::{Comparison, Schema};

/// What of a graph's `out` fields is the tool's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultShape {
    /// All of them, an object.
    All,
    /// The only one.
    Field(String),
}

impl ResultShape {
    /// The result.
    pub fn of(&self, mut output: JsonMap<String, Json>) -> Json {
        match self {
            ResultShape::All => Json::Object(output),
            ResultShape::Field(name) => output.remove(name).unwrap_or_default(),
        }
    }
}

/// Where a graph's fields are held against the tool.
const WHOSE: &str = "in the graph";

/// How the results of a graph are those of a tool.
///
/// # Errors
/// All that does not fit, in sentences: arguments that it does not take or needs, results that it does not give, a person whom it may ask.
pub fn fit(
    (tool, types): (&Tool, &TypeTable),
    (flow, id): (&Flow, GraphId),
) -> Result<ResultShape, Vec<String>> {
    let Some(graph) = flow.graphs.get(id) else {
        return Err(vec!["the flow has no such graph".to_owned()]);
    };
    let mut misfits = arguments((tool, types), (flow, graph));
    misfits.extend(trusting(tool, (flow, id)));
    if let Some(why) = asks(flow, id) {
        misfits.push(format!(
            "{why}: a tool can't pass a question on, so call the graph by a `subgraph` node of one flow"
        ));
    }
    if graph.context.iter().any(RecordField::required) {
        misfits.push("it needs a `context`, which a tool can't give".to_owned());
    }
    match (result((tool, types), (flow, graph)), misfits.is_empty()) {
        (Ok(gives), true) => Ok(gives),
        (Ok(_), false) => Err(misfits),
        (Err(why), _) => {
            misfits.push(why);
            Err(misfits)
        }
    }
}

fn arguments((tool, types): (&Tool, &TypeTable), (flow, graph): (&Flow, &Graph)) -> Vec<String> {
    let fields = || graph.fields.iter();
    let inputs = || fields().filter(|field| field.mode.is_in());
    let mut misfits = Vec::new();
    for param in &tool.params {
        let name = &param.name;
        let Some(field) = inputs().find(|field| field.name == *name) else {
            let names = || inputs().map(|field| field.name.as_str());
            let hint = name::did_you_mean(name, names()).unwrap_or_else(|| match names().next() {
                Some(_) => format!("it has {}", name::list(names())),
                None => "it has none".to_owned(),
            });
            misfits.push(format!("it has no `in` field `{name}`; {hint}"));
            continue;
        };
        let schema = json_schema(&field.ty, &flow.types);
        let comparison = Comparison::with(WHOSE);
        let fits = Schema::of(&schema, &comparison).takes(&param.ty, types);
        if let Err(why) = fits {
            misfits.push(format!("parameter `{name}`{why}"));
        } else if param.ty.admits_null() && !begins(field) {
            misfits.push(format!(
                "parameter `{name}` may be null, and the graph's field needs a value"
            ));
        }
    }
    for field in inputs().filter(|field| !begins(field)) {
        if !tool.params.iter().any(|param| param.name == field.name) {
            misfits.push(format!(
                "it needs the `in` field `{}`, which the tool does not give",
                field.name
            ));
        }
    }
    misfits
}

/// Texts that a model may choose and that the graph takes for trusted, where one of its tools has a `@sink`.
fn trusting(tool: &Tool, (flow, id): (&Flow, GraphId)) -> Vec<String> {
    let called = tools_of(flow, id);
    let mut called = called.iter().filter_map(|tool| flow.tools.get(*tool));
    let graph = flow.graphs.get(id).map_or("", |graph| graph.name.as_str());
    let is_sink = |name: &str| tool.sinks.iter().any(|sink| sink.param == name);
    let is_marked = |name: &str| flow.marks.contains(&format!("@untrusted {graph}.{name}"));
    let Some(with_sink) = called.find(|tool| !tool.sinks.is_empty()) else {
        return Vec::new();
    };
    let texts = tool.params.iter();
    let texts = texts.filter(|param| param.constraints.admit_free_text(&param.ty));
    let open = texts.filter(|param| !is_sink(&param.name) && !is_marked(&param.name));
    let why = open.map(|RecordField { name, .. }| {
        format!(
            "it trusts `{name}`, which may be any text, and its tool `{}` has a `@sink`: mark the field `@untrusted`, or the parameter `@sink`",
            with_sink.name
        )
    });
    why.collect()
}

/// Whether a field begins with something where nothing is given.
fn begins(field: &Field) -> bool {
    field.default.is_some() || field.channel.begins_with(&field.ty).is_some()
}

/// What of the `out` fields is the result: all of them for a record that they fit, else the only one.
fn result(
    (tool, types): (&Tool, &TypeTable),
    (flow, graph): (&Flow, &Graph),
) -> Result<ResultShape, String> {
    let fields = graph.fields.iter();
    let outputs: Vec<&Field> = fields.filter(|field| field.mode.is_out()).collect();
    let Some(ty) = &tool.returns else {
        return Ok(ResultShape::All);
    };
    let gives = |field: &Field, ty: &Type| {
        let schema = json_schema(&field.ty, &flow.types);
        let comparison = Comparison::with(WHOSE);
        Schema::of(&schema, &comparison).gives(ty, types)
    };
    if let [only] = outputs.as_slice()
        && gives(only, ty).is_ok()
        && !matches!(ty, Type::Json)
    {
        return Ok(ResultShape::Field(only.name.clone()));
    }
    let record = match ty {
        Type::Json => return Ok(ResultShape::All),
        Type::Record(id) => types.records.get(*id),
        _ => None,
    };
    let Some(record) = record else {
        return Err(match outputs.as_slice() {
            [only] => {
                let why = gives(only, ty).err().unwrap_or_default();
                format!("its `out` field `{}`{why}", only.name)
            }
            _ => format!(
                "the tool gives `{}`, and it has {} `out` fields: declare a record of them, or `json`",
                types.show(ty),
                outputs.len()
            ),
        });
    };
    for field in &record.fields {
        match outputs.iter().find(|output| output.name == field.name) {
            Some(output) => gives(output, &field.ty)
                .map_err(|why| format!("its `out` field `{}`{why}", field.name))?,
            None if field.required() => {
                return Err(format!(
                    "it has no `out` field `{}`, which the tool's result needs",
                    field.name
                ));
            }
            None => {}
        }
    }
    let known = |output: &&&Field| record.fields.iter().any(|field| field.name == output.name);
    match outputs.iter().find(|output| !known(output)) {
        Some(more) => Err(format!(
            "its `out` field `{}` is none of the tool's result `{}`",
            more.name, record.name
        )),
        None => Ok(ResultShape::All),
    }
}

/// Why a run of the graph may ask a person; `None` where it does not.
fn asks(flow: &Flow, graph: GraphId) -> Option<String> {
    nodes(flow, graph).into_iter().find_map(|node| {
        let name = &node.name;
        if let Work::Interrupt { .. } = node.work {
            return Some(format!("its node `{name}` asks a person"));
        }
        let mut tools = node
            .work
            .tools()
            .iter()
            .filter_map(|tool| flow.tools.get(*tool));
        let tool = &tools.find(|tool| tool.asks())?.name;
        Some(format!(
            "its node `{name}` asks a person before it calls `{tool}`"
        ))
    })
}

/// Tools that a run of the graph may call.
pub fn tools_of(flow: &Flow, graph: GraphId) -> BTreeSet<ToolId> {
    let nodes = nodes(flow, graph).into_iter();
    nodes.flat_map(|node| node.work.tools()).copied().collect()
}

/// The nodes of a graph and of those that it calls.
fn nodes(flow: &Flow, graph: GraphId) -> Vec<&Node> {
    let mut seen = BTreeSet::from([graph]);
    let mut left = vec![graph];
    let mut nodes = Vec::new();
    while let Some(next) = left.pop() {
        for node in flow.graphs.get(next).into_iter().flat_map(|g| &g.nodes) {
            if let Work::Subgraph { graph, .. } = &node.work
                && seen.insert(*graph)
            {
                left.push(*graph);
            }
            nodes.push(node);
        }
    }
    nodes
}
