//! What a condition says of an answer where it always or never holds: nothing.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::diag::{Diagnostics, codes};

use super::is;

/// Takes out what is said of a refusal at a condition that is reported as constant.
pub fn behind_constants(diags: &mut Diagnostics) {
    let constant: BTreeSet<Span> = (diags.iter())
        .filter(|found| is(found, &[&codes::CONSTANT_CONDITION]))
        .map(|found| found.span())
        .collect();
    if constant.is_empty() {
        return;
    }
    let refusals = [&codes::RUNS_AFTER_REFUSAL, &codes::ANSWER_IGNORED];
    diags.retain(|found| !is(found, &refusals) || !constant.contains(&found.span()));
}
