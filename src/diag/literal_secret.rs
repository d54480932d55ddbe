//! `literal-secret`: the one finding that a flow's texts and `graphc.yaml` share.

use crate::base::credential::credentials;
use crate::base::{FileId, Span};

use super::{Diagnostic, codes};

/// What looks like a credential in a file, each at its place and never shown whole.
pub fn literal_secrets(file: FileId, text: &str) -> Vec<Diagnostic> {
    let finding = |found: crate::base::credential::Credential| {
        let message = format!("`{}` looks like {}", found.shown, found.kind);
        let span = Span::new(file, found.range.start, found.range.end);
        Diagnostic::new(&codes::LITERAL_SECRET, message, span).help(
            "take it out, replace it wherever it is valid, and let `graphc.yaml` read it from the environment: `${NAME}`",
        )
    };
    credentials(text).into_iter().map(finding).collect()
}
