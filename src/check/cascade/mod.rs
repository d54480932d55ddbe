//! One mistake, one message: what only follows from an error is suppressed.
//!
//! A name that stands for nothing is a hole in the program ([`Type::Error`](crate::expr::Type::Error), an id that is `None`), and
//! rules pass over holes in silence. What is left has two rules, that docs/language/checks.md gives to users, and one way to show findings:
//!
//! - [`text`]: of a piece that did not parse only that is said, in its file nothing about what is missing.
//! - [`stage`]: what is missing (a way, a write, a use) is said only where no error may be the cause.
//! - [`same`]: one message for one finding at many places, an unknown name for instance; all places are pointed at.
//!
//! They go by codes, by facts ([`Fact`](crate::diag::Fact)) and by [`places`], never by the words of a message, in time linear in the program and the findings.

pub mod places;
pub mod same;
pub mod stage;
pub mod text;

use crate::base::SourceMap;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::resolve::Program;

use places::Places;

/// Suppresses what follows from the errors that are there, and puts together what is one mistake.
pub fn settle(program: &Program, sources: &SourceMap, diags: &mut Diagnostics) {
    if diags.is_empty() {
        return;
    }
    let places = Places::new(program);
    text::suppress(program, &places, sources, diags);
    stage::suppress(program, &places, diags);
    same::together(&places, diags);
}

/// Whether a finding is of one of the codes.
fn is(found: &Diagnostic, codes: &[&Code]) -> bool {
    codes.iter().any(|code| std::ptr::eq(*code, found.code))
}
