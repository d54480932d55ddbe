//! OpenAI's chat completions, and every server that speaks them: Ollama, vLLM, llama.cpp, OpenRouter,
//! Azure.
//!
//! [`request`] writes what is asked, [`messages`] the conversation in it, [`reply`] reads a reply that
//! comes whole, [`stream`] one that comes in pieces, [`calls`] puts tool calls together. [`embeddings`] has texts turned into vectors.

mod calls;
mod embeddings;
pub mod messages;
mod reply;
mod request;
mod stream;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream as futures;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde_json::{Map as JsonMap, Value as Json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub use embeddings::Embeddings;

use crate::backend::secret::{Secret, Secrets};
use crate::backend::wire::{self, Bounds, Failure, Peer, Wire};
use crate::ir::ErrorKind;
use crate::run::model::{CallContext, ChatModel, ChatRequest, ChatStream, ModelError};

/// Where OpenAI itself is.
pub const OPENAI_URL: &str = "https://api.openai.com/v1";

/// Most bytes of a reply that comes whole.
const LIMIT: usize = 64 << 20;

/// Where the key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiKey {
    /// The server wants none.
    None,
    /// This one.
    Given(Secret),
    /// This environment variable should hold it and doesn't; a call fails and says so.
    Missing(String),
}

/// How the form of a structured reply is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Structured {
    /// `response_format: json_schema`: the server keeps the reply to the schema.
    #[default]
    JsonSchema,
    /// `response_format: json_object`, the schema in the system message.
    JsonObject,
    /// The schema in the system message only.
    Prompt,
}

/// How a provider is reached: an entry of `providers` in `graphc.yaml`.
#[derive(Clone, PartialEq)]
pub struct Settings {
    /// Its name there.
    pub name: String,
    /// What `/chat/completions` and `/embeddings` are appended to, without a slash at the end.
    pub base_url: String,
    /// Key.
    pub api_key: ApiKey,
    /// Headers besides, such as `OpenAI-Organization`. May hold keys.
    pub headers: Vec<(String, Secret)>,
    /// Longest time of one call.
    pub timeout: Option<Duration>,
    /// Longest silence of a reply that comes in pieces, before its first piece too. Each piece begins it anew.
    pub idle_timeout: Option<Duration>,
    /// Most calls at the same time, each to the end of its reply.
    pub max_concurrency: Option<usize>,
    /// Name of the field for the most tokens: `max_completion_tokens` at OpenAI, `max_tokens` elsewhere.
    pub max_tokens_field: String,
    /// How the form of a structured reply is asked for.
    pub structured: Structured,
    /// Fields put into every request for a reply, over those that it has by itself.
    pub extra_body: JsonMap<String, Json>,
    /// What else must not be told.
    pub secrets: Secrets,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            base_url,
            api_key,
            headers,
            timeout,
            idle_timeout: idle,
            ..
        } = self;
        let (most, field, way) = (
            self.max_concurrency,
            &self.max_tokens_field,
            self.structured,
        );
        let text = format!(
            "{name} at {base_url}, {api_key:?}, {headers:?}, {timeout:?}, {most:?}, {field}, {way:?}, {:?}",
            self.extra_body
        );
        let text = match idle {
            Some(idle) => format!("{text}, idle {idle:?}"),
            None => text,
        };
        f.write_str(&self.secrets.scrub(&text))
    }
}

impl Settings {
    /// A provider of that name at that address, without a key.
    pub fn new(name: impl Into<String>, base_url: &str) -> Self {
        let base_url = base_url.trim_end_matches('/');
        let own = base_url == OPENAI_URL;
        Self {
            name: name.into(),
            base_url: base_url.to_owned(),
            api_key: ApiKey::None,
            headers: Vec::new(),
            timeout: None,
            idle_timeout: None,
            max_concurrency: None,
            max_tokens_field: match own {
                true => "max_completion_tokens".to_owned(),
                false => "max_tokens".to_owned(),
            },
            structured: Structured::default(),
            extra_body: JsonMap::new(),
            secrets: Secrets::default(),
        }
    }
}

