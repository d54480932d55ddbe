//! Backends whose words are cleaned of secrets: what models say and tools give is kept in threads and shown to people.
//!
//! [`model`] and [`tool`] put a mask before a backend: whatever comes out of it (texts, arguments of calls, results, reports,
//! errors) has `***` in place of the settings' secrets and of those that the run was given.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream;
use serde_json::Value as Json;

use crate::base::secret::{Secrets, Words};
use crate::run::model::{
    CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, ModelError, ToolCallRequest,
};
use crate::run::probe::Probed;
use crate::run::report::Reports;
use crate::run::tool::{Permit, ToolBackend, ToolCall, ToolError};

/// A model whose words are masked.
pub fn model(inner: Arc<dyn ChatModel>, secrets: &Arc<Secrets>) -> Arc<dyn ChatModel> {
    let secrets = Arc::clone(secrets);
    Arc::new(Masked { inner, secrets })
}

/// A tool whose results, reports and errors are masked.
pub fn tool(inner: Arc<dyn ToolBackend>, secrets: &Arc<Secrets>) -> Arc<dyn ToolBackend> {
    let secrets = Arc::clone(secrets);
    Arc::new(Masked { inner, secrets })
}

struct Masked<T: ?Sized> {
    inner: Arc<T>,
    secrets: Arc<Secrets>,
}

#[async_trait]
impl ChatModel for Masked<dyn ChatModel> {
    fn served_by<'m>(&'m self, model: &'m str) -> Option<(&'m str, &'m str)> {
        self.inner.served_by(model)
    }

    async fn stream(
        &self,
        request: ChatRequest,
        cx: &CallContext,
    ) -> Result<ChatStream, ModelError> {
        let secrets = cx.secrets.beside(&self.secrets);
        let opened = self.inner.stream(request, cx).await;
        let stream = opened.map_err(|error| masked_error(error, &secrets))?;
        if secrets.is_empty() {
            return Ok(stream);
        }
        let said = MaskedReply {
            text: secrets.words(),
            thought: secrets.words(),
            ready: VecDeque::new(),
            secrets,
        };
        Ok(Box::pin(stream::unfold(
            (stream.fuse(), said),
            |(mut stream, mut said)| async move {
                loop {
                    if let Some(delta) = said.ready.pop_front() {
                        return Some((delta, (stream, said)));
                    }
                    match stream.next().await {
                        Some(delta) => said.add(delta),
                        None if said.is_done() => return None,
                        None => said.rest(),
                    }
                }
            },
        )))
    }
}

fn masked_error(error: ModelError, secrets: &Secrets) -> ModelError {
    ModelError {
        message: secrets.scrub(&error.message),
        ..error
    }
}

/// A reply on its way through the mask.
struct MaskedReply {
    secrets: Arc<Secrets>,
    text: Words,
    thought: Words,
    ready: VecDeque<Result<ChatDelta, ModelError>>,
}

impl MaskedReply {
    fn add(&mut self, delta: Result<ChatDelta, ModelError>) {
        let delta = match delta {
            Ok(ChatDelta::Text(piece)) => {
                let text = self.text.push(&piece);
                return self.put(text, ChatDelta::Text);
            }
            Ok(ChatDelta::Reasoning(piece)) => {
                let text = self.thought.push(&piece);
                return self.put(text, ChatDelta::Reasoning);
            }
            Ok(ChatDelta::ToolCall(call)) => ChatDelta::ToolCall(ToolCallRequest {
                arguments: self.secrets.scrub_words(&call.arguments),
                ..call
            }),
            Ok(usage @ ChatDelta::Usage(_)) => return self.ready.push_back(Ok(usage)),
            Ok(other) => other,
            Err(error) => {
                self.rest();
                let error = masked_error(error, &self.secrets);
                return self.ready.push_back(Err(error));
            }
        };
        self.rest();
        self.ready.push_back(Ok(delta));
    }

    fn put(&mut self, text: String, delta: impl Fn(String) -> ChatDelta) {
        if !text.is_empty() {
            self.ready.push_back(Ok(delta(text)));
        }
    }

    /// What was held back comes ahead of what is no text, and at the end.
    fn rest(&mut self) {
        let (text, thought) = (self.text.end(), self.thought.end());
        self.put(thought, ChatDelta::Reasoning);
        self.put(text, ChatDelta::Text);
    }

    fn is_done(&self) -> bool {
        self.text.is_empty() && self.thought.is_empty()
    }
}

#[async_trait]
impl ToolBackend for Masked<dyn ToolBackend> {
    async fn acquire(&self, cx: &CallContext) -> Result<Permit, ToolError> {
        self.inner.acquire(cx).await
    }

    async fn probe(&self) -> Probed {
        self.inner.probe().await
    }

    async fn close(&self) {
        self.inner.close().await;
    }

    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let secrets = cx.secrets.beside(&self.secrets);
        if secrets.is_empty() {
            return self.inner.call(call, cx).await;
        }
        let called = async {
            let Some(outer) = &cx.reports else {
                return self.inner.call(call, cx).await;
            };
            let (reports, mut heard) = Reports::channel();
            let cx = CallContext {
                reports: Some(reports),
                ..cx.clone()
            };
            let pass = async {
                while let Some(report) = heard.recv().await {
                    let masked = report.map(|json| secrets.scrub_result(json));
                    outer.send(masked.map_err(|why| secrets.scrub(&why))).await;
                }
            };
            // The call's end of the reports goes with its context.
            let made = async move { self.inner.call(call, &cx).await };
            let (made, ()) = tokio::join!(made, pass);
            made
        };
        match called.await {
            Ok(result) => Ok(secrets.scrub_result(result)),
            Err(error) => Err(ToolError {
                message: secrets.scrub(&error.message),
                ..error
            }),
        }
    }
}
