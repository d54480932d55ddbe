//! Whether the rows of a data set fit the stage that they are for, before any of them runs.

use crate::base::{Span, name};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::accept::{Mismatch, accept};
use crate::project::config::Config;
use crate::project::fit::fit as fit_scenarios;
use crate::project::scenario::{Row, Suite};
use crate::project::yaml::{MOST_FINDINGS, more};

use super::stage::Stage;

/// Everything in the rows that can't be meant of the stage.
pub fn fit<'r>(
    rows: &[Row],
    stage: &Stage,
    config: &Config,
    scorers: impl Iterator<Item = &'r str> + Clone,
) -> Diagnostics {
    let mut found = Diagnostics::new();
    for row in rows {
        let from = found.len();
        one(row, (stage, config), scorers.clone(), &mut found);
        if found.len() > MOST_FINDINGS {
            let first = found.iter().nth(from).cloned();
            found.truncate(MOST_FINDINGS);
            first.into_iter().for_each(|first| found.push(more(first)));
            break;
        }
    }
    found
}

fn one<'r>(
    row: &Row,
    (stage, config): (&Stage, &Config),
    scorers: impl Iterator<Item = &'r str> + Clone,
    found: &mut Diagnostics,
) {
    let mut suite: Suite = row.suite().clone();
    if stage.node.is_some() {
        state(row, stage, found);
        for scenario in &mut suite.scenarios {
            scenario.input.clear();
        }
    }
    found.append(fit_scenarios(&suite, &stage.flow, Some(config)));
    sent(row, stage, found);
    for (scorer, at) in row.scored() {
        if !scorers.clone().any(|known| known == scorer) {
            let help = name::did_you_mean(scorer, scorers.clone());
            found.push(finding(at, format!("there is no scorer `{scorer}`")).maybe_help(help));
        }
    }
}

fn finding(at: Span, message: String) -> Diagnostic {
    Diagnostic::new(&codes::INVALID_SCENARIO, message, at)
}

/// The state that a node is given.
fn state(row: &Row, stage: &Stage, found: &mut Diagnostics) {
    let given = row.scenario().map(|scenario| &scenario.input);
    for (name, json) in given.into_iter().flatten() {
        let keys = ["input", name];
        let names: Vec<&str> = stage.fields().map(|field| field.name.as_str()).collect();
        let names = names.iter().copied();
        let Some(field) = stage.fields().find(|field| field.name == *name) else {
            let message = format!("the state of `{}` has no field `{name}`", stage.name);
            let help = name::did_you_mean(name, names.clone())
                .unwrap_or_else(|| format!("there is {}", name::list(names)));
            found.push(finding(row.key_span(&keys), message).help(help));
            continue;
        };
        match accept(json, &field.ty, &stage.flow.types) {
            Err(wrong) => mismatches(row, &keys, &format!("field `{name}`"), &wrong, found),
            Ok(_) => {
                for broken in field.constraints.broken(json) {
                    let message = format!("field `{name}`: {broken}");
                    found.push(finding(row.span(&keys), message));
                }
            }
        }
    }
}

/// What a send gives the node.
fn sent(row: &Row, stage: &Stage, found: &mut Diagnostics) {
    let inputs = stage
        .node()
        .map(|node| node.input.as_slice())
        .unwrap_or_default();
    let names = inputs.iter().map(|input| input.name.as_str());
    for (name, json) in &row.send {
        let keys = ["send", name];
        let Some(input) = inputs.iter().find(|input| input.name == *name) else {
            let message = match (stage.node, inputs) {
                (None, _) => format!("nothing is sent to `{}`, which is no node", stage.name),
                (_, []) => format!("nothing is sent to `{}`: it has no `input`", stage.name),
                _ => format!("`{}` has no input `{name}`", stage.name),
            };
            let help = name::did_you_mean(name, names.clone());
            found.push(finding(row.key_span(&keys), message).maybe_help(help));
            continue;
        };
        if let Err(wrong) = accept(json, &input.ty, &stage.flow.types) {
            mismatches(row, &keys, &format!("input `{name}`"), &wrong, found);
        }
    }
    for input in inputs.iter().filter(|input| input.required()) {
        if !row.send.contains_key(&input.name) {
            let message = format!("`{}` needs `{}` under `send`", stage.name, input.name);
            found.push(finding(row.span(&[]), message));
        }
    }
}

fn mismatches(row: &Row, keys: &[&str], what: &str, wrong: &[Mismatch], found: &mut Diagnostics) {
    for one in wrong {
        found.push(finding(row.span(keys), format!("{what}: {one}")));
    }
}
