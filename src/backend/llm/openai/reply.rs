//! A reply that comes whole, and what both forms of reply share.

use serde::Deserialize;
use serde_json::Value as Json;

use crate::backend::wire::{Failure, Peer};
use crate::ir::ErrorKind;
use crate::run::model::{ChatDelta, FinishReason, Usage};

use super::calls::{Calls, Piece};

/// `usage` of a reply, as servers send it. What only counts does not decide whether a reply holds: what is no count is none.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Tokens(Json);

impl Tokens {
    /// What it says, if anything.
    pub fn usage(&self) -> Option<Usage> {
        let count = |name: &str| {
            let count = self.0.get(name)?;
            // `7.0` is a count as well.
            let whole = count.as_f64().filter(|count| *count >= 0.0);
            count.as_u64().or(whole.map(|count| count as u64))
        };
        self.0.is_object().then(|| Usage {
            input_tokens: count("prompt_tokens").unwrap_or_default(),
            output_tokens: count("completion_tokens").unwrap_or_default(),
        })
    }
}

/// What a model says: a whole message, or the part of it that a chunk adds.
#[derive(Debug, Default, Deserialize)]
pub struct Said {
    /// Text, or parts that hold text.
    #[serde(default)]
    content: Json,
    /// Text in place of an answer.
    #[serde(default)]
    pub refusal: Option<String>,
    /// Thinking, as vLLM, llama.cpp and DeepSeek name it.
    #[serde(default)]
    reasoning_content: Option<String>,
    /// Thinking, as Ollama and OpenRouter name it.
    #[serde(default)]
    reasoning: Option<String>,
    /// Tool calls or pieces of them.
    #[serde(default)]
    pub tool_calls: Option<Vec<Piece>>,
}

impl Said {
    /// Thinking and text, the empty ones left out.
    pub fn deltas(&mut self) -> impl Iterator<Item = ChatDelta> + use<> {
        let thought = self.reasoning_content.take().or(self.reasoning.take());
        let thought = thought.filter(|text| !text.is_empty());
        let text = Some(text_of(&self.content)).filter(|text| !text.is_empty());
        let thought = thought.map(ChatDelta::Reasoning);
        thought.into_iter().chain(text.map(ChatDelta::Text))
    }
}

fn text_of(content: &Json) -> String {
    match content {
        Json::String(text) => text.clone(),
        Json::Array(parts) => parts
            .iter()
            .filter_map(|part| part.get("text")?.as_str())
            .collect(),
        _ => String::new(),
    }
}

/// The word of the protocol for why a reply ended. Calls count whatever the word says: some servers
/// say `stop`.
pub fn finish(word: &str, calls: bool) -> FinishReason {
    match word {
        "content_filter" => FinishReason::ContentFilter,
        "length" => FinishReason::Length,
        _ if calls => FinishReason::ToolCalls,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        _ => FinishReason::Stop,
    }
}

/// The model said why it gives no answer.
pub fn refused(peer: Peer<'_>, text: &str) -> Failure {
    let message = format!("the model of `{}` refused: {}", peer.name, text.trim());
    Failure::new(ErrorKind::ContentFilter, message)
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    finish_reason: Option<String>,
}

/// Reads a reply that came whole.
///
/// # Errors
/// `ServerError` for what is no completion, the kind of an error object, `ContentFilter` for a refusal.
pub fn read(bytes: &[u8], peer: Peer<'_>) -> Result<Vec<ChatDelta>, Failure> {
    let unreadable = |why: String| {
        let message = format!("`{}` sent a reply that can't be read: {why}", peer.name);
        Failure::server(message)
    };
    let json: Json = serde_json::from_slice(bytes).map_err(|e| unreadable(e.to_string()))?;
    if json.get("error").is_some_and(|error| !error.is_null()) {
        return Err(Failure::reported(peer, &json));
    }
    let completion: Completion =
        serde_json::from_value(json).map_err(|e| unreadable(e.to_string()))?;
    let Some(choice) = completion.choices.into_iter().next() else {
        return Err(unreadable("it has no choice".to_owned()));
    };
    let mut said = choice.message;
    if let Some(refusal) = said.refusal.take().filter(|text| !text.is_empty()) {
        return Err(refused(peer, &refusal));
    }
    let mut deltas: Vec<ChatDelta> = said.deltas().collect();
    let mut calls = Calls::default();
    for piece in said.tool_calls.take().into_iter().flatten() {
        calls.add(piece);
    }
    let reason = finish(
        choice.finish_reason.as_deref().unwrap_or("stop"),
        !calls.is_empty(),
    );
    deltas.extend(calls.finish().map(ChatDelta::ToolCall));
    let usage = completion.usage.and_then(|tokens| tokens.usage());
    deltas.extend(usage.map(ChatDelta::Usage));
    deltas.push(ChatDelta::Finish(reason));
    Ok(deltas)
}
