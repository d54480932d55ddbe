//! How long-term memory works, as `graphc.yaml` says.

use std::sync::Arc;

use crate::backend::llm::openai::Embeddings;
use crate::project::config::EmbedSpec;
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
        let entry = self.config.providers.get(&embed.provider)?;
        if matches!(entry.value.kind, Kind::Anthropic | Kind::Gemini) {
            return None;
        }
        let provider = self.provider(&embed.provider)?;
        let model = embed.model.as_str();
        Some(Embedding {
            embedder: Arc::new(Embeddings::new(provider, model, embed.dimensions)),
            fields: embed.fields.clone(),
        })
    }
}
