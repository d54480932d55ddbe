//! `models`: what a model of a flow is served by, where that isn't what the flow says.

use crate::project::yaml::Cursor;

use super::variables::Variables;

/// What serves a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelBinding {
    /// The replies of a scenario.
    Scripted,
    /// Another model than the flow names.
    Other {
        /// Its provider.
        provider: String,
        /// The model there.
        model: String,
    },
}

/// Reads `scripted` or `provider/model`.
pub fn read(cursor: &Cursor<'_>, _: &Variables<'_>) -> Option<ModelBinding> {
    let text = cursor.text()?;
    if text == "scripted" {
        return Some(ModelBinding::Scripted);
    }
    match text.split_once('/') {
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
            Some(ModelBinding::Other {
                provider: provider.to_owned(),
                model: model.to_owned(),
            })
        }
        _ => {
            let message = format!("`{text}` is no model");
            let help = "write `scripted` or a reference such as `openai/gpt-5.2`";
            cursor.report(cursor.finding(message).help(help));
            None
        }
    }
}
