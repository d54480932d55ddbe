//! What models were shown, how often tools were called, and calls that nothing served.

use crate::project::scenario::Scenario;
use crate::project::spec::script::ToolReply;
use crate::project::yaml::Path;

use super::Finding;
use crate::scenario::observed::Observed;

/// Calls that no reply matched, and answers that were refused without the scenario expecting it.
pub fn unserved(scenario: &Scenario, observed: &Observed) -> Vec<Finding> {
    let unmatched = observed.unmatched.iter();
    let mut found: Vec<Finding> = unmatched
        .map(|message| {
            let (message, detail) = message.split_once('\n').unwrap_or((message, ""));
            Finding::new(&scenario.at, message).detail(detail)
        })
        .collect();
    if scenario.expect.error.is_none() {
        let refused = observed.refused.iter();
        found.extend(refused.map(|(at, message)| {
            let (message, detail) = message.split_once('\n').unwrap_or((message, ""));
            Finding::new(at, message).detail(detail)
        }));
    }
    found
}

/// Why no call took a reply, where that is known: its `when` or `match` fitted none, the tool refused the arguments that a
/// model gave, or the node that was to call it has not the tool.
pub fn why_left(scenario: &Scenario, observed: &Observed, at: &Path) -> Option<String> {
    let mut models = scenario.models.iter().flat_map(|(_, replies)| replies);
    if let Some(reply) = models.find(|reply| reply.at == *at) {
        let when = reply.when.as_ref()?;
        return Some(format!("`when: {}` held for no call", when.text));
    }
    let has = |replies: &[ToolReply]| replies.iter().any(|reply| reply.at == *at);
    let (tool, _) = scenario.tools.iter().find(|(_, replies)| has(replies))?;
    let told = [
        format!("`{tool}` refuses its arguments"),
        format!("there is no tool `{tool}` here"),
    ];
    let calls = observed.asked.values().flatten();
    let texts = calls.flat_map(|call| call.messages.iter());
    let mut texts = texts.filter_map(|message| message.get("content")?.as_str());
    texts
        .find(|text| told.iter().any(|told| text.contains(told)))
        .map(str::to_owned)
}

/// `models` and `calls`.
pub fn judge(scenario: &Scenario, observed: &Observed) -> Vec<Finding> {
    let expect = &scenario.expect;
    let mut found = Vec::new();
    for (node, wanted) in &expect.models {
        let calls = observed.asked.get(node).map_or(&[][..], Vec::as_slice);
        for (index, wanted) in wanted.iter().enumerate() {
            match calls.get(index) {
                Some(call) => {
                    let wrong = wanted.compare(&call.tools, &call.prompt());
                    found.extend(wrong.into_iter().map(Finding::from));
                }
                None => {
                    let (number, made) = (index + 1, calls.len());
                    let message = format!(
                        "expected call {number} of the model in `{node}`, which was called {}",
                        times(made as u64)
                    );
                    found.push(Finding::new(&wanted.at, message));
                }
            }
        }
    }
    for (tool, wanted) in &expect.calls {
        let made = observed.calls.get(tool).copied().unwrap_or(0);
        if made != wanted.value {
            let message = format!(
                "expected `{tool}` to be called {}, it was called {}",
                times(wanted.value),
                times(made)
            );
            found.push(Finding::new(&wanted.at, message));
        }
    }
    found
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}