/// A provider that speaks chat completions; serves all of its models.
pub struct OpenAi {
    settings: Settings,
    secrets: Secrets,
    wire: Arc<Wire>,
    slots: Option<Arc<Semaphore>>,
}

impl OpenAi {
    /// A provider over a shared client. Nothing is sent before the first call.
    pub fn new(settings: Settings, wire: Arc<Wire>) -> Self {
        let mut secrets = settings.secrets.clone();
        secrets.extend(settings.headers.iter().map(|(_, value)| value));
        if let ApiKey::Given(key) = &settings.api_key {
            secrets.add(key);
        }
        let slots = settings.max_concurrency;
        Self {
            slots: slots.map(|most| Arc::new(Semaphore::new(most.max(1)))),
            settings,
            secrets,
            wire,
        }
    }

    fn peer(&self) -> Peer<'_> {
        Peer {
            name: &self.settings.name,
            secrets: &self.secrets,
        }
    }

    /// The request without its body.
    fn post(&self, path: &str, cx: &CallContext) -> Result<reqwest::RequestBuilder, Failure> {
        let url = format!("{}/{path}", self.settings.base_url);
        let mut post = self.wire.client()?.post(url);
        match &self.settings.api_key {
            ApiKey::None => {}
            ApiKey::Given(key) => post = post.bearer_auth(key.reveal()),
            ApiKey::Missing(variable) => {
                return Err(Failure::new(
                    ErrorKind::Auth,
                    format!(
                        "`{}` needs a key: the environment variable `{variable}` is not set",
                        self.settings.name
                    ),
                ));
            }
        }
        if !cx.idempotency_key.is_empty() {
            post = post.header("Idempotency-Key", &*wire::key(&cx.idempotency_key));
        }
        for (name, value) in &self.settings.headers {
            post = post.header(name, value.reveal());
        }
        Ok(post)
    }

    /// A place among the calls at the same time, kept until it is dropped; `None` where there may be any number. Waiting for one
    /// is no time of the call, nor of its node.
    async fn slot(&self, cx: &CallContext) -> Result<Option<OwnedSemaphorePermit>, Failure> {
        let Some(slots) = &self.slots else {
            return Ok(None);
        };
        if let Ok(free) = slots.clone().try_acquire_owned() {
            return Ok(Some(free));
        }
        let _waits = cx.waits.begin();
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => Err(Failure::cancelled().unsent()),
            // The semaphore is never closed, so there is always a slot in the end.
            slot = slots.clone().acquire_owned() => Ok(slot.ok()),
        }
    }

    async fn ask(&self, request: ChatRequest, cx: &CallContext) -> Result<ChatStream, Failure> {
        let body = request::body(&request, &self.settings)?;
        let post = self.post("chat/completions", cx)?.json(&body);
        let slot = self.slot(cx).await?;
        let bounds = Bounds::new(cx, self.settings.timeout);
        let accepted = match request.stream {
            true => "text/event-stream",
            false => "application/json",
        };
        let sent = wire::send(post.header(ACCEPT, accepted), self.peer(), &bounds);
        let idle = self.settings.idle_timeout.filter(|_| request.stream);
        let response = match idle {
            None => sent.await?,
            Some(idle) => tokio::time::timeout(idle, sent)
                .await
                .map_err(|_| Failure::silent(&self.settings.name, idle))??,
        };
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
        // Some servers answer as a whole although a stream was asked for.
        if request.stream && !kind.starts_with("application/json") {
            let events = wire::events(response, self.peer(), bounds, idle);
            return Ok(stream::deltas(events, slot));
        }
        let bytes = wire::body(response, LIMIT, self.peer(), &bounds).await?;
        let deltas = reply::read(&bytes, self.peer())?;
        Ok(Box::pin(futures::iter(deltas.into_iter().map(Ok))))
    }
}

#[async_trait]
impl ChatModel for OpenAi {
    async fn stream(
        &self,
        request: ChatRequest,
        cx: &CallContext,
    ) -> Result<ChatStream, ModelError> {
        Ok(self.ask(request, cx).await?)
    }
}
