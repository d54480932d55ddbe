//! What a change lets a flow do or cost that it could not before.

use std::collections::{BTreeMap, BTreeSet};

use super::bound::Bound;
use super::sheet::{Sheet, ToolUse};

/// What the new sheet allows beyond the old one, in words; empty where it allows no more.
pub fn widened(old: &Sheet, new: &Sheet) -> Vec<String> {
    let mut wider = Vec::new();
    for (what, was, is) in [
        ("super-steps", &old.steps, &new.steps),
        ("model calls", &old.model_calls, &new.model_calls),
        ("output tokens", &old.output_tokens, &new.output_tokens),
    ] {
        // Of two without a bound, reasons that are called otherwise are none that are new.
        if let (Bound::Unbounded(old), Bound::Unbounded(new)) = (was, is) {
            let fresh = new.difference(old).filter(|_| new.len() > old.len());
            wider.extend(fresh.map(|why| format!("{what}: UNBOUNDED: {why}")));
        } else if is.exceeds(was) {
            wider.push(format!("{what}: {}, was {}", shown(is), shown(was)));
        }
    }
    tools(old, new, &mut wider);
    scopes(old, new, &mut wider);
    added("data goes to", &old.leaves, &new.leaves, &mut wider);
    for unknown in new.leaves_unknown.difference(&old.leaves_unknown) {
        wider.push(format!("data goes to where nobody has said: {unknown}"));
    }
    added("needs", &old.secrets, &new.secrets, &mut wider);
    let asked = |sheet: &Sheet| -> BTreeSet<String> {
        sheet.interrupts.iter().map(|q| q.node.clone()).collect()
    };
    for gone in asked(old).difference(&asked(new)) {
        wider.push(format!("nobody is asked at {gone} any more"));
    }
    wider
}

/// A bound in words.
pub fn shown(bound: &Bound) -> String {
    match bound {
        Bound::AtMost(most) => format!("at most {most}"),
        Bound::Unbounded(_) => "UNBOUNDED".to_owned(),
    }
}

fn tools(old: &Sheet, new: &Sheet, wider: &mut Vec<String>) {
    let known: BTreeMap<&str, &ToolUse> = old.tools.iter().map(|t| (t.tool.as_str(), t)).collect();
    for tool in &new.tools {
        let name = &tool.tool;
        let Some(was) = known.get(name.as_str()) else {
            let effect = tool.effect;
            wider.push(format!("tool {name} ({effect}) is in reach"));
            continue;
        };
        if rank(tool.effect) > rank(was.effect) {
            wider.push(format!(
                "tool {name}: effect {}, was {}",
                tool.effect, was.effect
            ));
        }
        if tool.served != was.served {
            wider.push(format!(
                "tool {name} is served by {}, was by {}",
                tool.served, was.served
            ));
        }
        if was.asks && !tool.asks {
            wider.push(format!("tool {name} is called without asking"));
        }
        if tool.unattended && !was.unattended {
            wider.push(format!("tool {name} is marked @unattended"));
        }
        for gone in was.narrowed.difference(&tool.narrowed) {
            wider.push(format!("tool {name} is not held to `{gone}` any more"));
        }
        for gone in was.fixed.difference(&tool.fixed) {
            wider.push(format!("tool {name}: `{gone}` is not fixed any more"));
        }
        let nodes = tool.nodes.keys();
        for node in nodes.filter(|node| !was.nodes.contains_key(*node)) {
            wider.push(format!("tool {name} is in reach of {node}"));
        }
        let permitted = tool.permitted.iter();
        for new in permitted.filter(|permission| !was.permitted.contains(permission)) {
            let (at, what) = (&new.at, new.shown());
            wider.push(format!("tool {name} is permitted at {at}: {what}"));
        }
        for gone in was.passed().difference(&tool.passed()) {
            wider.push(format!("tool {name} can be reached without {gone}"));
        }
    }
}

fn rank(effect: &str) -> u8 {
    match effect {
        "read" => 0,
        "write" => 1,
        _ => 2,
    }
}

fn scopes(old: &Sheet, new: &Sheet, wider: &mut Vec<String>) {
    for (graph, scope) in &new.scopes {
        match (old.scopes.get(graph), scope) {
            (Some(Some(_)), None) => {
                wider.push(format!("graph {graph} has no tool scope any more"))
            }
            (Some(Some(was)), Some(is)) => {
                for tool in is.difference(was) {
                    wider.push(format!("the scope of graph {graph} has {tool}"));
                }
            }
            _ => {}
        }
    }
}

fn added(
    what: &str,
    old: &BTreeMap<String, BTreeSet<String>>,
    new: &BTreeMap<String, BTreeSet<String>>,
    wider: &mut Vec<String>,
) {
    for (name, users) in new {
        let known = old.get(name);
        for user in users {
            if known.is_none_or(|known| !known.contains(user)) {
                wider.push(format!("{what} {name}: {user}"));
            }
        }
    }
}
