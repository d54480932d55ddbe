//! What is missing is said only where nothing else is wrong that may be the cause.
//!
//! Rust checks borrows only in bodies whose types are right. In the same way a way that is missing is reported in a graph only when that graph, and those
//! that it calls, have no error of text, names, types or arrows; a write that is missing only when they have no missing ways either; and what nothing uses only in
//! a program without errors. An error outside of graphs counts for all graphs. What is there and wrong, such as two writers of one field, is always reported.

use std::collections::BTreeMap;

use crate::diag::{Code, Diagnostic, Diagnostics, Level, codes};
use crate::ir::GraphId;
use crate::resolve::Program;

use super::super::calls::{callers, cycles};
use super::is;
use super::places::Places;

/// What has to be known before something can be said to be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Nothing: it is there, and wrong.
    Nothing,
    /// All names, types and arrows of a graph: a way is missing.
    Ways,
    /// All ways too: a write is missing.
    Values,
    /// All of the program: a use is missing.
    Use,
}

/// Ways that are missing.
static WAYS: &[&Code] = &[
    &codes::UNREACHABLE_NODE,
    &codes::ENDLESS_CYCLE,
    &codes::STUCK_CYCLE,
    &codes::JOIN_NEVER_FIRES,
    &codes::JOIN_WITHOUT_FORK,
    &codes::JOIN_MAY_WAIT,
    &codes::MAX_VISITS_CYCLE,
    &codes::ERROR_LOOP,
    &codes::UNBOUNDED_LOOP,
    // Of instances that each make another one: what ends that may be what is wrong.
    &codes::LIMIT_EXCEEDED,
    &codes::UNUSED_END,
    &codes::UNUSED_LEAVE,
];

/// Writes that are missing.
static VALUES: &[&Code] = &[
    &codes::OUT_NEVER_WRITTEN,
    &codes::OUT_LEFT_UNWRITTEN,
    &codes::READ_BEFORE_WRITE,
    &codes::LOST_ON_RESUME,
];

/// Errors that leave names, types and arrows as they are.
static APART: &[&Code] = &[
    &codes::WRITE_CONFLICT,
    &codes::GATHERED_TWICE,
    &codes::NOT_PROVEN,
    &codes::LIMIT_TOO_LOW,
    &codes::CACHED_QUESTION,
    &codes::TAINTED_SINK,
    &codes::WEAK_CHECK,
    &codes::SECRET_SHOWN,
    &codes::LITERAL_SECRET,
    &codes::LETHAL_TRIFECTA,
    &codes::BAD_ALLOW,
    &codes::THINKING_BUDGET,
];

/// What is of no use.
static USE: &[&Code] = &[
    &codes::NEVER_SEEN,
    &codes::NEVER_STALE,
    &codes::UNREAD_OUTPUT,
    &codes::UNREAD_RESULT,
    &codes::UNUSED_LET,
    &codes::UNUSED_IMPORT,
    &codes::UNUSED_FIELD,
    &codes::UNUSED_PARAMETER,
    &codes::ANSWER_IGNORED,
];

impl Stage {
    fn of(found: &Diagnostic) -> Self {
        if is(found, USE) && found.level < Level::Error {
            Self::Use
        } else if is(found, VALUES) {
            Self::Values
        } else if is(found, WAYS) {
            Self::Ways
        } else {
            Self::Nothing
        }
    }
}

/// Whether a finding says that something is missing, which an earlier error may hide.
pub fn is_missing(found: &Diagnostic) -> bool {
    Stage::of(found) > Stage::Nothing
}

/// Suppresses findings of a later stage than the first error.
pub fn suppress(program: &Program, places: &Places, diags: &mut Diagnostics) {
    let mut first: BTreeMap<GraphId, Stage> = BTreeMap::new();
    let mut outside = Stage::Use;
    let causes = diags.iter().filter(|found| found.level == Level::Error);
    for found in causes.filter(|found| !is(found, APART)) {
        let stage = Stage::of(found);
        match places.graph(found.span()) {
            Some(id) => lower(&mut first, id, stage),
            None => {
                outside = outside.min(stage);
                false
            }
        };
    }
    let callers = callers(program);
    let cycles = cycles(program);
    let mut open: Vec<GraphId> = first.keys().copied().collect();
    while let Some(id) = open.pop() {
        let own = first.get(&id).copied().unwrap_or(Stage::Use);
        for (caller, _) in callers.get(id).into_iter().flatten() {
            // What a called graph does not write its callers don't lack. Of graphs that call each other each has its own.
            let stage = match cycles.get(caller) == cycles.get(&id) {
                true => own,
                false => own.min(Stage::Ways),
            };
            if lower(&mut first, *caller, stage) {
                open.push(*caller);
            }
        }
    }
    // A placeholder that stays text was meant to use something.
    let placeholder = |found: &Diagnostic| is(found, &[&codes::PLACEHOLDER_IN_TEXT]);
    let unsure = diags.has_errors() || diags.iter().any(placeholder);
    diags.retain(|found| {
        let stage = Stage::of(found);
        let of = places.graph(found.span());
        let of = of.and_then(|id| first.get(&id).copied());
        let earliest = of.unwrap_or(Stage::Use).min(outside);
        stage <= earliest && !(unsure && stage == Stage::Use)
    });
}

/// Notes an error of a stage; whether it is the earliest so far.
fn lower(first: &mut BTreeMap<GraphId, Stage>, id: GraphId, stage: Stage) -> bool {
    let known = first.entry(id).or_insert(Stage::Use);
    let earlier = stage < *known;
    *known = stage.min(*known);
    earlier
}
