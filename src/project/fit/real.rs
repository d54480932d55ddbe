//! Tools that are really called, held against the flow and against what graphc.yaml binds.

use std::collections::BTreeSet;

use crate::base::name;
use crate::ir::flow::MEMORY;
use crate::project::config::Config;
use crate::project::scenario::Written;
use crate::project::yaml::Path;

use super::{Case, Misfit, meant};

/// Names of no tool that can be bound, tools without a binding, and a profile that there isn't.
pub fn fit(case: &mut Case<'_>) {
    let known = profile(case);
    let mut before = BTreeSet::new();
    for real in &case.scenario.real {
        if !before.insert(&real.value) {
            let message = format!("`{}` stands here already", real.value);
            case.report(Misfit::value(real.at.clone(), message));
        } else if is_callable(case, real) {
            scripted(case, real);
            if known {
                bound(case, real);
            }
        }
    }
}

/// Whether what the scenario is served by is known: there is such a profile, and the settings can be read.
fn profile(case: &mut Case<'_>) -> bool {
    let Some(config) = case.config else {
        return false;
    };
    let Some(profile) = &case.scenario.profile else {
        return true;
    };
    let wanted = &profile.value;
    if config.profiles().any(|name| name == wanted) {
        return true;
    }
    let (message, help) = match config.file {
        None => (
            format!("there is no `graphc.yaml` that could have a profile `{wanted}`"),
            None,
        ),
        Some(_) => (
            format!("graphc.yaml has no profile `{wanted}`"),
            meant(wanted, config.profiles()),
        ),
    };
    case.report(Misfit::value(profile.at.clone(), message).help(help));
    false
}

/// Whether it names a tool whose calls leave the flow.
fn is_callable(case: &mut Case<'_>, real: &Written<String>) -> bool {
    let name = &real.value;
    let (message, help) = if case.is_extern(name) {
        let message = format!("`{name}` is an `extern` node, which only a program can bring");
        (message, "give what it writes under `tools`")
    } else {
        let before = case.found.len();
        let Some(tool) = case.tool(real.at.clone(), name) else {
            // Not at a key: there is none in a list.
            case.found
                .iter_mut()
                .skip(before)
                .for_each(|m| m.key = false);
            return false;
        };
        if tool.is_of(MEMORY) {
            let message = format!("tool `{name}` works on the scenario's own memory as it is");
            (message, "take it out of `real`")
        } else if tool.body.is_some() {
            let message = format!("tool `{name}` has a body, which is what runs");
            (message, "take it out of `real`")
        } else {
            return true;
        }
    };
    case.report(Misfit::value(real.at.clone(), message).help(help.to_owned()));
    false
}

/// A tool is really called or has replies, never both.
fn scripted(case: &mut Case<'_>, real: &Written<String>) {
    let (scenario, name) = (case.scenario, &real.value);
    if !scenario.tools.iter().any(|(tool, _)| tool == name) {
        return;
    }
    let replies = case.suite.own_or_default(scenario, &["tools", name]);
    let is_own = |at: &Path| at.starts_with(&scenario.at);
    let message = format!("tool `{name}` is really called, and has replies under `tools`");
    let misfit = match is_own(&replies) {
        true => Misfit::key(replies, message),
        false => Misfit::value(real.at.clone(), message),
    };
    let help = match is_own(&real.at) {
        true => "take out one of them".to_owned(),
        false => format!(
            "take the replies out, or give the scenario a `real` of its own without `{name}`"
        ),
    };
    case.report(misfit.help(help));
}

/// A tool that nothing serves under the scenario's profile.
fn bound(case: &mut Case<'_>, real: &Written<String>) {
    let Some(config) = case.config else { return };
    let profile = case.scenario.profile.as_ref().map(|written| &written.value);
    let profile = profile.or(config.profile.as_ref());
    let parts = parts(config, profile.map(String::as_str));
    let bound = parts.iter().flat_map(|part| part.tools.keys());
    let name = &real.value;
    if bound.clone().any(|tool| tool == name) {
        return;
    }
    let under = profile.map_or(String::new(), |profile| format!(" in profile `{profile}`"));
    let message = format!("tool `{name}` is to be really called, and is bound to nothing{under}");
    let known = |tool: &&String| case.flow.tools.iter().any(|other| other.name == ***tool);
    let others = bound.filter(|tool| !known(tool)).map(String::as_str);
    let help = match name::closest(name, others) {
        Some(near) => format!("graphc.yaml binds `{near}`; did you mean that?"),
        None => format!("add `{name}: {{ command: [..] }}` under `tools` in graphc.yaml"),
    };
    case.report(Misfit::value(real.at.clone(), message).help(help));
}

/// The parts of the file that count under a profile: its base, and the profile.
fn parts<'c>(config: &'c Config, profile: Option<&str>) -> Vec<&'c Config> {
    let base = config.parts.first();
    let counts = |part: &&Config| part.profile.is_some() && part.profile.as_deref() == profile;
    base.into_iter()
        .chain(config.parts.iter().filter(counts))
        .collect()
}
