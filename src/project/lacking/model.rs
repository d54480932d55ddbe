//! Models and their providers.

use crate::base::{Span, name};
use crate::diag::{Diagnostic, codes};
use crate::ir::{Flow, Model};
use crate::project::config::ModelBinding;

use super::Lacking;

impl Lacking<'_> {
    /// What a model lacks that no scenario plays.
    pub fn model(&mut self, flow: &Flow, model: &Model) {
        let brought = self
            .brings
            .is_some_and(|brings| brings.brings_model(&model.name));
        if brought {
            return;
        }
        let Some(entry) = self.config.model(&model.name) else {
            self.provider_of(&model.provider, model, None, flow);
            return;
        };
        match &entry.value {
            ModelBinding::Scripted => {
                let profile = self.config.profile.as_deref();
                let profile = profile.map_or(String::new(), |name| format!(" in profile `{name}`"));
                let message = format!("the models are scripted{profile}, and there is no scenario");
                let help = "run with `--scenario NAME`, or with another `--profile`";
                self.report(entry.span, message, help.to_owned());
            }
            ModelBinding::Other { provider, .. } => {
                self.provider_of(provider, model, entry.span, flow);
            }
        }
    }

    /// Reports settings of a model that its provider has no way to say.
    pub fn unsayable(&mut self, model: &Model) {
        let provider = match self.config.model(&model.name).map(|entry| &entry.value) {
            Some(ModelBinding::Other { provider, .. }) => provider,
            _ => &model.provider,
        };
        let Some(entry) = self.config.providers.get(provider) else {
            return;
        };
        let (kind, name) = (entry.value.kind, &model.name);
        let settings = [
            ("thinking_budget", model.thinking_budget.is_some()),
            ("seed", model.seed.is_some()),
        ];
        for (setting, set) in settings {
            if !set || !kind.lacks().contains(&setting) {
                continue;
            }
            let message = format!(
                "model `{name}` has `{setting}`, which provider `{provider}` (kind `{}`) has no way to say: it is left out",
                kind.word()
            );
            let place = self.declared.and_then(|place| place(&model.at, name));
            let span = place.unwrap_or_default();
            let mut finding = Diagnostic::new(&codes::MODEL_LACKS, message, span);
            if place.is_none() {
                finding.labels.clear();
            }
            self.found.push(finding);
        }
    }

    /// The provider of a model; `span` is where the settings name it.
    pub fn provider_of(&mut self, name: &str, model: &Model, span: Option<Span>, flow: &Flow) {
        if self.provider(name) {
            return;
        }
        let known = || self.config.providers.keys().map(String::as_str);
        let help = name::did_you_mean(name, known()).unwrap_or_else(|| {
            format!(
                "describe it under `providers` in graphc.yaml, as in `{name}: {{ kind: openai, base_url: \"https://..\", api_key: \"${{{}_API_KEY}}\" }}`; there is {}",
                name.to_uppercase().replace('-', "_"),
                name::list(known())
            )
        });
        let file = flow.files.get(model.at.file as usize);
        let place = match (span, file) {
            (None, Some(file)) if model.at.line > 0 => format!(" ({file}:{})", model.at.line),
            _ => String::new(),
        };
        let model = &model.name;
        let message =
            format!("nothing says how to reach the provider `{name}` of model `{model}`{place}");
        // A check says it where the provider is named.
        if span.is_none() || self.declared.is_none() {
            self.report(span, message, help);
        }
    }

    /// A provider, once: `false` where the settings do not describe it.
    pub fn provider(&mut self, name: &str) -> bool {
        let Some(entry) = self.config.providers.get(name) else {
            return false;
        };
        if self.seen.providers.insert(name.to_owned()) {
            self.variables(&entry.missing);
        }
        true
    }
}
