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
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

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

/// A backend whose calls wait for places, and end.
pub struct Limited<T: ?Sized> {
    inner: Arc<T>,
    /// A call takes one of each, in this order.
    places: Vec<Arc<Semaphore>>,
    /// Longest call, where nothing else bounds it.
    default: Option<Duration>,
}

impl<T: ?Sized> Limited<T> {
    /// Over a backend that has a place of `shared`, and of its own `max_concurrency`. `own` is the timeout that the settings give it.
    pub fn new(
        inner: Arc<T>,
        shared: &Arc<Semaphore>,
        max_concurrency: Option<usize>,
        (own, default): (Option<Duration>, Duration),
    ) -> Self {
        let most = max_concurrency.map(|most| most.clamp(1, Semaphore::MAX_PERMITS));
        let own_places = most.map(|most| Arc::new(Semaphore::new(most)));
        Self {
            inner,
            // Its own first: who waits for those keeps no others from working.
            places: own_places.into_iter().chain([Arc::clone(shared)]).collect(),
            default: own.is_none().then_some(default),
        }
    }

    /// Waits for the places of a call; `None` where the run is stopped before.
    async fn take(&self, cx: &CallContext) -> Option<Vec<OwnedSemaphorePermit>> {
        let mut taken = Vec::new();
        for places in &self.places {
            let place = match Arc::clone(places).try_acquire_owned() {
                Ok(place) => place,
                Err(_) => {
                    let waits = cx.waits.clone();
                    let _waits = waits.begin();
                    tokio::select! {
                        biased;
                        () = cx.stop.cancelled() => return None,
                        () = cx.cancel.cancelled() => return None,
                        // The semaphore is never closed.
                        place = Arc::clone(places).acquire_owned() => place.ok()?,
                    }
                }
            };
            taken.push(place);
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
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let Some(_places) = self.take(cx).await else {
            let stopped = ToolError::new(ErrorKind::Cancelled, STOPPED);
            return Err(ToolError {
                in_doubt: false,
                ..stopped
            });
        };
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
