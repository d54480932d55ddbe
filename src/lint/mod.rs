//! Lints: what a flow may do and had better not.
//!
//! [`lint()`] is the stage. It looks at a program that has no errors, one file for each lint, and adds
//! notes and warnings; then it takes out what the flow's comments allow ([`allow`]). A lint is a note
//! ([`Level::Info`](crate::diag::Level)) where a good flow may well do the same, and a warning where it is
//! likely a mistake; `graphc.yaml` chooses another level, which is applied by who shows the findings.
//!
//! Nothing here reads settings or knows backends.
//!
//! Reading order: [`cx`] (what a lint sees), [`expr`] (expressions as written), [`allow`], then a file for each lint;
//! those about models are in [`model`].

pub mod allow;
mod allow_words;
mod cut_reply;
pub mod cx;
mod digit_member;
mod expr;
mod messages_in_prompt;
mod missing_doc;
pub mod model;
mod open_interrupt;
mod overwritten_messages;
mod path_as_text;
mod same_prompt;
mod shadowing;
mod text;
mod timeout_order;
mod unsafe_retry;
mod unserved;
mod untyped;
mod wide_scope;

use crate::base::SourceMap;
use crate::diag::Diagnostics;
use crate::resolve::Program;

use cx::Cx;
use model::Families;

/// Adds what is doubtful in a program without errors, and takes out what its comments allow.
/// `sources` are the texts that it was made from, `families` what is known of models.
pub fn lint(program: &Program, sources: &SourceMap, families: &Families, diags: &mut Diagnostics) {
    let sound = !diags.has_errors();
    if sound {
        let cx = Cx::new(program, sources, families);
        let mut found = Diagnostics::new();
        for lint in LINTS {
            lint(&cx, &mut found);
        }
        // Nobody but us can change the standard library.
        found.retain(|finding| !program.is_standard(finding.span().file));
        diags.append(found);
    }
    allow::apply(program, sources, sound, diags);
}

type Lint = fn(&Cx<'_>, &mut Diagnostics);

const LINTS: &[Lint] = &[
    cut_reply::lint,
    unsafe_retry::lint,
    timeout_order::lint,
    open_interrupt::lint,
    wide_scope::lint,
    unserved::lint,
    missing_doc::lint,
    shadowing::lint,
    same_prompt::lint,
    messages_in_prompt::lint,
    path_as_text::lint,
    digit_member::lint,
    overwritten_messages::lint,
    untyped::lint,
    model::provider::lint,
    model::fallback::lint,
    model::ability::lint,
    model::thinking::lint,
    model::context::lint,
];
