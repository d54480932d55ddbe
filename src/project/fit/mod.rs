//! Whether scenarios fit their flow, before any of them runs: names that the flow doesn't have, values
//! that are not of its types, replies that nothing can ever use.
//!
//! [`fit`] reports all of it at once, at its places in the `.test.yaml`. [`nodes`] finds nodes by their
//! paths; [`input`], [`script`], [`real`], [`answers`] and [`expect`] each look at a part of a scenario. What a scenario may well mean, such as a
//! reply that the node refuses and asks for again, is no mistake here: such cases are named where they are told apart.

mod answers;
mod expect;
mod input;
pub mod nodes;
mod real;
mod script;

pub use expect::scope;

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::base::{Span, name};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::accept::Mismatch;
use crate::ir::{ErrorKind, Flow, GraphId};
use crate::project::config::Config;
use crate::project::scenario::{Scenario, Suite};
use crate::project::yaml::{MOST_FINDINGS, Path, Step, more};

/// Everything in a file of scenarios that can't be meant of this flow. `config` is what its project is set to; `None` where that
/// isn't known, and nothing is held against it.
pub fn fit(suite: &Suite, flow: &Flow, config: Option<&Config>) -> Diagnostics {
    let mut threads = BTreeSet::new();
    let all: Vec<Vec<Misfit>> = suite
        .scenarios
        .iter()
        .map(|scenario| {
            let thread = scenario.thread.as_deref();
            let first = thread.is_none_or(|thread| threads.insert(thread));
            of(suite, (flow, config), scenario, first)
        })
        .collect();
    let mut found = Diagnostics::new();
    let mut said = BTreeSet::new();
    let mut shared_before = BTreeSet::new();
    for misfit in all.iter().flatten() {
        // What all scenarios share is wrong where it fits none of those that take it.
        let shared = matches!(misfit.at.first(), Some(Step::Key(key)) if key == "defaults");
        if shared && !shared_before.insert((&misfit.at, misfit.key)) {
            continue;
        }
        let fits_one = |scenario: &Scenario, misfits: &[Misfit]| {
            takes(suite, scenario, &misfit.at) && !misfits.iter().any(|m| m.at == misfit.at)
        };
        let mut cases = suite.scenarios.iter().zip(&all);
        if shared && cases.any(|(scenario, misfits)| fits_one(scenario, misfits)) {
            continue;
        }
        let span = misfit.span(suite);
        // In another graph the same mistake reads otherwise.
        let message = if shared { "" } else { &misfit.message };
        if said.insert((span, message.to_owned())) {
            let finding = Diagnostic::new(&codes::INVALID_SCENARIO, &misfit.message, span);
            if said.len() > MOST_FINDINGS {
                found.push(more(finding));
                break;
            }
            found.push(finding.maybe_help(misfit.help.clone()));
        }
    }
    found.sort();
    found
}

/// The same of one scenario.
pub fn fit_one(suite: &Suite, flow: &Flow, config: Option<&Config>, index: usize) -> Diagnostics {
    let mut one = suite.clone();
    let scenario = one.scenarios.get(index).cloned();
    one.scenarios = scenario.into_iter().collect();
    fit(&one, flow, config)
}

/// Whether a part of the defaults counts for a scenario. Maps are put together by key; a list stands in place of a list.
fn takes(suite: &Suite, scenario: &Scenario, at: &[Step]) -> bool {
    let whole: Path = scenario.at.iter().chain(at.get(1)).cloned().collect();
    if suite.part(&whole).is_some_and(Json::is_array) {
        return false;
    }
    let keys = at.get(1..3).or(at.get(1..2)).unwrap_or_default();
    let own: Path = scenario.at.iter().chain(keys).cloned().collect();
    suite.part(&own).is_none()
}

/// Something that doesn't fit.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Misfit {
    at: Path,
    /// Whether its key is meant, not what stands under it.
    key: bool,
    message: String,
    help: Option<String>,
}

impl Misfit {
    fn value(at: Path, message: impl Into<String>) -> Self {
        Self {
            at,
            key: false,
            message: message.into(),
            help: None,
        }
    }

    fn key(at: Path, message: impl Into<String>) -> Self {
        Self {
            key: true,
            ..Self::value(at, message)
        }
    }

    fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into();
        self
    }

    fn span(&self, suite: &Suite) -> Span {
        match self.key {
            true => suite.key_span(&self.at),
            false => suite.span(&self.at),
        }
    }
}

/// What one scenario is looked at with.
struct Case<'a> {
    suite: &'a Suite,
    flow: &'a Flow,
    config: Option<&'a Config>,
    scenario: &'a Scenario,
    graph: GraphId,
    /// Whether no other scenario of its thread ran before it.
    first: bool,
    found: Vec<Misfit>,
}

fn of(
    suite: &Suite,
    (flow, config): (&Flow, Option<&Config>),
    scenario: &Scenario,
    first: bool,
) -> Vec<Misfit> {
    let graph = match graph(suite, flow, scenario) {
        Ok(graph) => graph,
        Err(misfit) => return vec![misfit],
    };
    let mut case = Case {
        suite,
        flow,
        config,
        scenario,
        graph,
        first,
        found: Vec::new(),
    };
    input::fit(&mut case);
    script::fit(&mut case);
    real::fit(&mut case);
    answers::fit(&mut case);
    expect::fit(&mut case);
    case.found
}

