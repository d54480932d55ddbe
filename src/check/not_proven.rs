//! What a rule says where it can't be decided, since there is too much to be told apart. It is never silent.

use crate::base::Span;
use crate::diag::{Code, Diagnostic, Level, codes};

/// A rule whose answer is not known. `what` says what was too much. An error: what the rule is about would go wrong in a run.
pub fn not_proven(rule: &Code, what: &str, span: Span) -> Diagnostic {
    let message = format!("whether `{}` holds here is not proven: {what}", rule.slug);
    Diagnostic::new(&codes::NOT_PROVEN, message, span)
}

/// The same of a rule without which a run is none the less sound.
pub fn in_doubt(rule: &Code, what: &str, span: Span) -> Diagnostic {
    Diagnostic {
        level: Level::Warning,
        ..not_proven(rule, what, span)
    }
}
