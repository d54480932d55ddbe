//! Comparing what was seen of a scenario with what it expects.

mod calls;
mod outcome;
mod state;

use crate::backend::scenario::Scenario;
use crate::backend::scenario::expect::Mismatch;
use crate::backend::yaml::Path;
use crate::ir::{Flow, GraphId};

use super::observed::Observed;

pub use state::scope;

/// Something that is not as the scenario expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where in the scenario's file.
    pub at: Path,
    /// What was expected and what is, in one line.
    pub message: String,
    /// The same at length, line by line; empty where the line says all.
    pub detail: String,
}

impl Finding {
    /// A finding that one line says.
    pub fn new(at: &Path, message: impl Into<String>) -> Self {
        Self {
            at: at.clone(),
            message: message.into(),
            detail: String::new(),
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
        }
    }
}

/// All that is not as expected. `answers_left` is where answers are written that nothing asked for.
pub fn judge(
    scenario: &Scenario,
    flow: &Flow,
    graph: GraphId,
    observed: &Observed,
    answers_left: &[Path],
) -> Vec<Finding> {
    let mut found = calls::unserved(scenario, observed);
    found.extend(outcome::judge(scenario, observed));
    found.extend(state::judge(scenario, flow, graph, observed));
    found.extend(calls::judge(scenario, observed));
    let unused = |at: &Path, what: &str| Finding::new(at, format!("this {what} is left over"));
    found.extend(observed.left.iter().map(|at| unused(at, "reply")));
    found.extend(answers_left.iter().map(|at| unused(at, "answer")));
    // What a scenario may well mean explains what else is not as expected.
    if !found.is_empty() {
        let unfit = observed.unfit.iter();
        let refused = unfit.map(|(at, why)| {
            Finding::new(
                at,
                format!("this reply was refused, and asked for again: {why}"),
            )
        });
        found.splice(0..0, refused);
    }
    found
}
