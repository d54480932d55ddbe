//! A provider of models, whatever it speaks: the request on its way, the reply whole or in pieces.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream as futures;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, Url};
use serde_json::{Map as JsonMap, Value as Json};
use tokio::sync::Semaphore;

use crate::backend::limit;
use crate::backend::secret::Secrets;
use crate::backend::wire::{self, Bounds, Failure, Peer, Wire};
use crate::ir::ErrorKind;
use crate::run::model::{CallContext, ChatModel, ChatRequest, ChatStream, ModelError};

use super::form::Form;
use super::protocol::Protocol;
use super::reply_parts::{ReplyParts, unreadable};
use super::shape::foreign;
use super::{anthropic, gemini, openai, responses, stream};
use crate::project::spec::provider::{ApiKey, Kind, Settings};

/// Most bytes of a reply that comes whole: it is parsed at once, on a thread that others need.
pub(super) const LIMIT: usize = 16 << 20;

/// Serves all models of a provider.
pub struct Provider {
    pub(super) settings: Settings,
    secrets: Secrets,
    pub(super) protocol: &'static dyn Protocol,
    wire: Arc<Wire>,
    places: Option<Arc<Semaphore>>,
}

fn protocol(kind: Kind) -> &'static dyn Protocol {
    match kind {
        Kind::OpenAi => &openai::ChatCompletions,
        Kind::OpenAiResponses => &responses::Responses,
        Kind::Anthropic => &anthropic::Messages,
        Kind::Gemini => &gemini::GenerateContent,
    }
}

impl Provider {
    /// A provider over a shared client. Nothing is sent before the first call.
    pub fn new(settings: Settings, wire: Arc<Wire>) -> Self {
        let mut secrets = Secrets::default();
        settings.add_secrets(&mut secrets);
        Self {
            places: settings.max_concurrency.map(limit::places),
            protocol: protocol(settings.kind),
            settings,
            secrets,
            wire,
        }
    }

