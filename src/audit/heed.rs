//! Whether anything looks at what a person answers.

use std::collections::BTreeSet;

use crate::ir::graph::{Graph, Node};
use crate::ir::jump::{Jump, Route, Target};
use crate::ir::node::{Permit, Work};

use super::reach::stop_name;

/// Questions of a graph whose answer nothing looks at: whatever is said, the run goes on in the same way.
pub(super) fn unheeded(graph: &Graph) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for node in &graph.nodes {
        if let Work::Interrupt { permits, .. } = &node.work
            && !decides(permits)
            && !heeds(node, "answer", false)
        {
            found.insert(stop_name(graph, &node.name));
        }
        for stop in &node.stops {
            if !decides(&stop.permits) && !heeds(node, &stop.name, !stop.after) {
                found.insert(stop_name(graph, &stop.name));
            }
        }
    }
    found
}

/// Whether an answer decides which calls are permitted.
fn decides(permits: &[Permit]) -> bool {
    permits.iter().any(|permit| permit.when.is_some())
}

/// Whether a node looks at an answer by a name. `works` where the answer is there ahead of its work.
fn heeds(node: &Node, name: &str, works: bool) -> bool {
    let set = node.set.iter().map(|item| &item.value.text);
    let mut texts: Vec<&String> = set.collect();
    let lets = node.lets.iter().chain(&node.lets_behind);
    texts.extend(lets.map(|bound| &bound.value.text));
    if works {
        texts.extend(node.requires.iter().map(|require| &require.condition.text));
        texts.extend(node.skips.iter().map(|skip| &skip.when.text));
        if let Work::Call { args, .. } = &node.work {
            texts.extend(args.iter().map(|arg| &arg.value.text));
        }
    }
    let mut jumps: Vec<&Jump> = Vec::new();
    match &node.next {
        None => {}
        Some(Route::Always(jump)) => jumps.push(jump),
        Some(Route::Arms(arms)) => {
            jumps.extend(arms.iter().map(|arm| &arm.jump));
            // A choice between the same ways is none.
            let same = arms.windows(2).all(|pair| match pair {
                [one, other] => one.jump.to == other.jump.to,
                _ => true,
            });
            if !same {
                texts.extend(arms.iter().filter_map(|arm| Some(&arm.when.as_ref()?.text)));
            }
        }
    }
    for jump in jumps {
        texts.extend(jump.set.iter().map(|item| &item.value.text));
        for target in &jump.to {
            match target {
                Target::Computed { name, .. } => texts.push(&name.text),
                Target::Each { items, with, .. } => {
                    texts.push(&items.text);
                    texts.extend(with.iter().map(|value| &value.value.text));
                }
                _ => {}
            }
        }
    }
    texts.into_iter().any(|text| mentions(text, name))
}

/// Whether a name stands in a text by itself.
fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let behind = text.get(at + name.len()..);
        let behind = behind.and_then(|text| text.chars().next());
        !before.is_some_and(|c| word(c) || c == '.') && !behind.is_some_and(word)
    })
}
