//! Texts turned into vectors: `POST /embeddings`.

use std::sync::Arc;

use async_trait::async_trait;
use reqwest::Method;
use reqwest::header::ACCEPT;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::backend::limit;
use crate::backend::wire::{self, Bounds, Failure};
use crate::ir::ErrorKind;
use crate::run::memory::Embedder;
use crate::run::model::CallContext;
use crate::run::tool::ToolError;

use crate::backend::llm::provider::{LIMIT, Provider};

/// Most texts of one request.
const BATCH: usize = 256;

/// A model of a provider that makes vectors of texts.
pub struct Embeddings {
    provider: Arc<Provider>,
    model: String,
    dimensions: Option<usize>,
    name: String,
}

impl Embeddings {
    /// The model of that name. `dimensions` asks for vectors of so many numbers.
    pub fn new(
        provider: Arc<Provider>,
        model: impl Into<String>,
        dimensions: Option<usize>,
    ) -> Self {
        let model = model.into();
        let name = match dimensions {
            Some(dimensions) => format!("{model}@{dimensions}"),
            None => model.clone(),
        };
        Self {
            provider,
            model,
            dimensions,
            name,
        }
    }

    async fn batch(&self, texts: &[String], cx: &CallContext) -> Result<Vec<Vec<f32>>, Failure> {
        let provider = &self.provider;
        let mut body = json!({ "model": self.model, "input": texts, "encoding_format": "float" });
        if let (Some(dimensions), Some(body)) = (self.dimensions, body.as_object_mut()) {
            body.insert("dimensions".to_owned(), json!(dimensions));
        }
        let post = provider.request(Method::POST, "embeddings", &cx.idempotency_key)?;
        let post = post.json(&body);
        let _place = match provider.places() {
            None => None,
            Some(places) => {
                let place = limit::take(places, cx).await;
                Some(place.ok_or_else(|| Failure::cancelled().unsent())?)
            }
        };
        let bounds = Bounds::new(cx, provider.settings.timeout);
        let post = post.header(ACCEPT, "application/json");
        let response = wire::send(post, provider.peer(), &bounds).await?;
        let bytes = wire::body(response, LIMIT, provider.peer(), &bounds).await?;
        self.read(&bytes, texts.len())
    }

    fn read(&self, bytes: &[u8], count: usize) -> Result<Vec<Vec<f32>>, Failure> {
        let peer = self.provider.peer();
        let wrong = |why: String| {
            let message = format!("`{}` answered what is no list of vectors: {why}", peer.name);
            Failure::new(ErrorKind::InvalidOutput, message)
        };
        let json: Json = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        if json.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Failure::reported(peer, &json));
        }
        let reply = Reply::deserialize(json).map_err(|error| wrong(error.to_string()))?;
        if reply.data.len() != count {
            let got = reply.data.len();
            return Err(wrong(format!("{got} of them for {count} texts")));
        }
        let mut vectors = vec![None; count];
        for (position, one) in reply.data.into_iter().enumerate() {
            let index = one.index.unwrap_or(position);
            if self
                .dimensions
                .is_some_and(|wanted| wanted != one.embedding.len())
            {
                let (got, wanted) = (one.embedding.len(), self.dimensions.unwrap_or_default());
                return Err(wrong(format!("{got} numbers in one, not {wanted}")));
            }
            match vectors.get_mut(index) {
                Some(place @ None) => *place = Some(one.embedding),
                Some(Some(_)) => return Err(wrong(format!("two for text {index}"))),
                None => return Err(wrong(format!("one for text {index}, of {count}"))),
            }
        }
        // As many as places, none twice: each has one.
        Ok(vectors.into_iter().flatten().collect())
    }
}

#[derive(Deserialize)]
struct Reply {
    data: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    /// Which text it is of; that of its place where a server leaves it out.
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[async_trait]
impl Embedder for Embeddings {
    fn name(&self) -> &str {
        &self.name
    }

    async fn embed(&self, texts: &[String], cx: &CallContext) -> Result<Vec<Vec<f32>>, ToolError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for (index, batch) in texts.chunks(BATCH).enumerate() {
            // Each request is another one, whatever the call.
            let key = match cx.idempotency_key.as_str() {
                "" => String::new(),
                key => format!("{key}/embeddings@{index}"),
            };
            let cx = CallContext {
                idempotency_key: key,
                ..cx.clone()
            };
            vectors.extend(self.batch(batch, &cx).await?);
        }
        Ok(vectors)
    }
}
