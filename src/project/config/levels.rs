//! `lints`: whether the codes are some that have a level to choose.

use crate::base::Span;
use crate::base::name::did_you_mean;
use crate::diag::codes::{self, Level};
use crate::diag::{Diagnostic, Diagnostics};

use super::{Config, LintLevel};

/// What is wrong with the names under `lints`: codes that there aren't, errors that would be lowered.
pub fn wrong_levels(config: &Config) -> Diagnostics {
    let mut found = Diagnostics::new();
    for (slug, entry) in &config.lints {
        let at = entry.span.unwrap_or_else(Span::default);
        let finding = |message: String| Diagnostic::new(&codes::INVALID_CONFIG, message, at);
        match codes::find(slug) {
            None => {
                let all = codes::ALL.iter().map(|code| code.slug);
                let help = did_you_mean(slug, all);
                let message = format!("no diagnostic has the code `{slug}`");
                found.push(finding(message).maybe_help(help));
            }
            Some(code) if code.least == Level::Error && entry.value != LintLevel::Deny => {
                let message = format!("`{slug}` is an error in every project");
                let help = "take it out; only what is doubtful has a level to choose";
                found.push(finding(message).help(help));
            }
            Some(_) => {}
        }
    }
    found
}
