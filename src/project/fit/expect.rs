//! What is expected.

use std::sync::Arc;

use crate::expr::Scope;
use crate::expr::accept::accept_parts;
use crate::expr::condition::condition as compile;
use crate::expr::ty::RecordField;
use crate::ir::{ErrorKind, Flow, Graph, ToolId, Work};
use crate::project::scenario::PathStep;
use crate::project::yaml::{Path, Step};

use super::{Case, Misfit, key, meant, under};

/// Names that the flow doesn't have, and conditions that can't be evaluated.
pub fn fit(case: &mut Case<'_>) {
    let expect = &case.scenario.expect;
    if let Some(path) = &expect.path {
        for (index, step) in path.value.iter().enumerate() {
            let PathStep::Node(name) = step else {
                continue;
            };
            let at = under(&path.at, [Step::Index(index)]);
            let node = case.node(at.clone(), name, false);
            if node.is_some_and(|node| matches!(node.work, Work::Branch)) {
                let message =
                    format!("`{name}` is a `branch`: it takes no super-step and is in no path");
                let misfit = Misfit::value(at, message);
                case.report(misfit.help(Some(
                    "take it out: the path has the nodes that it leads to".to_owned(),
                )));
            }
        }
    }
    left(case);
    output(case);
    conditions(case);
    events(case);
    let all = under(&case.scenario.at, [key("expect")]);
    for (path, calls) in &expect.models {
        let at = under(&all, [key("models"), key(path)]);
        let node = case.node(at.clone(), path, true);
        let offered = node.and_then(|node| match &node.work {
            Work::Llm(call) | Work::Agent { call, .. } => Some(&call.tools),
            _ => None,
        });
        if let Some(node) = node
            && offered.is_none()
        {
            let message = format!(
                "`{path}` is no `llm` or `agent` node but `{}`: it asks no model",
                node.work.keyword()
            );
            case.report(Misfit::key(at, message));
        }
        for tools in calls.iter().filter_map(|call| call.tools.as_ref()) {
            for (index, tool) in tools.value.iter().enumerate() {
                named_tool(case, under(&tools.at, [Step::Index(index)]), tool, offered);
            }
        }
    }
    for tool in expect.calls.keys() {
        if case.is_extern(tool) {
            continue;
        }
        case.tool(under(&all, [key("calls"), key(tool)]), tool);
    }
    permitted(case);
    error(case);
    let interrupts = expect.interrupts.iter().flat_map(|list| &list.value);
    for interrupt in interrupts {
        for name in ["node", "path"] {
            if let Some(node) = interrupt.value.get(name).and_then(|node| node.as_str()) {
                // With or without the indices of sends.
                let parts = node.split('/');
                let parts = parts.map(|part| part.split('[').next().unwrap_or(part));
                let node = parts.collect::<Vec<_>>().join("/");
                case.asking(under(&interrupt.at, [key(name)]), &node, false);
            }
        }
    }
}

/// A tool that a model is expected to be shown: one of the flow, and of its node.
fn named_tool(case: &mut Case<'_>, at: Path, named: &str, offered: Option<&Vec<ToolId>>) {
    if case.tool(at.clone(), named).is_none() {
        if let Some(misfit) = case.found.last_mut() {
            misfit.key = false;
        }
        return;
    }
    let Some(offered) = offered else { return };
    let flow = case.flow;
    let names = offered.iter().filter_map(|id| flow.tools.get(*id));
    let names = names.map(|tool| tool.name.as_str());
    if !names.clone().any(|name| name == named) {
        let message = format!("the node has no tool `{named}`, so its model is never shown it");
        case.report(Misfit::value(at, message).help(meant(named, names)));
    }
}

/// Tools and parameters that there aren't, and tools that nobody has to permit.
fn permitted(case: &mut Case<'_>) {
    let permitted = case.scenario.expect.permitted.iter();
    for wanted in permitted.flat_map(|list| &list.value) {
        let Some(name) = wanted.value.get("tool").and_then(|name| name.as_str()) else {
            continue;
        };
        let at = under(&wanted.at, [key("tool")]);
        if case.tool(at.clone(), name).is_none() {
            if let Some(misfit) = case.found.last_mut() {
                misfit.key = false;
            }
            continue;
        }
        let tool = case.flow.tools.iter().find(|tool| tool.name == name);
        if tool.is_some_and(|tool| !tool.asks()) {
            let message = format!("a call of `{name}` never asks, so nobody permits it");
            case.report(Misfit::value(at, message));
        }
        let args = wanted.value.get("args").and_then(|args| args.as_object());
        let params = || tool.into_iter().flat_map(|tool| &tool.params);
        let names = || params().map(RecordField::outer_name);
        for (arg, _) in args.into_iter().flatten() {
            if !names().any(|name| name == arg) {
                let at = under(&wanted.at, [key("args"), key(arg)]);
                let message = format!("tool `{name}` has no parameter `{arg}`");
                let help = meant(arg, names());
                case.report(Misfit::key(at, message).help(help));
            }
        }
    }
}

