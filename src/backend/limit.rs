//! How many calls are made at a time, and for how long at most: so that a fan-out takes no more processes and connections than
//! there are.
//!
//! [`Places`] are shared by all backends that [`bind`](super::bind) makes at once. Waiting for one counts in no timeout.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use serde_json::Value as Json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::ir::ErrorKind;
use crate::run::model::{CallContext, ChatModel, ChatRequest, ChatStream, ModelError};
use crate::run::probe::Probed;
use crate::run::tool::{Permit, ToolBackend, ToolCall, ToolError};

/// Programs at a time: each takes a process and three descriptors.
pub const COMMANDS: usize = 64;
/// Requests at a time, of tools and models together.
pub const REQUESTS: usize = 256;
/// Longest call of a tool that nothing bounds.
pub const TOOL_TIMEOUT: Duration = Duration::from_secs(300);
/// Longest call of a model that nothing bounds.
pub const MODEL_TIMEOUT: Duration = Duration::from_secs(600);

/// How much later than the run the backend itself ends a call.
const BEHIND_THE_RUN: Duration = Duration::from_secs(1);

/// Places for calls.
#[derive(Debug, Clone)]
pub struct Places {
    /// Of programs.
    pub commands: Arc<Semaphore>,
    /// Of requests.
    pub requests: Arc<Semaphore>,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            commands: Arc::new(Semaphore::new(COMMANDS)),
            requests: Arc::new(Semaphore::new(REQUESTS)),
        }
    }
}

/// Places of a `max_concurrency`.
pub fn places(most: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)))
}

/// Waits for a place of a call, which is no time of the call nor of its node; `None` where the run is stopped before.
pub async fn take(places: &Arc<Semaphore>, cx: &CallContext) -> Option<OwnedSemaphorePermit> {
    if let Ok(place) = Arc::clone(places).try_acquire_owned() {
        return Some(place);
    }
    let _waits = cx.waits.begin();
    tokio::select! {
        biased;
        () = cx.stop.cancelled() => None,
        // The semaphore is never closed.
        place = Arc::clone(places).acquire_owned() => place.ok(),
    }
}

/// A backend whose calls wait for places, and end.
pub struct Limited<T: ?Sized> {
    inner: Arc<T>,
    /// A call takes one of each, in this order.
    places: Vec<Arc<Semaphore>>,
    /// Longest call, where nothing else bounds it.
    default: Option<Duration>,
}

impl<T: ?Sized> Limited<T> {
    /// Over a backend whose calls take a place of `own`, where it has a `max_concurrency`, and one of `shared`. `timeout` is the one that
    /// the settings give it.
    pub fn new(
        inner: Arc<T>,
        own: Option<Arc<Semaphore>>,
        shared: &Arc<Semaphore>,
        (timeout, default): (Option<Duration>, Duration),
    ) -> Self {
        Self {
            inner,
            // Its own first: who waits for those keeps no others from working.
            places: own.into_iter().chain([Arc::clone(shared)]).collect(),
            default: timeout.is_none().then_some(default),
        }
    }

    /// Waits for the places of a call; `None` where the run is stopped before.
    async fn take(&self, cx: &CallContext) -> Option<Vec<OwnedSemaphorePermit>> {
        let mut taken = Vec::new();
        for places in &self.places {
            taken.push(take(places, cx).await?);
        }
        Some(taken)
    }

    fn bounded(&self, cx: &CallContext) -> CallContext {
        CallContext {
            timeout: match cx.timeout {
                // The run ends the call then. The backend comes second, or chance would choose whose error it is.
                Some(of_run) => Some(of_run.saturating_add(BEHIND_THE_RUN)),
                None => self.default,
            },
            ..cx.clone()
        }
    }
}

const STOPPED: &str = "the run was stopped while the call waited for its turn";

#[async_trait]
impl ToolBackend for Limited<dyn ToolBackend> {
    async fn acquire(&self, cx: &CallContext) -> Result<Permit, ToolError> {
        let stopped = || ToolError::new(ErrorKind::Cancelled, STOPPED).unsent();
        Ok(self.take(cx).await.ok_or_else(stopped)?.into())
    }

    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        self.inner.call(call, &self.bounded(cx)).await
    }

    async fn probe(&self) -> Probed {
        self.inner.probe().await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

#[async_trait]
impl ChatModel for Limited<dyn ChatModel> {
    async fn stream(
        &self,
        request: ChatRequest,
        cx: &CallContext,
    ) -> Result<ChatStream, ModelError> {
        let Some(places) = self.take(cx).await else {
            return Err(ModelError::new(ErrorKind::Cancelled, STOPPED));
        };
        let stream = self.inner.stream(request, &self.bounded(cx)).await?;
        // The places are given back with the reply.
        Ok(Box::pin(stream.inspect(move |_| {
            let _ = &places;
        })))
    }

    fn served_by<'m>(&'m self, model: &'m str) -> Option<(&'m str, &'m str)> {
        self.inner.served_by(model)
    }
}