/// The graph that a scenario runs.
fn graph(suite: &Suite, flow: &Flow, scenario: &Scenario) -> Result<GraphId, Misfit> {
    let names = || flow.graphs.iter().map(|graph| graph.name.as_str());
    let Some(wanted) = &scenario.graph else {
        let message = "the flow has several graphs that no other calls: name the `graph` that runs";
        let missing = Misfit::value(scenario.at.clone(), message);
        let help = format!("one of {}", name::list(names()));
        return flow.entry.ok_or(missing.help(help));
    };
    flow.graph(wanted).ok_or_else(|| {
        let at = suite.own_or_default(scenario, &["graph"]);
        let top = vec![Step::Key("graph".to_owned())];
        let at = if suite.part(&at).is_some() { at } else { top };
        if let Some(instances) = flow.instances_of(wanted) {
            let message =
                format!("graph `{wanted}` has parameters, so only an instance of it can run");
            let misfit = Misfit::value(at, message);
            let some = !instances.is_empty();
            return misfit.help(some.then(|| format!("there is {}", name::list(instances))));
        }
        Misfit::value(at, format!("the flow has no graph `{wanted}`")).help(meant(wanted, names()))
    })
}

impl Case<'_> {
    fn report(&mut self, misfit: Misfit) {
        self.found.push(misfit);
    }

    /// Reports all that doesn't fit in a value that stands at a place.
    fn mismatches(&mut self, at: &Path, what: &str, wrong: &[Mismatch]) {
        let unknown = |one: &'_ Mismatch| {
            let (name, _) = one.message.strip_prefix('`')?.split_once("` is unknown")?;
            Some(name.to_owned())
        };
        let missing = |one: &Mismatch| {
            let name = one.message.strip_prefix('`')?;
            Some(name.strip_suffix("` is missing")?.to_owned())
        };
        for one in wrong {
            // What is missing is there under another name.
            let misspelt = missing(one).is_some_and(|name| {
                let beside = wrong.iter().filter(|other| other.path == one.path);
                let unknown: Vec<String> = beside.clone().filter_map(unknown).collect();
                // Where one is missing and one too many, they are the same.
                let alone = unknown.len() == 1 && beside.filter_map(missing).count() == 1;
                alone || name::closest(&name, unknown.iter().map(String::as_str)).is_some()
            });
            if misspelt {
                continue;
            }
            let inside = steps(self.suite, at, &one.path);
            let place = one.path.trim_start_matches('$').trim_start_matches('.');
            let subject = match place {
                "" => what.to_owned(),
                place => format!("`{place}` of {what}"),
            };
            let message = format!("{subject}: {}", one.message);
            self.report(match unknown(one) {
                Some(name) => Misfit::key(under(&inside, [key(&name)]), message),
                None => Misfit::value(inside, message),
            });
        }
    }

    /// Whether the scenario is about an error of one of these kinds: what doesn't fit may be what it tries.
    fn is_about(&self, kinds: &[ErrorKind]) -> bool {
        let expect = &self.scenario.expect;
        match &expect.error {
            Some(error) => {
                let kind = error.value.get("kind").and_then(|kind| kind.as_str());
                let kind = kind.map(ErrorKind::from_word);
                // A word that is no kind is reported by itself.
                kind.is_none_or(|kind| kind.is_some_and(|kind| kinds.contains(&kind)))
            }
            None => expect
                .status
                .as_ref()
                .is_some_and(|status| status.value == "failed"),
        }
    }

    fn tool(&mut self, at: Path, named: &str) -> Option<&crate::ir::Tool> {
        let flow = self.flow;
        let tool = flow.tools.iter().find(|tool| tool.name == named);
        if tool.is_none() {
            let names = flow.tools.iter().map(|tool| tool.name.as_str());
            let help = meant(named, names);
            self.report(Misfit::key(at, format!("the flow has no tool `{named}`")).help(help));
        }
        tool
    }
}

/// ``did you mean `x`?``, or what there is; nothing where there is nothing.
fn meant<'a>(wanted: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let near = name::did_you_mean(wanted, names.clone());
    near.or_else(|| match names.clone().count() {
        0 => None,
        1..=12 => Some(format!("there is {}", name::list(names))),
        count => Some(format!("there are {count}")),
    })
}

/// The way to `$.edits[0].content` from a place, as far as the file has it.
fn steps(suite: &Suite, at: &Path, path: &str) -> Path {
    let mut way = at.clone();
    let mut rest = path.trim_start_matches('$');
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('[') {
            Some(inner) => {
                let Some((index, after)) = inner.split_once(']') else {
                    break;
                };
                let step = match index.parse() {
                    Ok(index) => Step::Index(index),
                    Err(_) => Step::Key(index.trim_matches('"').to_owned()),
                };
                (step, after)
            }
            None => {
                let inner = rest.trim_start_matches('.');
                let end = inner.find(['.', '[']).unwrap_or(inner.len());
                let (key, after) = inner.split_at(end);
                (Step::Key(key.to_owned()), after)
            }
        };
        way.push(step);
        if suite.part(&way).is_none() {
            way.pop();
            break;
        }
        rest = after;
    }
    way
}

/// The way to a part of something.
fn under(at: &Path, steps: impl IntoIterator<Item = Step>) -> Path {
    at.iter().cloned().chain(steps).collect()
}

/// A key, as a step.
fn key(name: &str) -> Step {
    Step::Key(name.to_owned())
}
