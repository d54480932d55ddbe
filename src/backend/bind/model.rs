//! Models and their providers.

use std::sync::Arc;

use async_trait::async_trait;

use crate::backend::limit::{Limited, MODEL_TIMEOUT};
use crate::backend::llm::Provider;
use crate::backend::mask;
use crate::base::{Span, name};
use crate::diag::{Diagnostic, codes};
use crate::ir::{Flow, Model};
use crate::project::config::ModelBinding;
use crate::run::model::{CallContext, ChatModel, ChatRequest, ChatStream, ModelError};

use super::Binding;

impl Binding<'_> {
    /// What serves a model, without secrets in its words.
    pub(super) fn model(&mut self, flow: &Flow, model: &Model) -> Option<Arc<dyn ChatModel>> {
        let serves = self.unmasked_model(flow, model)?;
        Some(mask::model(serves, &self.secrets))
    }

    fn unmasked_model(&mut self, flow: &Flow, model: &Model) -> Option<Arc<dyn ChatModel>> {
        if let Some(given) = self.given.and_then(|given| given.model(&model.name)) {
            return Some(given);
        }
        let Some(script) = self.script else {
            return self.bound_model(flow, model);
        };
        let real = match script.scenario().recorded && script.is_recording() {
            true => Some(self.bound_model(flow, model)?),
            false => None,
        };
        Some(script.model(real))
    }

    /// What graphc.yaml says of a model.
    fn bound_model(&mut self, flow: &Flow, model: &Model) -> Option<Arc<dyn ChatModel>> {
        let Some(entry) = self.config.model(&model.name) else {
            let provider = self.provider(&model.provider, model, None, flow)?;
            return Some(self.bounded(provider, &model.provider));
        };
        match &entry.value {
            ModelBinding::Scripted => {
                let profile = self.config.profile.as_deref();
                let profile = profile.map_or(String::new(), |name| format!(" in profile `{name}`"));
                let message = format!("the models are scripted{profile}, and there is no scenario");
                let help = "run with `--scenario NAME`, or with another `--profile`";
                self.report(entry.span, message, help.to_owned());
                None
            }
            ModelBinding::Other {
                provider,
                model: other,
            } => {
                let renamed = Arc::new(Renamed {
                    provider: self.provider(provider, model, entry.span, flow)?,
                    model: other.clone(),
                });
                Some(self.bounded(renamed, provider))
            }
        }
    }

    /// Reports settings of a model that its provider has no way to say.
    pub(super) fn unsayable(&mut self, model: &Model) {
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

    /// A provider's model, with a place for each of its requests and a bound in time.
    fn bounded(&self, model: Arc<dyn ChatModel>, provider: &str) -> Arc<dyn ChatModel> {
        let entry = self.config.providers.get(provider);
        let timeout = entry.and_then(|entry| entry.value.timeout);
        let own = self.providers.get(provider);
        let own = own.and_then(|provider| provider.places().cloned());
        let timeouts = (timeout, MODEL_TIMEOUT);
        Arc::new(Limited::new(model, own, &self.places.requests, timeouts))
    }

    pub(super) fn provider(
        &mut self,
        name: &str,
        model: &Model,
        span: Option<Span>,
        flow: &Flow,
    ) -> Option<Arc<Provider>> {
        if let Some(made) = self.reached(name) {
            return Some(made);
        }
        if !self.config.providers.contains_key(name) {
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
            let message = format!(
                "nothing says how to reach the provider `{name}` of model `{model}`{place}"
            );
            // A check says it where the provider is named.
            if span.is_none() || self.declared.is_none() {
                self.report(span, message, help);
            }
        }
        None
    }

    /// A provider that the settings describe, made once.
    pub(super) fn reached(&mut self, name: &str) -> Option<Arc<Provider>> {
        if let Some(made) = self.providers.get(name) {
            return Some(Arc::clone(made));
        }
        let entry = self.config.providers.get(name)?;
        self.variables(&entry.missing);
        let made = Arc::new(Provider::new(entry.value.clone(), Arc::clone(&self.wire)));
        self.providers.insert(name.to_owned(), Arc::clone(&made));
        Some(made)
    }
}

/// A model of another name than the flow gives.
struct Renamed {
    provider: Arc<Provider>,
    model: String,
}

#[async_trait]
impl ChatModel for Renamed {
    async fn stream(
        &self,
        mut request: ChatRequest,
        cx: &CallContext,
    ) -> Result<ChatStream, ModelError> {
        request.model.clone_from(&self.model);
        self.provider.stream(request, cx).await
    }

    fn served_by<'m>(&'m self, _: &'m str) -> Option<(&'m str, &'m str)> {
        self.provider.served_by(&self.model)
    }
}
