//! Lints: what a flow may do and had better not.
//!
//! [`lint()`] is the stage. It looks at a program that has no errors, one file for each lint, and adds
//! notes and warnings; then it takes out what the flow's comments allow ([`allow`]). A lint is a note
//! ([`Level::Info`](crate::diag::Level)) where a good flow may well do the same, and a warning where it is
//! likely a mistake; `graphc.yaml` chooses another level, which is applied by who shows the findings.
//!
//! Nothing here reads settings or knows backends.

pub mod allow;
mod text;

use crate::base::SourceMap;
use crate::diag::Diagnostics;
use crate::resolve::Program;

/// Adds what is doubtful in a program without errors, and takes out what its comments allow.
/// `sources` are the texts that it was made from.
pub fn lint(program: &Program, sources: &SourceMap, diags: &mut Diagnostics) {
    let sound = !diags.has_errors();
    if sound {
        policy(program, diags);
    }
    allow::apply(program, sources, sound, diags);
}

fn policy(_program: &Program, _diags: &mut Diagnostics) {}
