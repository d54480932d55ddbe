//! What the settings of a project settle: findings about a flow that are none where it is served so.

use std::collections::BTreeSet;

use crate::backend::config::{Config, ModelBinding, ToolSpec};
use crate::diag::{Diagnostic, codes};
use crate::ir::{Flow, Model, Tool};

/// What the settings bound and describe of a flow.
pub struct Settled<'a> {
    config: &'a Config,
    /// Names of tools and models whose calls come to an end.
    bounded: BTreeSet<&'a str>,
}

impl<'a> Settled<'a> {
    /// Looks up all tools and models of a flow.
    pub fn new(flow: &'a Flow, config: &'a Config) -> Self {
        let tools = flow.tools.iter().filter(|tool| tool_ends(tool, config));
        let models = flow.models.iter().filter(|model| model_ends(model, config));
        let tools = tools.map(|tool| tool.name.as_str());
        Self {
            config,
            bounded: tools
                .chain(models.map(|model| model.name.as_str()))
                .collect(),
        }
    }

    /// Whether settings may have something to say of the finding.
    pub fn concerns(finding: &Diagnostic) -> bool {
        [&codes::UNKNOWN_PROVIDER, &codes::MISSING_TIMEOUT].contains(&finding.code)
    }

    /// Whether the finding is none with these settings. `name` is the text that it stands at.
    pub fn settles(&self, finding: &Diagnostic, name: &str) -> bool {
        if finding.code == &codes::UNKNOWN_PROVIDER {
            return self.config.providers.contains_key(name);
        }
        finding.code == &codes::MISSING_TIMEOUT && self.bounded.contains(name)
    }
}

/// Whether calls of the tool are bounded by what serves it.
fn tool_ends(tool: &Tool, config: &Config) -> bool {
    let entry = config.tools.get(&tool.name);
    entry.is_some_and(|entry| match &entry.value {
        ToolSpec::Command(spec) => spec.timeout.is_some(),
        ToolSpec::Http(spec) => spec.timeout.is_some(),
        ToolSpec::Graph(spec) => spec.timeout.is_some(),
        ToolSpec::Mcp(spec) => spec.timeout.is_some(),
        ToolSpec::Script(_) | ToolSpec::Sql(_) => true,
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
