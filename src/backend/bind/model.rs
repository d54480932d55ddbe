//! Models and their providers.

use std::sync::Arc;

use async_trait::async_trait;

use crate::backend::limit::{Limited, MODEL_TIMEOUT};
use crate::backend::llm::Provider;
use crate::backend::mask;
use crate::backend::scenario::Script;
use crate::ir::Model;
use crate::project::config::ModelBinding;
use crate::run::model::{CallContext, ChatModel, ChatRequest, ChatStream, ModelError};

use super::Binding;

impl Binding<'_> {
    /// Whether a scenario plays the models, so that they need no settings.
    pub(super) fn plays_models(&self) -> bool {
        let records = |script: &&Arc<Script>| script.scenario().recorded && script.is_recording();
        self.script.is_some_and(|script| !records(&script))
    }

    /// What serves a model, without secrets in its words.
    pub(super) fn model(&mut self, model: &Model) -> Option<Arc<dyn ChatModel>> {
        let serves = self.unmasked_model(model)?;
        Some(mask::model(serves, &self.secrets))
    }

    fn unmasked_model(&mut self, model: &Model) -> Option<Arc<dyn ChatModel>> {
        if let Some(given) = self.given.and_then(|given| given.model(&model.name)) {
            return Some(given);
        }
        let Some(script) = self.script else {
            return self.bound_model(model);
        };
        let real = match self.plays_models() {
            true => None,
            false => Some(self.bound_model(model)?),
        };
        Some(script.model(real))
    }

    /// What graphc.yaml says of a model.
    fn bound_model(&mut self, model: &Model) -> Option<Arc<dyn ChatModel>> {
        let Some(entry) = self.config.model(&model.name) else {
            let provider = self.provider(&model.provider)?;
            return Some(self.bounded(provider, &model.provider));
        };
        match &entry.value {
            ModelBinding::Scripted => None,
            ModelBinding::Other {
                provider,
                model: other,
            } => {
                let renamed = Arc::new(Renamed {
                    provider: self.provider(provider)?,
                    model: other.clone(),
                });
                Some(self.bounded(renamed, provider))
            }
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

    /// A provider that the settings describe, made once.
    pub(super) fn provider(&mut self, name: &str) -> Option<Arc<Provider>> {
        if let Some(made) = self.providers.get(name) {
            return Some(Arc::clone(made));
        }
        let entry = self.config.providers.get(name)?;
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
