//! Comparing what was seen of a scenario with what it expects.

mod calls;
mod outcome;
mod state;

use crate::ir::{Flow, GraphId};
use crate::project::scenario::Scenario;
use crate::project::scenario::expect::Mismatch;
use crate::project::yaml::{Path, Step};

use super::observed::Observed;

/// Something that is not as the scenario expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where in the scenario's file.
    pub at: Path,
    /// What was expected and what is, in one line.
    pub message: String,
    /// The same at length, line by line; empty where the line says all.
    pub detail: String,
    /// Whether other findings follow from it.
    pub cause: bool,
}

impl Finding {
    /// A finding that one line says.
    pub fn new(at: &Path, message: impl Into<String>) -> Self {
        Self {
            at: at.clone(),
            message: message.into(),
            detail: String::new(),
            cause: false,
        }
    }

    /// With more to it.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

impl From<Mismatch> for Finding {
    fn from(mismatch: Mismatch) -> Self {
        let (message, detail) = match mismatch.message.split_once('\n') {
            Some((first, rest)) => (first.to_owned(), rest.to_owned()),
            None => (mismatch.message, String::new()),
        };
        Finding {
            at: mismatch.at,
            message,
            detail,
            cause: false,
        }
    }
}

/// All that is not as expected, causes first. `answers_left` is where answers are written that nothing asked for.
///
/// Where a call had no reply, a reply or an answer was refused, or the run ended otherwise, all else follows from that and is
/// told in one line.
pub fn judge(
    scenario: &Scenario,
    flow: &Flow,
    graph: GraphId,
    observed: &Observed,
    answers_left: &[Path],
) -> Vec<Finding> {
    let mut causes = calls::unserved(scenario, observed);
    // An error that says what is said already is no news.
    let ended = outcome::ended(scenario, observed);
    causes.extend(ended.filter(|ended| {
        !causes
            .iter()
            .any(|cause| ended.message.contains(&cause.message))
    }));
    let mut others = outcome::judge(scenario, observed);
    others.extend(state::judge(scenario, flow, graph, observed));
    others.extend(calls::judge(scenario, observed));
    let unused = |at: &Path, what: &str| Finding::new(at, format!("this {what} is left over"));
    others.extend(observed.left.iter().map(|at| {
        let left = unused(at, "reply");
        match calls::why_left(scenario, observed, at) {
            Some(why) => left.detail(why),
            None => left,
        }
    }));
    others.extend(answers_left.iter().map(|at| unused(at, "answer")));
    if causes.is_empty() && others.is_empty() {
        return others;
    }
    // What a scenario may well mean explains what else is not as expected.
    let refused = observed.unfit.iter().map(|(at, why)| {
        let message = format!("this reply was refused, and asked for again: {why}");
        Finding::new(at, message)
    });
    if causes.is_empty() {
        return refused.map(cause).chain(others).collect();
    }
    let follows = others.split_first().map(|(first, more)| match more {
        [] => first.clone(),
        _ => Finding::new(
            &scenario.at,
            format!("from that follows: {}", names(scenario, &others)),
        ),
    });
    let causes = refused.chain(causes).map(cause);
    causes.chain(follows).collect()
}

fn cause(finding: Finding) -> Finding {
    Finding {
        cause: true,
        ..finding
    }
}

/// What findings are about, by the keys of the scenario.
fn names(scenario: &Scenario, findings: &[Finding]) -> String {
    let mut names: Vec<String> = Vec::new();
    for finding in findings {
        let own = finding.at.strip_prefix(scenario.at.as_slice());
        let keys = own
            .unwrap_or(&finding.at)
            .iter()
            .map_while(|step| match step {
                Step::Key(key) => Some(key.as_str()),
                Step::Index(_) => None,
            });
        let keys: Vec<&str> = keys.collect();
        let name = format!("`{}`", keys.join("."));
        let unused = finding.message.ends_with("left over");
        let said = if unused {
            format!("replies left over in {name}")
        } else {
            name
        };
        if !names.contains(&said) {
            names.push(said);
        }
    }
    names.join(", ")
}
