//! Long-term memory.

use crate::project::config::{EmbedSpec, no_vectors, unknown_provider};
use crate::project::spec::provider::Kind;

use super::Lacking;

impl Lacking<'_> {
    /// How long-term memory works, once.
    pub fn memory(&mut self) {
        let brought = self.brings.is_some_and(|brings| brings.brings_memory());
        if brought || std::mem::replace(&mut self.memory, true) {
            return;
        }
        let Some(entry) = &self.config.memory else {
            return;
        };
        self.variables(&entry.missing);
        if let Some(embed) = &entry.value.embed {
            self.embedding(embed);
        }
    }

    fn embedding(&mut self, embed: &EmbedSpec) {
        let name = embed.provider.as_str();
        let kind = self
            .config
            .providers
            .get(name)
            .map(|entry| entry.value.kind);
        if let Some(kind) = kind.filter(|kind| matches!(kind, Kind::Anthropic | Kind::Gemini)) {
            self.found.push(no_vectors(embed, kind));
        } else if !self.provider(name) {
            self.found.push(unknown_provider(embed, self.config));
        }
    }
}