/// Names that the graph doesn't leave for.
fn left(case: &mut Case<'_>) {
    let (Some(left), Some(graph)) = (&case.scenario.expect.left, case.flow.graphs.get(case.graph))
    else {
        return;
    };
    let names = || graph.leaves.iter().map(String::as_str);
    for named in left
        .value
        .iter()
        .filter(|named| !names().any(|name| name == *named))
    {
        let message = format!("graph `{}` does not leave for `{named}`", graph.name);
        case.report(Misfit::value(left.at.clone(), message).help(meant(named, names())));
    }
}

fn output(case: &mut Case<'_>) {
    let Some(output) = &case.scenario.expect.output else {
        return;
    };
    let (Some(entries), Some(graph)) = (output.value.as_object(), case.flow.graphs.get(case.graph))
    else {
        return;
    };
    for (name, value) in entries {
        let out = graph.fields.iter().filter(|field| field.mode.is_out());
        // `null` says that there is none, which holds of a name that there isn't.
        if value.is_null() {
            continue;
        }
        if let Some(field) = out.clone().find(|field| field.name == *name) {
            if let Err(wrong) = accept_parts(value, &field.ty, &case.flow.types) {
                let at = under(&output.at, [key(name)]);
                case.mismatches(&at, &format!("the expected output `{name}`"), &wrong);
            }
            continue;
        }
        let private = graph.fields.iter().any(|field| field.name == *name);
        let message = match private {
            true => format!("`{name}` is no `out` field of graph `{}`", graph.name),
            false => format!("graph `{}` has no `out` field `{name}`", graph.name),
        };
        let help = meant(name, out.map(|field| field.name.as_str()));
        let at = under(&output.at, [key(name)]);
        case.report(Misfit::key(at, message).help(help));
    }
}

fn conditions(case: &mut Case<'_>) {
    let flow = case.flow;
    let Some(graph) = flow.graphs.get(case.graph) else {
        return;
    };
    if case.scenario.expect.state.is_empty() {
        return;
    }
    let scope = scope(flow, graph);
    for condition in &case.scenario.expect.state {
        if let Err(wrong) = compile(&condition.text, &scope, &flow.types) {
            let message = format!("this is no condition: {}", wrong.message);
            case.report(Misfit::value(condition.at.clone(), message).help(wrong.help));
        }
    }
}

/// The names that a condition of `state` knows.
pub fn scope(flow: &Flow, graph: &Graph) -> Scope {
    let fields = graph.fields.iter();
    let fields = fields.map(|field| (field.name.clone(), field.ty.clone()));
    Scope {
        state: Some(Arc::new(fields.collect())),
        functions: Arc::new(flow.functions.clone()),
        ..Scope::default()
    }
}

fn events(case: &mut Case<'_>) {
    let flow = case.flow;
    let events = case.scenario.expect.events.iter();
    for wanted in events.flat_map(|list| &list.value) {
        let Some(named) = wanted.value.get("name").and_then(|name| name.as_str()) else {
            continue;
        };
        let names = flow.events.iter().map(|event| event.name.as_str());
        let Some(event) = flow.events.iter().find(|event| event.name == named) else {
            let at = under(&wanted.at, [key("name")]);
            let message = format!("the flow has no event `{named}`");
            case.report(Misfit::value(at, message).help(meant(named, names)));
            continue;
        };
        let payload = wanted
            .value
            .get("payload")
            .and_then(|part| part.as_object());
        for (name, value) in payload.into_iter().flatten() {
            let fields = event.fields.iter().map(|field| field.name.as_str());
            if value.is_null() || fields.clone().any(|field| field == name) {
                continue;
            }
            let at = under(&wanted.at, [key("payload"), key(name)]);
            let message = format!("event `{named}` has no field `{name}`");
            case.report(Misfit::key(at, message).help(meant(name, fields)));
        }
    }
}

fn error(case: &mut Case<'_>) {
    let Some(error) = &case.scenario.expect.error else {
        return;
    };
    let text = |name: &str| error.value.get(name).and_then(|part| part.as_str());
    if let Some(kind) = text("kind").filter(|kind| ErrorKind::from_word(kind).is_none()) {
        let message = format!("`{kind}` is no kind of error");
        let words = ErrorKind::ALL.iter().map(|kind| kind.word());
        let help = crate::base::name::did_you_mean(kind, words.clone())
            .unwrap_or_else(|| format!("one of {}", crate::base::name::list(words)));
        let at = under(&error.at, [key("kind")]);
        case.report(Misfit::value(at, message).help(help));
    }
    for name in ["node", "path"] {
        if let Some(node) = text(name) {
            case.node_or_name(under(&error.at, [key(name)]), node);
        }
    }
}
