//! One mistake, one message: what only follows from a mistake that is reported already.
//!
//! Every stage goes on behind an error with what it has: a name that stands for nothing is a hole in the program
//! ([`Type::Error`](crate::expr::Type::Error), an id that is `None`), and rules pass over holes in silence. Two kinds of findings
//! can't be kept back by the rule that makes them: those about what is *missing* (a write, an arrow, a use), since what was
//! meant may be what stands in the hole, also of another graph; and those about one name in many places. [`settle`] looks at
//! them when all findings are known. It goes by what findings say as data ([`Fact`]), by where they stand
//! ([`ground`]) and by their codes, never by their words, and in time linear in the program and the findings.
//!
//! Reading order: [`ground`] (which declaration a place lies in), [`instances`] (graphs that call themselves without end), [`torn`] (items whose
//! brackets don't fit together), [`damaged`] (text that did not parse), [`lacking`] (what lacks because of it), [`unclear`] (what is
//! not known of a graph, and what waits for it), [`moot`] (what a refused thing would have done), [`declared`] (where names are declared and stand), [`names`] (one message for
//! one unknown name), [`again`] (one message for one field without a value), [`alike`] (one for what is the same at several places). [`ways`] comes before them: it is for findings on ways alone.

pub mod again;
pub mod alike;
pub mod damaged;
pub mod declared;
pub mod ground;
pub mod instances;
pub mod lacking;
pub mod moot;
pub mod names;
pub mod torn;
pub mod unclear;
pub mod ways;

use crate::base::SourceMap;
use crate::diag::{Code, Diagnostic, Diagnostics, Fact, codes};
use crate::resolve::Program;

use damaged::Damaged;
use ground::Ground;
use moot::Moot;
use unclear::Unclear;

/// Errors of the text itself.
static TEXT: &[&Code] = &[
    &codes::SYNTAX_ERROR,
    &codes::UNCLOSED,
    &codes::BAD_LITERAL,
    &codes::UNKNOWN_KEYWORD,
    &codes::LIMIT_EXCEEDED,
    &codes::FILE_NOT_FOUND,
    &codes::FILE_OUTSIDE,
    &codes::UNKNOWN_MODULE,
];

/// Takes out what follows from the errors that are there, and puts together what is one mistake.
pub fn settle(program: &Program, sources: &SourceMap, diags: &mut Diagnostics) {
    if diags.is_empty() {
        return;
    }
    lacking::behind_pieces(program, diags);
    lacking::behind_blocks(program, sources, diags);
    again::meant_by_text(sources, diags);
    if !diags.has_errors() {
        let unread = |found: &Diagnostic| {
            is(found, &[&codes::OUT_NEVER_WRITTEN]) || found.facts.contains(&Fact::MeantFile)
        };
        if diags.iter().any(unread) {
            let ground = Ground::new(program);
            let moot = Moot::new(&ground, sources, diags);
            diags.retain(|found| !moot.explains(&ground, found));
        }
        return;
    }
    torn::behind_the_first(sources, diags);
    let ground = Ground::new(program);
    instances::behind_damage(&ground, diags);
    moot::behind_reads(&ground, diags);
    let damaged = Damaged::new(program, sources, diags);
    let unclear = Unclear::new(&ground, diags);
    let moot = Moot::new(&ground, sources, diags);
    again::dead_ends(&ground, diags);
    let follows = |found: &Diagnostic| {
        damaged.explains(found) || unclear.explains(found) || moot.explains(&ground, found)
    };
    diags.retain(|found| is(found, TEXT) || !follows(found));
    names::once(&ground, sources, diags);
    again::reads(diags);
    again::refused(diags);
    alike::nulls(&ground, diags);
    alike::same(&ground, sources, diags);
}

/// Whether a finding is of one of the codes.
fn is(found: &Diagnostic, codes: &[&Code]) -> bool {
    codes.iter().any(|code| std::ptr::eq(*code, found.code))
}
