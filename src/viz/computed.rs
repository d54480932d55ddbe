//! Which names a computed target may give: the members of its enum, those alone that `where` lets in.

use crate::expr::ty::Type;
use crate::ir::{Flow, Graph, Node, ToolId, Work};

/// The names that a target computed in a graph may give; `None` where its type doesn't say.
pub(super) fn of_graph(
    flow: &Flow,
    graph: &Graph,
    node: Option<&Node>,
    text: &str,
) -> Option<Vec<String>> {
    let (root, field) = text.trim().split_once('.')?;
    let of_record = |ty: &Type| {
        let Type::Record(id) = ty.without_null() else {
            return None;
        };
        let fields = &flow.types.records.get(id)?.fields;
        let found = fields.iter().find(|known| known.name == field)?;
        Some(found.ty.clone())
    };
    let ty = match (root, node.map(|node| &node.work)) {
        ("state", _) => graph.fields.get(graph.field(field)?)?.ty.clone(),
        ("input", _) => {
            let mut fields = node?.input.iter();
            fields.find(|known| known.name == field)?.ty.clone()
        }
        ("output", Some(Work::Llm(call) | Work::Agent { call, .. })) => {
            of_record(call.output.as_ref()?)?
        }
        ("answer", Some(Work::Interrupt { expect, .. })) => of_record(expect.as_ref()?)?,
        ("result", Some(Work::Call { tool, .. })) => {
            of_record(flow.tools.get(*tool)?.returns.as_ref()?)?
        }
        _ => return None,
    };
    members(flow, &ty)
}

/// The names that a target computed in the body of a tool may give where a node calls it; `None` where its type
/// doesn't say.
pub(super) fn of_tool(flow: &Flow, node: &Node, tool: ToolId, text: &str) -> Option<Vec<String>> {
    let mut params = flow.tools.get(tool)?.params.iter();
    let param = params.find(|param| param.name == text.trim())?;
    let mut names = members(flow, &param.ty)?;
    let narrowed = node
        .narrowed
        .iter()
        .filter(|narrowed| narrowed.tool == tool);
    for argument in narrowed.flat_map(|narrowed| &narrowed.arguments) {
        if let Some(values) = argument
            .values
            .as_ref()
            .filter(|_| argument.name == param.name)
        {
            names.retain(|name| values.iter().any(|value| value.as_str() == Some(name)));
        }
    }
    Some(names)
}

/// All texts of a type that has only so many.
fn members(flow: &Flow, ty: &Type) -> Option<Vec<String>> {
    match ty.without_null() {
        Type::Enum(id) => {
            let members = &flow.types.enums.get(id)?.members;
            Some(members.iter().map(|member| member.name.clone()).collect())
        }
        Type::Literal(text) => Some(vec![text.to_string()]),
        Type::Union(types) => {
            let all = types.iter().map(|ty| match ty {
                Type::Literal(text) => Some(text.to_string()),
                _ => None,
            });
            all.collect()
        }
        _ => None,
    }
}
