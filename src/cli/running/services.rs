//! What `test` and `run` say of the services of a file of scenarios.

use crate::backend::service::Fault;
use crate::base::SourceMap;
use crate::project::scenario::Suite;

use super::run::snippet;
use super::{Context, Failure};

/// What is wrong with a service, at its place in the file, with the end of what it has said.
pub fn failure(fault: &Fault, suite: &Suite, sources: &SourceMap, context: &Context) -> Failure {
    let span = suite.key_span(&fault.at);
    let mut lines = snippet::lines(span, sources, context.terminal.style).unwrap_or_default();
    if !fault.said.is_empty() {
        lines += "\n  its stderr:";
        fault
            .said
            .lines()
            .for_each(|line| lines += &format!("\n    {line}"));
    }
    Failure::unusable(&fault.message).lines(Some(lines))
}
