//! `literal-secret`: the one finding that a flow's texts, `graphc.yaml` and scenarios share.

use crate::base::credential::credentials;
use crate::base::{FileId, Span};

use super::{Diagnostic, Level, codes};

/// What looks like a credential in a file, each at its place and never shown whole.
pub fn literal_secrets(file: FileId, text: &str) -> Vec<Diagnostic> {
    let help = "take it out, replace it wherever it is valid, and let `graphc.yaml` read it from the environment: `${NAME}`";
    found(file, text, help)
}

/// The same in a file of scenarios. There it may well be made up, so it is a warning.
pub fn literal_secrets_of_scenarios(file: FileId, text: &str) -> Vec<Diagnostic> {
    let help = "if it is one that is valid anywhere, replace it there; here write a shorter text";
    let mut all = found(file, text, help);
    all.iter_mut().for_each(|one| one.level = Level::Warning);
    all
}

fn found(file: FileId, text: &str, help: &str) -> Vec<Diagnostic> {
    let finding = |found: crate::base::credential::Credential| {
        let message = format!("`{}` looks like {}", found.shown, found.kind);
        let span = Span::new(file, found.range.start, found.range.end);
        Diagnostic::new(&codes::LITERAL_SECRET, message, span).help(help)
    };
    credentials(text).into_iter().map(finding).collect()
}