    /// What it is called, and must not be told.
    pub(super) fn peer(&self) -> Peer<'_> {
        Peer {
            name: &self.settings.name,
            secrets: &self.secrets,
        }
    }

    /// The request without its body.
    pub(super) fn request(
        &self,
        method: Method,
        path: &str,
        idempotency_key: &str,
    ) -> Result<RequestBuilder, Failure> {
        let refused = |why: String| Failure::new(ErrorKind::InvalidRequest, why);
        let name = &self.settings.name;
        let mut url = Url::parse(&format!("{}/{path}", self.settings.base_url))
            .map_err(|error| refused(format!("`base_url` of `{name}` is no address: {error}")))?;
        for (name, value) in &self.settings.query {
            url.query_pairs_mut().append_pair(name, value);
        }
        let mut headers = HeaderMap::new();
        let mut set = |name: &str, value: &str| {
            let (name, value) = (
                HeaderName::from_bytes(name.as_bytes()),
                HeaderValue::from_str(value),
            );
            if let (Ok(name), Ok(mut value)) = (name, value) {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        };
        for (name, value) in self.protocol.headers() {
            set(name, value);
        }
        match &self.settings.api_key {
            ApiKey::None => {}
            ApiKey::Given(key) => {
                let (header, value) = self.protocol.key(key);
                if HeaderValue::from_str(&value).is_err() {
                    let message = format!(
                        "the key of `{name}` can't be a header: it holds a control character"
                    );
                    return Err(Failure::new(ErrorKind::Auth, message));
                }
                set(header, &value);
            }
            ApiKey::Missing(variable) => {
                let message = format!(
                    "`{name}` needs a key: the environment variable `{variable}` is not set"
                );
                return Err(Failure::new(ErrorKind::Auth, message));
            }
        }
        if !idempotency_key.is_empty() {
            set("Idempotency-Key", &wire::key(idempotency_key));
        }
        for (name, value) in &self.settings.headers {
            set(name, value.reveal());
        }
        Ok(self.wire.client()?.request(method, url).headers(headers))
    }

    /// Places among its calls at the same time; `None` where there may be any number. Whoever calls it takes one.
    pub fn places(&self) -> Option<&Arc<Semaphore>> {
        self.places.as_ref()
    }

    /// Says in the failure of a request whose key was refused where that key is from.
    fn with_key(&self, mut failure: Failure) -> Failure {
        if failure.kind != ErrorKind::Auth {
            return failure;
        }
        let Settings { name, kind, .. } = &self.settings;
        let own = self.settings.base_url == kind.base_url();
        let key = match &self.settings.api_key {
            ApiKey::None | ApiKey::Missing(_) => {
                format!("the provider `{name}` has no `api_key` in graphc.yaml")
            }
            ApiKey::Given(_) if own => format!(
                "its key is `api_key` of the provider `{name}` in graphc.yaml, else the variable `{}`",
                kind.key_variable()
            ),
            ApiKey::Given(_) => {
                format!("its key is `api_key` of the provider `{name}` in graphc.yaml")
            }
        };
        failure.message.push_str(&format!("; {key}"));
        failure
    }

    async fn ask(&self, mut request: ChatRequest, cx: &CallContext) -> Result<ChatStream, Failure> {
        let dialect = self.protocol.dialect();
        let form = Form::of(&mut request, self.settings.structured, dialect);
        let mut body = self
            .protocol
            .body(&request, form.as_ref(), &self.settings)?;
        overlay(&mut body, &self.settings.extra_body);
        let path = self.protocol.path(&request);
        let post = self.request(Method::POST, &path, &cx.idempotency_key)?;
        let post = post.json(&body);
        let bounds = Bounds::new(cx, self.settings.timeout);
        let accepted = match request.stream {
            true => "text/event-stream",
            false => "application/json",
        };
        let sent = wire::send(post.header(ACCEPT, accepted), self.peer(), &bounds);
        let idle = self.settings.idle_timeout.filter(|_| request.stream);
        let response = match idle {
            None => sent.await,
            Some(idle) => tokio::time::timeout(idle, sent)
                .await
                .unwrap_or_else(|_| Err(Failure::silent(&self.settings.name, idle))),
        };
        let response = response.map_err(|failure| self.with_key(failure))?;
        let mut reply_parts = ReplyParts::new(form.as_ref());
        let mut reader = self.protocol.reader(&request);
        // Some servers answer as a whole although a stream was asked for.
        if request.stream && !is_whole(&response) {
            let events = wire::events(response, self.peer(), bounds, idle);
            return Ok(stream::deltas(
                events,
                reader,
                reply_parts,
                self.settings.kind,
            ));
        }
        let bytes = wire::body(response, LIMIT, self.peer(), &bounds).await?;
        let json = whole(&bytes, self.peer())?;
        let read = reader.whole(&json, self.peer(), &mut reply_parts);
        read.map_err(|failure| foreign(&json, self.settings.kind, self.peer()).unwrap_or(failure))?;
        reader.close(&mut reply_parts);
        // What was used counts also where the model refused.
        let refused = reply_parts.finish(self.peer()).err();
        let deltas = std::iter::from_fn(move || reply_parts.pop()).map(Ok);
        let refused = refused.map(|failure| Err(failure.into()));
        Ok(Box::pin(futures::iter(deltas.chain(refused))))
    }
}

/// Whether a reply is no stream of events: JSON, or a page.
fn is_whole(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
    kind.starts_with("application/json") || kind.starts_with("text/html")
}

/// Reads a reply that came whole.
fn whole(bytes: &[u8], peer: Peer<'_>) -> Result<Json, Failure> {
    let json: Json = serde_json::from_slice(bytes).map_err(|error| {
        let begins = peer.excerpt(&String::from_utf8_lossy(bytes));
        match begins.as_str() {
            "" => unreadable(peer, "it is empty"),
            page if page.starts_with('<') => {
                let message = format!(
                    "`{}` answered with a page, not with a reply; is its `base_url` right? It begins: {page}",
                    peer.name
                );
                Failure::server(message)
            }
            begins => unreadable(peer, &format!("{error}; it begins: {begins}")),
        }
    })?;
    match json.get("error").is_some_and(|error| !error.is_null()) {
        true => Err(Failure::reported(peer, &json)),
        false => Ok(json),
    }
}

/// Puts fields over those of a body: objects entry by entry, `null` takes a field out.
fn overlay(body: &mut JsonMap<String, Json>, over: &JsonMap<String, Json>) {
    for (name, value) in over {
        match (body.get_mut(name), value) {
            (_, Json::Null) => {
                body.remove(name);
            }
            (Some(Json::Object(inner)), Json::Object(over)) => overlay(inner, over),
            _ => {
                body.insert(name.clone(), value.clone());
            }
        }
    }
}

#[async_trait]
impl ChatModel for Provider {
    async fn stream(
        &self,
        request: ChatRequest,
        cx: &CallContext,
    ) -> Result<ChatStream, ModelError> {
        Ok(self.ask(request, cx).await?)
    }

    fn served_by<'m>(&'m self, model: &'m str) -> Option<(&'m str, &'m str)> {
        Some((self.settings.kind.word(), model))
    }
}
