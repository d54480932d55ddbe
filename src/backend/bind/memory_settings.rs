//! How long-term memory works, as `graphc.yaml` says.

use std::sync::Arc;

use crate::backend::llm::openai::Embeddings;
use crate::project::config::no_vectors;
use crate::project::config::{EmbedSpec, unknown_provider};
use crate::project::spec::provider::Kind;
use crate::run::memory::{self, Embedding};

use super::Binding;

impl Binding<'_> {
    /// How long-term memory works, read once.
    pub(super) fn memory(&mut self) -> Option<Arc<memory::Settings>> {
        if let Some(given) = self.given.and_then(|given| given.memory.as_ref()) {
            return Some(Arc::clone(given));
        }
        if let Some(known) = &self.memory {
            return known.clone();
        }
        let made = self.read_memory().map(Arc::new);
        self.memory = Some(made.clone());
        made
    }

    fn read_memory(&mut self) -> Option<memory::Settings> {
        let Some(entry) = &self.config.memory else {
            return Some(memory::Settings::default());
        };
        self.variables(&entry.missing);
        let spec = &entry.value;
        let embedding = match &spec.embed {
            None => None,
            Some(embed) => Some(self.embedding(embed)?),
        };
        Some(memory::Settings {
            embedding,
            ttl: spec.ttl,
            refresh_on_read: spec.refresh_on_read,
        })
    }

    fn embedding(&mut self, embed: &EmbedSpec) -> Option<Embedding> {
        let name = embed.provider.as_str();
        let kind = self
            .config
            .providers
            .get(name)
            .map(|entry| entry.value.kind);
        if let Some(kind) = kind.filter(|kind| matches!(kind, Kind::Anthropic | Kind::Gemini)) {
            self.found.push(no_vectors(embed, kind));
            return None;
        }
        let Some(provider) = self.reached(name) else {
            self.found.push(unknown_provider(embed, self.config));
            return None;
        };
        let model = embed.model.as_str();
        Some(Embedding {
            embedder: Arc::new(Embeddings::new(provider, model, embed.dimensions)),
            fields: embed.fields.clone(),
        })
    }
}
