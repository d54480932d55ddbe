//! Answers to interrupts.

use crate::base::name;
use crate::expr::accept::accept;
use crate::expr::ty::Type;
use crate::ir::{ErrorKind, Tool};
use crate::project::scenario::{Answer, Answers};

use super::nodes;
use super::{Case, Misfit};

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
                        for answer in answers {
                            one(case, answer, path, expect);
                        }
                    }
                    Some(_) => {}
                    None => {
                        let at = suite.own_or_default(scenario, &["answers", path]);
                        match field_of_answer(case, &asked, path) {
                            true => case.report(Misfit {
                                key: true,
                                ..Misfit::value(at, format!("`{path}` is a field of an answer, and answers stand in a list"))
                                    .help(Some(format!("write `answers: [ {{ {path}: .. }} ]`")))
                            }),
                            false => case.asking(at, path, true),
                        }
                    }
                }
            }
        }
        Answers::InOrder(answers) => {
            if let [(path, Some(expect))] = &*asked
                && !nodes::tools_ask(case.flow, case.graph)
            {
                for answer in answers {
                    one(case, answer, path, expect);
                }
            } else {
                any(case, answers, &asked);
            }
        }
    }
}

/// Whether a name that is no question's is a field of what a question expects.
fn field_of_answer(case: &Case<'_>, asked: &[(String, Option<&Type>)], named: &str) -> bool {
    let mut expected = asked.iter().filter_map(|(_, expect)| *expect);
    expected.any(|ty| match ty.without_null() {
        Type::Record(id) => {
            let record = case.flow.types.records.get(id);
            record.is_some_and(|record| record.field(named).is_some())
        }
        _ => false,
    })
}

fn one(case: &mut Case<'_>, answer: &Answer, path: &str, expect: &Type) {
    if case.is_about(&[ErrorKind::InvalidInput]) {
        return;
    }
    if let Err(wrong) = accept(&answer.value, expect, &case.flow.types) {
        case.mismatches(&answer.at, &format!("the answer to `{path}`"), &wrong);
    }
}

/// Answers whose questions are known only in the run: each has to fit one of those that there are.
fn any(case: &mut Case<'_>, answers: &[Answer], asked: &[(String, Option<&Type>)]) {
    let known: Option<Vec<&Type>> = asked.iter().map(|(_, expect)| *expect).collect();
    let Some(known) = known.filter(|known| !known.is_empty()) else {
        return;
    };
    if case.is_about(&[ErrorKind::InvalidInput]) {
        return;
    }
    let types = &case.flow.types;
    let fits = |answer: &Answer| {
        let mut known = known.iter();
        known.any(|ty| accept(&answer.value, ty, types).is_ok())
    };
    let by_tools = nodes::tools_ask(case.flow, case.graph);
    let of_tool = |answer: &Answer| by_tools && is_for_a_call(answer);
    let wrong: Vec<&Answer> = answers
        .iter()
        .filter(|answer| !fits(answer) && !of_tool(answer))
        .collect();
    for answer in wrong {
        if let ([(path, _)], [expect]) = (asked, known.as_slice()) {
            one(case, answer, path, expect);
            continue;
        }
        let paths = asked.iter().map(|(path, _)| path.as_str());
        let message = format!("this answer fits none of {}", name::list(paths));
        case.report(Misfit::value(answer.at.clone(), message));
    }
}

/// Whether a call of the tool asks a person: one that has to be approved, and one whose outcome is in doubt.
pub(super) fn asks(tool: &Tool) -> bool {
    tool.asks() || tool.idempotent == Some(false) && tool.body.is_none()
}

/// Whether an answer has the words of such a question.
fn is_for_a_call(answer: &Answer) -> bool {
    ["decision", "happened"]
        .iter()
        .any(|word| answer.value.get(word).is_some())
}
