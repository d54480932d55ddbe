//! Texts of a value, and what makes vectors of them.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value as Json;

use crate::ir::ErrorKind;
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
            let mut all = Vec::new();
            collect(value, &mut all);
            if !all.is_empty() {
                texts.push(all.join("\n"));
            }
            return texts;
        }
        for field in &self.fields {
            field.find(value, &mut texts);
        }
        texts
    }
}

/// Every text in a value, fields in the order of their names.
fn collect(value: &Json, texts: &mut Vec<String>) {
    match value {
        Json::String(text) if !text.trim().is_empty() => texts.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Json::Object(entries) => entries.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}

/// Where texts stand in a value: `title`, `author.name`, `parts[*].text`, `parts[0].text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Name(String),
    Index(usize),
    All,
}

impl FieldPath {
    /// Reads one; `None` where it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        for piece in text.split('.') {
            let (name, mut rest) = match piece.find('[') {
                Some(at) => piece.split_at_checked(at)?,
                None => (piece, ""),
            };
            if name.is_empty() {
                return None;
            }
            parts.push(Part::Name(name.to_owned()));
            while !rest.is_empty() {
                let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
                parts.push(match index {
                    "*" => Part::All,
                    index => Part::Index(index.parse().ok()?),
                });
                rest = after;
            }
        }
        Some(Self(parts))
    }

    fn find(&self, value: &Json, texts: &mut Vec<String>) {
        let mut found = vec![value];
        for part in &self.0 {
            found = found
                .into_iter()
                .flat_map(|value| match part {
                    Part::Name(name) => value.get(name).into_iter().collect::<Vec<_>>(),
                    Part::Index(index) => value.get(index).into_iter().collect(),
                    Part::All => value.as_array().into_iter().flatten().collect(),
                })
                .collect();
        }
        for value in found {
            let mut all = Vec::new();
            collect(value, &mut all);
            if !all.is_empty() {
                texts.push(all.join("\n"));
            }
        }
    }
}
