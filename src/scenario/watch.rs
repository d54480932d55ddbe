//! Backends that tell what reaches them, and may be shuffled or struck down.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map as JsonMap, Value as Json};
use sha2::{Digest, Sha256};

use crate::backend::scenario::Script;
use crate::run::backends::Backends;
use crate::run::extern_node::{ExternCall, ExternNode};
use crate::run::model::{CallContext, ChatModel, ChatRequest, ChatStream, ModelError};
use crate::run::stream::yielded;
use crate::run::tool::{Permit, ToolBackend, ToolCall, ToolError};

use super::doom::Doom;
use super::sighting::{Asked, Log, Sighting};

/// What watches the calls of one scenario.
#[derive(Clone)]
pub struct Watch {
    /// Where it is told.
    pub log: Arc<Log>,
    /// The play.
    pub script: Arc<Script>,
    /// What ends the process.
    pub doom: Option<Arc<Doom>>,
    /// Lets calls that run at the same time finish in another order, one that follows from this.
    pub shuffle: Option<u64>,
}

impl Watch {
    /// The backends, watched.
    pub fn over(&self, backends: Backends) -> Backends {
        let models = backends.models.iter().map(|model| {
            let watched = WatchedModel {
                watch: self.clone(),
                model: Arc::clone(model),
            };
            Arc::new(watched) as Arc<dyn ChatModel>
        });
        let tools = backends.tools.iter().map(|tool| {
            let tool = tool.as_ref()?;
            let watched = WatchedTool {
                watch: self.clone(),
                tool: Arc::clone(tool),
            };
            Some(Arc::new(watched) as Arc<dyn ToolBackend>)
        });
        let externs = backends.externs.iter().map(|(name, node)| {
            let watched = WatchedExtern {
                watch: self.clone(),
                node: Arc::clone(node),
            };
            (name.clone(), Arc::new(watched) as Arc<dyn ExternNode>)
        });
        Backends {
            models: models.collect(),
            tools: tools.collect(),
            externs: externs.collect(),
        }
    }

    /// Tells what the play has left and could not serve.
    pub fn settle(&self) {
        for message in self.script.unmatched() {
            self.log.tell(Sighting::Unmatched { message });
        }
        // A process that goes on makes only the calls that are left.
        if self.doom.is_none() && self.script.scenario().crash.is_none() {
            for message in self.script.unplayed() {
                self.log.tell(Sighting::Unmatched { message });
            }
        }
        for (at, message) in self.script.unfit() {
            self.log.tell(Sighting::Unfit { at, message });
        }
        let replies = self.script.left_over();
        self.log.tell(Sighting::Left { replies });
    }

    /// Lets others go first, how often follows from the call.
    async fn pause(&self, cx: &CallContext) {
        let Some(seed) = self.shuffle else { return };
        let call = format!("{seed} {} {:?} {}", cx.node, cx.send, cx.idempotency_key);
        let digest = Sha256::digest(call.as_bytes());
        let times = digest.first().map_or(0, |byte| byte % 16);
        for _ in 0..times {
            yielded().await;
        }
    }

    /// After a call: only a process that may die needs to tell at once what is left.
    async fn made(&self, kind: &str, name: &str) {
        let Some(doom) = &self.doom else { return };
        self.settle();
        if doom.strikes_during(kind, name) {
            doom.strike().await;
        }
    }
}

struct WatchedModel {
    watch: Watch,
    model: Arc<dyn ChatModel>,
}

#[async_trait]
impl ChatModel for WatchedModel {
    async fn stream(
        &self,
        request: ChatRequest,
        cx: &CallContext,
    ) -> Result<ChatStream, ModelError> {
        let messages = request.messages.iter().map(|message| message.to_json());
        let asked = Sighting::Asked(Asked {
            node: cx.node.clone(),
            send: cx.send,
            model: request.model_name.clone(),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            messages: messages.collect(),
        });
        let reply = self.model.stream(request, cx).await;
        // Behind the reply: calls take their turns there, and are told in that order.
        self.watch.log.tell(asked);
        self.watch.pause(cx).await;
        self.watch.made("model", &cx.node).await;
        reply
    }
}

struct WatchedExtern {
    watch: Watch,
    node: Arc<dyn ExternNode>,
}

#[async_trait]
impl ExternNode for WatchedExtern {
    async fn run(
        &self,
        call: ExternCall,
        cx: &CallContext,
    ) -> Result<JsonMap<String, Json>, ToolError> {
        let tool = call.name.clone();
        let result = self.node.run(call, cx).await;
        self.watch.log.tell(Sighting::Called { tool: tool.clone() });
        self.watch.pause(cx).await;
        self.watch.made("tool", &tool).await;
        result
    }
}

struct WatchedTool {
    watch: Watch,
    tool: Arc<dyn ToolBackend>,
}

#[async_trait]
impl ToolBackend for WatchedTool {
    async fn acquire(&self, cx: &CallContext) -> Result<Permit, ToolError> {
        self.tool.acquire(cx).await
    }

    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let tool = call.tool.clone();
        let result = self.tool.call(call, cx).await;
        self.watch.log.tell(Sighting::Called { tool: tool.clone() });
        self.watch.pause(cx).await;
        self.watch.made("tool", &tool).await;
        result
    }
}
