//! Replies of models and tools.

use crate::base::name;
use crate::expr::accept::{accept, accept_fields, accept_parts};
use crate::ir::{ErrorKind, ModelCall, Node, Tool, Work};
use crate::project::scenario::{CrashPoint, ModelReply};
use crate::project::yaml::{Path, Step};

use super::nodes;
use super::{Case, Misfit, key, meant, under};

/// Errors that a reply of the wrong type makes.
const REFUSED: [ErrorKind; 2] = [ErrorKind::InvalidOutput, ErrorKind::ToolError];

/// Nodes and tools that there aren't, and what they could never say.
pub fn fit(case: &mut Case<'_>) {
    let (suite, scenario) = (case.suite, case.scenario);
    for (path, replies) in &scenario.models {
        if path == "*" {
            continue;
        }
        let at = suite.own_or_default(scenario, &["models", path]);
        let Some(node) = case.node(at.clone(), path, true) else {
            continue;
        };
        match asks(node) {
            Some(call) => {
                outputs(case, path, node, call, replies);
                if !hears_of_errors(case, path) {
                    calls(case, call, replies);
                }
            }
            None => {
                let message = format!(
                    "`{path}` is no `llm` or `agent` node but `{}`: it asks no model, and its replies are never used",
                    node.work.keyword()
                );
                case.report(Misfit::key(at, message));
            }
        }
    }
    for (name, replies) in &scenario.tools {
        if case.is_extern(name) {
            continue;
        }
        let at = suite.own_or_default(scenario, &["tools", name]);
        let Some(tool) = case.tool(at, name).cloned() else {
            continue;
        };
        for reply in replies {
            matches(case, &tool, &reply.at);
            progress(case, &tool, &reply.at);
        }
        if let Some(last) = replies.last() {
            result(case, &tool, &last.at);
        }
    }
    crash(case);
}

/// Reports of a tool that has none, or that its event does not take.
fn progress(case: &mut Case<'_>, tool: &Tool, at: &Path) {
    let list = under(at, [key("progress")]);
    let suite = case.suite;
    let Some(reports) = suite.part(&list).and_then(|list| list.as_array()) else {
        return;
    };
    let Some(event) = tool.progress.and_then(|event| case.flow.events.get(event)) else {
        let message = format!(
            "tool `{}` has no `@progress`: it reports nothing",
            tool.name
        );
        return case.report(Misfit::key(list, message));
    };
    for (index, report) in reports.iter().enumerate() {
        if let Err(wrong) = accept_fields(report, &event.fields, &case.flow.types) {
            let at = under(&list, [Step::Index(index)]);
            case.mismatches(&at, &format!("the payload of `{}`", event.name), &wrong);
        }
    }
}

fn asks(node: &Node) -> Option<&ModelCall> {
    match &node.work {
        Work::Llm(call) | Work::Agent { call, .. } => Some(call),
        _ => None,
    }
}

/// An `output` that is not of the node's type. What is refused is asked for again, so that one which a
/// later reply mends is meant to be wrong; so is one that a handler takes, or that the run fails of.
fn outputs(case: &mut Case<'_>, path: &str, node: &Node, call: &ModelCall, replies: &[ModelReply]) {
    let (Some(ty), Some(last)) = (&call.output, replies.last()) else {
        return;
    };
    if case.is_about(&REFUSED) || is_handled(case, path, node) {
        return;
    }
    let at = under(&last.at, [key("output")]);
    let Some(json) = case.suite.part(&at) else {
        return;
    };
    if let Err(wrong) = accept(json, ty, &case.flow.types) {
        case.mismatches(&at, &format!("the output of `{path}`"), &wrong);
    }
}

/// Whether the node, or a caller of it, handles what fails in it.
fn is_handled(case: &Case<'_>, path: &str, node: &Node) -> bool {
    let callers = path.match_indices('/').map(|(end, _)| path.get(..end));
    let callers = callers.flatten();
    let mut callers = callers.filter_map(|of| nodes::find(case.flow, case.graph, of).ok());
    node.on_error.is_some() || callers.any(|caller| caller.on_error.is_some())
}

/// Whether the scenario looks at what the node's model is told, which may be that a call was refused.
fn hears_of_errors(case: &Case<'_>, path: &str) -> bool {
    let expected = &case.scenario.expect.models;
    let of = expected.iter().find(|(node, _)| node == path);
    of.is_some_and(|(_, calls)| calls.iter().any(|call| !call.prompt_contains.is_empty()))
}

