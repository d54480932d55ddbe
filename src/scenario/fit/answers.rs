//! Answers to interrupts.

use crate::backend::scenario::{Answer, Answers};
use crate::expr::accept::accept;
use crate::expr::ty::Type;
use crate::ir::{Node, Work};

use super::nodes;
use super::{Case, Misfit, meant};

/// Nodes that there aren't, and answers of the wrong type, which a scenario that is about an error may well give.
pub fn fit(case: &mut Case<'_>) {
    let (suite, scenario) = (case.suite, case.scenario);
    match &scenario.answers {
        Answers::ByNode(nodes) => {
            for (path, answers) in nodes {
                let at = suite.own_or_default(scenario, &["answers", path]);
                let Some(node) = by_name(case, path) else {
                    case.node(at, path, true);
                    continue;
                };
                if let (Some(expect), Some(last)) = (expects(node), answers.last()) {
                    one(case, last, path, expect);
                }
            }
        }
        Answers::InOrder(answers) => {
            let known = nodes::all(case.flow, case.graph);
            let asking: Vec<&(String, &Node)> = known
                .iter()
                .filter(|(_, node)| matches!(node.work, Work::Interrupt { .. }))
                .collect();
            // With more than one, which of them an answer goes to is not known before the run.
            if let ([(path, node)], Some(last)) = (&*asking, answers.last())
                && let Some(expect) = expects(node)
            {
                one(case, last, path, expect);
            }
        }
    }
}

/// The node of that path, else of that name anywhere.
fn by_name<'a>(case: &Case<'a>, named: &str) -> Option<&'a Node> {
    let known = nodes::all(case.flow, case.graph);
    let by_path = known.iter().find(|(path, _)| path == named);
    let by_name = || known.iter().find(|(_, node)| node.name == named);
    by_path.or_else(by_name).map(|(_, node)| *node)
}

fn expects(node: &Node) -> Option<&Type> {
    match &node.work {
        Work::Interrupt { expect, .. } => expect.as_ref(),
        _ => None,
    }
}

fn one(case: &mut Case<'_>, answer: &Answer, path: &str, expect: &Type) {
    // A tool call whose outcome is in doubt asks too, with words of its own.
    let doubtful = case
        .flow
        .tools
        .iter()
        .any(|tool| tool.idempotent == Some(false));
    if case.expects_failure() || doubtful {
        return;
    }
    if let Err(wrong) = accept(&answer.value, expect, &case.flow.types) {
        let before = case.found.len();
        case.mismatches(&answer.at, &format!("the answer to `{path}`"), &wrong);
        // A bare word is often just misspelt.
        let words = match expect {
            Type::Union(members) => members
                .iter()
                .filter_map(|member| match member {
                    Type::Literal(text) => Some(text.as_ref()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        if let (Some(text), false) = (answer.value.as_str(), words.is_empty()) {
            let help = meant(text, words.into_iter());
            case.found
                .iter_mut()
                .skip(before)
                .for_each(|misfit: &mut Misfit| {
                    misfit.help = help.clone();
                });
        }
    }
}
