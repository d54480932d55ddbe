//! Texts of a value, and what makes vectors of them.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value as Json;

use crate::ir::ErrorKind;
use crate::ir::memory::{FieldPath, all_texts};
use crate::run::model::CallContext;
use crate::run::tool::ToolError;

use super::vector;

/// Makes vectors of texts: what is alike in meaning is near. Object safe: a Rust program adds its own in a few lines.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// What tells its vectors from those of others: the model, and what else decides how they come out.
    fn name(&self) -> &str;

    /// A vector for each text, in their order, all equally long.
    ///
    /// # Errors
    /// By kind, as of a tool.
    async fn embed(&self, texts: &[String], cx: &CallContext) -> Result<Vec<Vec<f32>>, ToolError>;
}

/// An embedder and what it is given of a value.
#[derive(Clone)]
pub struct Embedding {
    /// What makes the vectors.
    pub embedder: Arc<dyn Embedder>,
    /// Where the texts of a value stand, each with a vector of its own; none for all of them as one text.
    pub fields: Vec<FieldPath>,
}

impl Embedding {
    /// Vectors of length 1 for the texts, in their order.
    ///
    /// # Errors
    /// Of the embedder; `InvalidOutput` where what it gives is not what it should.
    pub async fn vectors(
        &self,
        texts: &[String],
        cx: &CallContext,
    ) -> Result<Vec<Vec<f32>>, ToolError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let vectors = self.embedder.embed(texts, cx).await?;
        let wrong = |why: String| {
            let name = self.embedder.name();
            ToolError::new(ErrorKind::InvalidOutput, format!("`{name}` gave {why}"))
        };
        if vectors.len() != texts.len() {
            let (got, wanted) = (vectors.len(), texts.len());
            return Err(wrong(format!("{got} vectors for {wanted} texts")));
        }
        let length = vectors.first().map_or(0, Vec::len);
        if vectors.iter().any(|vector| vector.len() != length) {
            return Err(wrong("vectors of different lengths".to_owned()));
        }
        let units = vectors.into_iter().map(vector::unit);
        units.collect::<Result<_, _>>().map_err(wrong)
    }

    /// The texts of a value that get a vector.
    pub fn texts(&self, value: &Json) -> Vec<String> {
        let mut texts = Vec::new();
        if self.fields.is_empty() {
            texts.extend(all_texts(value));
            return texts;
        }
        for field in &self.fields {
            field.find(value, &mut texts);
        }
        texts
    }
}
