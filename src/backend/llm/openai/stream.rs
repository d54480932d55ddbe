//! A reply that comes in pieces.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::stream::unfold;
use serde::Deserialize;
use serde_json::Value as Json;
use tokio::sync::OwnedSemaphorePermit;

use crate::backend::wire::{Events, Failure};
use crate::run::model::{ChatDelta, ChatStream, ModelError};

use super::calls::Calls;
use super::reply::{Said, Tokens, finish, refused};

/// How long the end of a stream is waited for behind the end of the reply.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Option<Said>,
    finish_reason: Option<String>,
}

/// The deltas of a stream of chunks. The slot is given back when the stream is dropped.
pub fn deltas(events: Events, slot: Option<OwnedSemaphorePermit>) -> ChatStream {
    let reading = Reading {
        events,
        ready: VecDeque::new(),
        calls: Calls::default(),
        refusal: String::new(),
        reason: None,
        begun: false,
        done: false,
        _slot: slot,
    };
    Box::pin(unfold(reading, |mut reading| async move {
        let item = reading.next().await?;
        Some((item, reading))
    }))
}

struct Reading {
    events: Events,
    /// Deltas read and not yet given out.
    ready: VecDeque<ChatDelta>,
    calls: Calls,
    refusal: String,
    /// Why the reply ended, once it is known. Usage may come behind it.
    reason: Option<String>,
    /// Whether anything of a reply has come.
    begun: bool,
    done: bool,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Reading {
    async fn next(&mut self) -> Option<Result<ChatDelta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(delta));
            }
            if self.done {
                return None;
            }
            if let Err(failure) = self.read().await {
                self.done = true;
                return Some(Err(failure.into()));
            }
        }
    }

    /// Reads one event.
    async fn read(&mut self) -> Result<(), Failure> {
        let next = match self.reason {
            None => self.events.next().await,
            // Usage may come behind the end; a server that sends no more and closes nothing is not waited for.
            Some(_) => match tokio::time::timeout(GRACE, self.events.next()).await {
                Ok(next) => next,
                Err(_) => return self.finish(),
            },
        };
        match next {
            Ok(Some(data)) if data.trim() == "[DONE]" => match self.begun {
                true => self.finish(),
                false => Err(Failure::server(format!(
                    "`{}` sent an empty reply",
                    self.events.peer().name
                ))),
            },
            Ok(Some(data)) => self.take(&data),
            Ok(None) if self.reason.is_some() => self.finish(),
            Ok(None) => Err(Failure::network(format!(
                "`{}` broke its reply off before the end",
                self.events.peer().name
            ))),
            // All of the reply is there, only the end of the stream got lost.
            Err(failure)
                if self.reason.is_some() && (self.events.fell_silent() || !failure.is_ours()) =>
            {
                self.finish()
            }
            Err(failure) => Err(failure),
        }
    }

    fn take(&mut self, data: &str) -> Result<(), Failure> {
        let peer = self.events.peer();
        let unreadable = |error: serde_json::Error| {
            Failure::server(format!(
                "`{}` sent a chunk that can't be read: {error}",
                peer.name
            ))
        };
        let json: Json = serde_json::from_str(data).map_err(unreadable)?;
        if json.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Failure::reported(peer, &json));
        }
        let chunk: Chunk = serde_json::from_value(json).map_err(unreadable)?;
        if let Some(usage) = chunk.usage.and_then(|tokens| tokens.usage()) {
            self.ready.push_back(ChatDelta::Usage(usage));
        }
        let Some(choice) = chunk.choices.into_iter().next() else {
            return Ok(());
        };
        self.begun = true;
        let mut said = choice.delta.unwrap_or_default();
        self.ready.extend(said.deltas());
        self.refusal += &said.refusal.take().unwrap_or_default();
        for piece in said.tool_calls.take().into_iter().flatten() {
            self.calls.add(piece);
        }
        if let Some(reason) = choice.finish_reason.filter(|word| !word.is_empty()) {
            self.reason = Some(reason);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.done = true;
        if !self.refusal.is_empty() {
            return Err(refused(self.events.peer(), &self.refusal));
        }
        let word = self.reason.as_deref().unwrap_or("stop");
        let reason = finish(word, !self.calls.is_empty());
        let calls = self.calls.finish();
        self.ready.extend(calls.map(ChatDelta::ToolCall));
        self.ready.push_back(ChatDelta::Finish(reason));
        Ok(())
    }
}
