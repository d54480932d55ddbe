//! A reply that comes in pieces.

use std::time::Duration;

use futures_util::stream::unfold;
use serde_json::Value as Json;
use tokio::time::Instant;

use crate::backend::wire::{Events, Failure};
use crate::run::model::{ChatDelta, ChatStream, ModelError};

use super::protocol::Reader;
use super::reply_parts::ReplyParts;
use super::shape::foreign;
use crate::project::spec::provider::Kind;

/// How long the end of a stream is waited for behind the end of the reply: usage may follow, but a server that sends no more and
/// closes nothing holds no reply up.
const GRACE: Duration = Duration::from_secs(2);

/// The deltas of a stream of events. The connection is closed when the stream is dropped.
pub fn deltas(
    events: Events,
    reader: Box<dyn Reader>,
    reply_parts: ReplyParts,
    kind: Kind,
) -> ChatStream {
    let reading = Reading {
        events,
        reader,
        reply_parts,
        kind,
        failed: false,
        end: None,
    };
    Box::pin(unfold(reading, |mut reading| async move {
        let item = reading.next().await?;
        Some((item, reading))
    }))
}

struct Reading {
    events: Events,
    reader: Box<dyn Reader>,
    reply_parts: ReplyParts,
    kind: Kind,
    failed: bool,
    /// When what may follow the end of the reply is waited for no longer, once that has come.
    end: Option<Instant>,
}

impl Reading {
    async fn next(&mut self) -> Option<Result<ChatDelta, ModelError>> {
        loop {
            if let Some(delta) = self.reply_parts.pop() {
                return Some(Ok(delta));
            }
            if self.failed || self.reply_parts.is_closed() {
                return None;
            }
            let read = match self.read().await {
                Ok(()) if self.reply_parts.is_closed() => {
                    self.reader.close(&mut self.reply_parts);
                    self.reply_parts.finish(self.events.peer())
                }
                read => read,
            };
            if let Err(failure) = read {
                self.failed = true;
                return Some(Err(failure.into()));
            }
        }
    }

    /// Reads one event.
    async fn read(&mut self) -> Result<(), Failure> {
        let ended = self.reply_parts.has_ended();
        let next = match ended {
            false => self.events.next().await,
            true => {
                let end = *self.end.get_or_insert_with(|| Instant::now() + GRACE);
                let next = tokio::time::timeout_at(end, self.events.next()).await;
                next.unwrap_or(Ok(None))
            }
        };
        match next {
            Ok(Some(data)) if data.trim() == "[DONE]" => self.done(),
            Ok(Some(data)) => self.take(&data),
            Ok(None) if ended => {
                self.reply_parts.close();
                Ok(())
            }
            Ok(None) => Err(self.broken_off()),
            // All of the reply is there, only the end of the stream got lost.
            Err(failure) if ended && (self.events.fell_silent() || !failure.is_ours()) => {
                self.reply_parts.close();
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    fn take(&mut self, data: &str) -> Result<(), Failure> {
        let peer = self.events.peer();
        let json: Json = serde_json::from_str(data).map_err(|error| {
            let message = format!("`{}` sent a chunk that can't be read: {error}", peer.name);
            Failure::server(message)
        })?;
        if json.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Failure::reported(peer, &json));
        }
        self.reader.event(&json, peer, &mut self.reply_parts)?;
        match self.reply_parts.has_begun() {
            true => Ok(()),
            false => foreign(&json, self.kind, peer).map_or(Ok(()), Err),
        }
    }

    /// The server says that nothing follows; some servers do so without a word on why.
    fn done(&mut self) -> Result<(), Failure> {
        if !self.reply_parts.has_begun() {
            let name = self.events.peer().name;
            return Err(Failure::server(format!("`{name}` sent an empty reply")));
        }
        self.reply_parts.close();
        Ok(())
    }

    fn broken_off(&self) -> Failure {
        let name = self.events.peer().name;
        match self
            .events
            .stray()
            .filter(|_| !self.reply_parts.has_begun())
        {
            Some(stray) => Failure::server(format!(
                "`{name}` sent what is no stream of events; it begins: {stray}"
            )),
            None => Failure::network(format!("`{name}` broke its reply off before the end")),
        }
    }
}
