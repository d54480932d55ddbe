//! What the settings of a project settle: findings about a flow that are none where it is served so.

use crate::backend::config::{Config, ModelBinding, ToolSpec};
use crate::diag::{Diagnostic, codes};
use crate::ir::{Flow, Model, Tool};

/// Whether the settings make the finding moot. `name` is the text that it stands at.
pub fn settled(finding: &Diagnostic, name: &str, flow: &Flow, config: &Config) -> bool {
    if finding.code == &codes::UNKNOWN_PROVIDER {
        return config.providers.contains_key(name);
    }
    if finding.code != &codes::MISSING_TIMEOUT {
        return false;
    }
    let tool = flow.tools.iter().find(|tool| tool.name == name);
    let model = flow.models.iter().find(|model| model.name == name);
    tool.is_some_and(|tool| tool_ends(tool, config))
        || model.is_some_and(|model| model_ends(model, config))
}

/// Whether calls of the tool are bounded by what serves it.
fn tool_ends(tool: &Tool, config: &Config) -> bool {
    let entry = config.tools.get(&tool.name);
    entry.is_some_and(|entry| match &entry.value {
        ToolSpec::Command(spec) => spec.timeout.is_some(),
        ToolSpec::Http(spec) => spec.timeout.is_some(),
        ToolSpec::Script(_) => true,
    })
}

/// Whether calls of the model are bounded by its provider.
fn model_ends(model: &Model, config: &Config) -> bool {
    let bound = config.model(&model.name).map(|entry| &entry.value);
    let provider = match bound {
        Some(ModelBinding::Other { provider, .. }) => provider,
        Some(ModelBinding::Scripted) | None => &model.provider,
    };
    let entry = config.providers.get(provider);
    entry.is_some_and(|entry| entry.value.timeout.is_some())
}
