//! The model in a scenario.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream;

use crate::ir::ErrorKind;
use crate::project::scenario::{Asked, ModelReply, ReplyBody, prompt};
use crate::project::yaml::Path;
use crate::run::model::{
    CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, FinishReason, ModelError,
    ToolCallRequest, Usage,
};
use crate::value::List;

use super::{Script, State, nothing_fits, recorded, turns};

/// What a model was asked.
#[derive(Debug, Clone)]
pub struct ModelRecord {
    /// Path of the node.
    pub node: String,
    /// Index of the send that made the task.
    pub send: Option<u32>,
    /// Name of the model in the flow.
    pub model: String,
    /// Names of the tools that it was shown, in order.
    pub tools: Vec<String>,
    /// All messages, shared with the state.
    pub messages: List,
    /// Where the reply is written that it gave.
    pub reply: Option<Path>,
}

impl ModelRecord {
    /// The text of all messages, the system message included, with an empty line between them.
    pub fn prompt(&self) -> String {
        prompt(&self.messages)
    }
}

/// A request, as far as a condition looks at it.
fn asked(request: &ChatRequest) -> Asked<'_> {
    Asked {
        messages: &request.messages,
        tools: request
            .tools
            .iter()
            .map(|tool| tool.name.as_str())
            .collect(),
        model: &request.model_name,
    }
}

/// The model that plays all models of a flow.
pub struct ScriptedModel {
    pub(super) script: Arc<Script>,
    /// What is asked where the scenario is recorded.
    pub(super) real: Option<Arc<dyn ChatModel>>,
}

impl ScriptedModel {
    /// The reply for a call: those of its node path before those for any node.
    fn choose<'a>(
        &'a self,
        request: &ChatRequest,
        cx: &CallContext,
        state: &mut State,
    ) -> Option<&'a ModelReply> {
        let lists = &self.script.scenario.models;
        let named = lists.iter().position(|(node, _)| *node == cx.node);
        let any = || lists.iter().position(|(node, _)| node == "*");
        let list = named.or_else(any)?;
        let (_, replies) = lists.get(list)?;
        let earlier = self.script.earlier.models.get(&cx.node);
        let before = || self.script.before(earlier, cx);
        let fits = |index: usize| {
            let when = replies.get(index).and_then(|reply| reply.when.as_ref());
            when.is_none_or(|when| when.holds_for(&asked(request)))
        };
        let queue = state.models.get_mut(list)?;
        let index = queue.take(&cx.node, cx, before, fits)?;
        replies.get(index)
    }

    /// The reply that the scenario has for a call; none where it is on the cassette.
    fn reply(
        &self,
        request: &ChatRequest,
        cx: &CallContext,
    ) -> Result<Option<&ModelReply>, ModelError> {
        let mut state = self.script.state();
        let reply = self.choose(request, cx, &mut state);
        state.journal.push(ModelRecord {
            node: cx.node.clone(),
            send: cx.send,
            model: request.model_name.clone(),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            messages: request.messages.clone(),
            reply: reply.map(|reply| reply.at.clone()),
        });
        if reply.is_none() && self.script.scenario.recorded {
            return Ok(None);
        }
        reply.map(Some).ok_or_else(|| {
            let call = format!("model call {} of `{}`", cx.ordinal + 1, cx.node);
            let lists = self.script.scenario.models.iter();
            let written = lists
                .clone()
                .filter(|(node, _)| *node == cx.node || node == "*")
                .map(|(_, replies)| replies.len())
                .reduce(|own, _| own);
            let mut message = nothing_fits(&self.script.scenario, &call, written);
            let named = lists.clone().find(|(node, _)| *node == cx.node);
            let replies = named.or_else(|| lists.clone().find(|(node, _)| node == "*"));
            let whens = replies.iter().flat_map(|(_, replies)| replies.iter());
            let whens = whens.filter_map(|reply| reply.when.as_ref());
            for when in whens.filter(|when| !when.holds_for(&asked(request))) {
                message.push_str(&format!("\n`when: {}` does not hold for it", when.text));
            }
            state.unmatched.push(message.clone());
            ModelError::new(ErrorKind::InvalidRequest, message)
        })
    }
}

#[async_trait]
impl ChatModel for ScriptedModel {
    async fn stream(
        &self,
        request: ChatRequest,
        cx: &CallContext,
    ) -> Result<ChatStream, ModelError> {
        let cx = &turns::wait(&self.script, "model", &cx.node, cx).await;
        let Some(reply) = self.reply(&request, cx)? else {
            return recorded::reply(&self.script, self.real.as_ref(), request, cx).await;
        };
        match &reply.body {
            Err(fault) => Err(ModelError {
                kind: fault.kind,
                message: fault.message.clone(),
                retry_after: fault.retry_after,
            }),
            Ok(body) => {
                let deltas = deltas(body, &request, cx);
                Ok(Box::pin(stream::iter(deltas.into_iter().map(Ok))))
            }
        }
    }
}

/// The parts of a reply: its text word by word where it is streamed, then the rest at once.
fn deltas(body: &ReplyBody, request: &ChatRequest, cx: &CallContext) -> Vec<ChatDelta> {
    let words: Vec<&str> = match request.stream {
        true => body.text.split_inclusive(char::is_whitespace).collect(),
        false => vec![body.text.as_str()],
    };
    let words = words.into_iter().filter(|word| !word.is_empty());
    let mut deltas: Vec<ChatDelta> = words.map(|w| ChatDelta::Text(w.to_owned())).collect();
    for (i, call) in body.tool_calls.iter().enumerate() {
        // Unlike a counter of this process, it is the same when the call is made again.
        let made_up = || match cx.send {
            None => format!("{}#{}.{i}", cx.node, cx.ordinal),
            Some(send) => format!("{}#{}.{send}.{i}", cx.node, cx.ordinal),
        };
        deltas.push(ChatDelta::ToolCall(ToolCallRequest {
            id: call.id.clone().unwrap_or_else(made_up),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        }));
    }
    deltas.push(ChatDelta::Usage(usage(body, request)));
    let whole = match body.tool_calls.is_empty() {
        true => FinishReason::Stop,
        false => FinishReason::ToolCalls,
    };
    deltas.push(ChatDelta::Finish(body.finish.unwrap_or(whole)));
    deltas
}

/// Four bytes a token, as a rule of thumb: cheap, and the same on every machine.
fn usage(body: &ReplyBody, request: &ChatRequest) -> Usage {
    let tokens = |bytes: usize| bytes.div_ceil(4) as u64;
    let messages = request.messages.iter();
    let calls = body.tool_calls.iter();
    Usage {
        input_tokens: messages
            .filter_map(|message| message.get("content")?.as_str())
            .map(|text| tokens(text.len()))
            .sum(),
        output_tokens: tokens(body.text.len())
            + calls.map(|call| tokens(call.arguments.len())).sum::<u64>(),
        ..Usage::default()
    }
}
