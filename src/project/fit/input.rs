//! The input of a run, and its context.

use crate::expr::accept::accept;
use crate::ir::{Channel, ErrorKind, FieldMode, Graph};

use super::{Case, Misfit, meant};

/// Fields that the graph doesn't take, values of other types, fields that must be given.
pub fn fit(case: &mut Case<'_>) {
    let flow = case.flow;
    let Some(graph) = flow.graphs.get(case.graph) else {
        return;
    };
    if case.is_about(&[ErrorKind::InvalidInput]) {
        return;
    }
    context(case, graph);
    let scenario = case.scenario;
    for (name, json) in &scenario.input {
        let at = case.suite.own_or_default(scenario, &["input", name]);
        let field = graph.fields.iter().find(|field| field.name == *name);
        match field {
            Some(field) if field.mode.is_in() => {
                // It takes an element too: the run judges that.
                if field.channel == Channel::Append {
                    continue;
                }
                if let Err(wrong) = accept(json, flow.write_type(field), &flow.types) {
                    case.mismatches(&at, &format!("input `{name}`"), &wrong);
                    continue;
                }
                // Bounds are those of what the field holds behind its reducer.
                if matches!(field.channel, Channel::Own { .. }) {
                    continue;
                }
                for broken in field.constraints.broken(json) {
                    case.report(Misfit::value(
                        at.clone(),
                        format!("input `{name}`: {broken}"),
                    ));
                }
            }
            Some(field) => {
                let word = match field.mode {
                    FieldMode::Out => "an `out` field",
                    _ => "a private field",
                };
                let message = format!(
                    "graph `{}` takes no input `{name}`, {word} of its state",
                    graph.name
                );
                case.report(Misfit::key(at, message).help(taken(graph, name)));
            }
            None => {
                let message = format!("graph `{}` takes no input `{name}`", graph.name);
                case.report(Misfit::key(at, message).help(taken(graph, name)));
            }
        }
    }
    let misspelt = |name: &str| {
        let others = scenario.input.keys().map(String::as_str);
        crate::base::name::closest(name, others).is_some()
    };
    for field in graph.fields.iter().filter(|field| field.mode.is_in()) {
        let given = scenario.input.contains_key(&field.name);
        let needs =
            field.default.is_none() && !field.ty.admits_null() && !field.channel.begins_empty();
        if needs && !given && case.first && !scenario.strange && !misspelt(&field.name) {
            let at = case.suite.own_or_default(scenario, &["input"]);
            let at = match case.suite.part(&at) {
                Some(_) => at,
                None => scenario.at.clone(),
            };
            let message = format!("graph `{}` needs the input `{}`", graph.name, field.name);
            case.report(Misfit::value(at, message));
        }
    }
}

/// Constants of the run that the graph doesn't ask for, of other types, or that are missing.
fn context(case: &mut Case<'_>, graph: &Graph) {
    let (flow, scenario) = (case.flow, case.scenario);
    let names = || graph.context.iter().map(|field| field.name.as_str());
    for (name, json) in &scenario.context {
        let at = case.suite.own_or_default(scenario, &["context", name]);
        let Some(field) = graph.context.iter().find(|field| field.name == *name) else {
            let message = format!("the context of graph `{}` has no `{name}`", graph.name);
            let misfit = Misfit::key(at, message);
            case.report(misfit.help(meant(name, names())));
            continue;
        };
        if let Err(wrong) = accept(json, &field.ty, &flow.types) {
            case.mismatches(&at, &format!("context `{name}`"), &wrong);
        }
    }
    for field in graph.context.iter().filter(|field| field.required()) {
        let given = scenario.context.keys().map(String::as_str);
        let strange = |name: &&str| !graph.context.iter().any(|field| field.name == **name);
        let misspelt = given.clone().any(|name| strange(&name));
        if !misspelt && !scenario.strange && !given.into_iter().any(|name| name == field.name) {
            let message = format!("graph `{}` needs the context `{}`", graph.name, field.name);
            case.report(Misfit::value(scenario.at.clone(), message));
        }
    }
}

fn taken(graph: &Graph, name: &str) -> Option<String> {
    let fields = graph.fields.iter().filter(|field| field.mode.is_in());
    meant(name, fields.map(|field| field.name.as_str()))
}