/// Tools and arguments that are all but written right. A model that names a tool or an argument which there isn't
/// may be just what a scenario is about.
fn calls(case: &mut Case<'_>, call: &ModelCall, replies: &[ModelReply]) {
    let flow = case.flow;
    let known = || call.tools.iter().filter_map(|id| flow.tools.get(*id));
    for reply in replies {
        let list = under(&reply.at, [key("tool_calls")]);
        let written = case.suite.part(&list).and_then(|calls| calls.as_array());
        for (index, one) in written.into_iter().flatten().enumerate() {
            let at = under(&list, [Step::Index(index)]);
            let Some(named) = one.get("name").and_then(|name| name.as_str()) else {
                continue;
            };
            let Some(tool) = known().find(|tool| tool.name == named) else {
                let elsewhere = flow.tools.iter().any(|tool| tool.name == named);
                let near = name::closest(named, known().map(|tool| tool.name.as_str()));
                if let (Some(near), false) = (near, elsewhere) {
                    let message = format!("the node has no tool `{named}`");
                    let misfit = Misfit::value(under(&at, [key("name")]), message);
                    case.report(misfit.help(format!("did you mean `{near}`?")));
                }
                continue;
            };
            let args = one.get("args").and_then(|args| args.as_object());
            for (name, _) in args.into_iter().flatten() {
                let params = || tool.params.iter().map(|param| param.name.as_str());
                let missing =
                    params().filter(|param| !args.is_some_and(|a| a.contains_key(*param)));
                if params().any(|param| param == name) {
                    continue;
                }
                if let Some(near) = name::closest(name, missing) {
                    let at = under(&at, [key("args"), key(name)]);
                    let message = format!("tool `{named}` has no parameter `{name}`");
                    let misfit = Misfit::key(at, message);
                    case.report(misfit.help(format!("did you mean `{near}`?")));
                }
            }
        }
    }
}

/// A `match` on arguments that the tool doesn't have never fits.
fn matches(case: &mut Case<'_>, tool: &Tool, reply: &Path) {
    let at = under(reply, [key("match")]);
    let written = case.suite.part(&at).and_then(|part| part.as_object());
    for (name, value) in written.into_iter().flatten() {
        let params = tool.params.iter().map(|param| param.name.as_str());
        if let Some(param) = tool.params.iter().find(|param| param.name == *name) {
            if let Err(wrong) = accept_parts(value, &param.ty, &case.flow.types) {
                let what = format!("`{name}` of tool `{}`, so this never fits", tool.name);
                case.mismatches(&under(&at, [key(name)]), &what, &wrong);
            }
            continue;
        }
        let message = format!(
            "tool `{}` has no parameter `{name}`: this never fits",
            tool.name
        );
        let misfit = Misfit::key(under(&at, [key(name)]), message);
        case.report(misfit.help(meant(name, params)));
    }
}

/// A result that is not of the tool's type, unless the scenario is about refused values or a handler takes the error.
fn result(case: &mut Case<'_>, tool: &Tool, reply: &Path) {
    let at = under(reply, [key("result")]);
    let (Some(json), Some(ty)) = (case.suite.part(&at), &tool.returns) else {
        return;
    };
    let calls = |work: &Work| match work {
        Work::Call { tool: called, .. } => {
            let called = case.flow.tools.get(*called);
            called.is_some_and(|called| called.name == tool.name)
        }
        _ => false,
    };
    let known = nodes::all(case.flow, case.graph);
    let mut calling = known.iter().filter(|(_, node)| calls(&node.work));
    let handled = calling.any(|(path, node)| is_handled(case, path, node));
    if case.is_about(&REFUSED) || handled || tool.on_error.is_some() {
        return;
    }
    if let Err(wrong) = accept(json, ty, &case.flow.types) {
        case.mismatches(&at, &format!("the result of tool `{}`", tool.name), &wrong);
    }
}

/// A point to crash at that no run comes to.
fn crash(case: &mut Case<'_>) {
    let Some(crash) = &case.scenario.crash else {
        return;
    };
    match &crash.point {
        CrashPoint::Tool { name, .. } => {
            let at = crash.at.clone();
            if !case.is_extern(name)
                && case.tool(at, name).is_none()
                && let Some(misfit) = case.found.last_mut()
            {
                misfit.key = false;
            }
        }
        CrashPoint::Model { node, .. } => {
            case.node(crash.at.clone(), node, false);
        }
        CrashPoint::Step(_) => {}
    }
}
