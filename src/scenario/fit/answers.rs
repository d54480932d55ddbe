//! Answers to interrupts.

use crate::backend::scenario::{Answer, Answers};
use crate::expr::accept::accept;
use crate::expr::ty::Type;
use crate::ir::ErrorKind;

use super::Case;
use super::nodes;

/// Nodes that there aren't, and answers of the wrong type, which a scenario that is about an error may well give.
pub fn fit(case: &mut Case<'_>) {
    let (suite, scenario) = (case.suite, case.scenario);
    let asked = nodes::questions(case.flow, case.graph);
    match &scenario.answers {
        Answers::ByNode(nodes) => {
            for (path, answers) in nodes {
                let by_path = asked.iter().find(|(other, _)| other == path);
                let by_name = || asked.iter().find(|(other, _)| nodes::is_named(other, path));
                match by_path.or_else(by_name) {
                    Some((path, Some(expect))) => {
                        if let Some(last) = answers.last() {
                            one(case, last, path, expect);
                        }
                    }
                    Some(_) => {}
                    // A tool call may ask in any node.
                    None if case.is_node(path) => {}
                    None => {
                        let at = suite.own_or_default(scenario, &["answers", path]);
                        case.node(at, path, true);
                    }
                }
            }
        }
        Answers::InOrder(answers) => {
            // With more than one, which of them an answer goes to is not known before the run.
            if let ([(path, Some(expect))], Some(last)) = (&*asked, answers.last()) {
                one(case, last, path, expect);
            }
        }
    }
}

fn one(case: &mut Case<'_>, answer: &Answer, path: &str, expect: &Type) {
    // A call that a person has to approve asks too, and one whose outcome is in doubt, with words of their own.
    let mut tools = case.flow.tools.iter();
    let doubtful = tools.any(|tool| tool.approve || tool.idempotent == Some(false));
    if case.is_about(&[ErrorKind::InvalidInput]) || doubtful {
        return;
    }
    if let Err(wrong) = accept(&answer.value, expect, &case.flow.types) {
        case.mismatches(&answer.at, &format!("the answer to `{path}`"), &wrong);
    }
}
