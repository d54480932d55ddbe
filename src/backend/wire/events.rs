//! Server-sent events.

use std::pin::Pin;
use std::time::Duration;

use eventsource_stream::{EventStreamError, Eventsource};
use futures_util::stream::{Stream, StreamExt, unfold};
use reqwest::Response;

use crate::backend::secret::Secrets;
use crate::base::duration;

use super::{Bounds, Failure, Peer};

/// The most bytes of a whole stream.
const LIMIT: usize = 64 << 20;

/// Name and data of an event.
type Named = (String, String);

/// The events of a reply, in order. Ends where the reply ends, which says nothing about
/// whether it was whole.
pub struct Events {
    inner: Pin<Box<dyn Stream<Item = Result<Named, EventStreamError<Broken>>> + Send>>,
    peer: String,
    secrets: Secrets,
    bounds: Bounds,
    silent: bool,
}

/// Why the bytes of a stream end.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("{0}")]
    Transport(reqwest::Error),
    #[error("more than {LIMIT} bytes")]
    TooLong,
    #[error("nothing for {}", duration::show(*.0))]
    Silent(Duration),
}

/// The events of a reply. `idle` is how long it may be silent: whatever comes begins that anew, also what is no event.
pub fn events(
    response: Response,
    peer: Peer<'_>,
    bounds: Bounds,
    idle: Option<Duration>,
) -> Events {
    let mut left = LIMIT;
    let chunks = unfold(
        Box::pin(response.bytes_stream()),
        move |mut chunks| async move {
            let next = chunks.next();
            let chunk = match idle {
                None => next.await?.map_err(Broken::Transport),
                Some(idle) => match tokio::time::timeout(idle, next).await {
                    Ok(chunk) => chunk?.map_err(Broken::Transport),
                    Err(_) => Err(Broken::Silent(idle)),
                },
            };
            Some((chunk, chunks))
        },
    );
    let bytes = chunks.map(move |chunk| {
        let chunk = chunk?;
        left = left.checked_sub(chunk.len()).ok_or(Broken::TooLong)?;
        Ok(chunk)
    });
    Events {
        inner: Box::pin(
            bytes
                .eventsource()
                .map(|event| event.map(|e| (e.event, e.data))),
        ),
        peer: peer.name.to_owned(),
        secrets: peer.secrets.clone(),
        bounds,
        silent: false,
    }
}

impl Events {
    /// The next event's data; `None` at the end of the reply.
    ///
    /// # Errors
    /// `Network` for a broken connection, `Timeout`, `Cancelled`, `InvalidRequest` for one that is too long, `ServerError` for what is no stream
    /// of events.
    pub async fn next(&mut self) -> Result<Option<String>, Failure> {
        let next = self.next_named().await?;
        Ok(next.map(|(_, data)| data))
    }

    /// The same with the event's name.
    ///
    /// # Errors
    /// As [`Events::next`].
    pub async fn next_named(&mut self) -> Result<Option<Named>, Failure> {
        let next = self.bounds.within(self.inner.next()).await?;
        let peer = Peer {
            name: &self.peer,
            secrets: &self.secrets,
        };
        match next {
            None => Ok(None),
            Some(Ok(event)) => Ok(Some(event)),
            Some(Err(EventStreamError::Transport(Broken::Transport(error)))) => {
                Err(Failure::transport(peer, error))
            }
            Some(Err(EventStreamError::Transport(Broken::Silent(idle)))) => {
                self.silent = true;
                Err(Failure::silent(&self.peer, idle))
            }
            Some(Err(EventStreamError::Transport(Broken::TooLong))) => {
                Err(Failure::too_long(peer, LIMIT))
            }
            Some(Err(error)) => Err(Failure::server(format!(
                "`{}` sent a stream that can't be read: {error}",
                peer.name
            ))),
        }
    }

    /// Whether they ended because nothing came for too long.
    pub fn fell_silent(&self) -> bool {
        self.silent
    }

    /// Who sends them.
    pub fn peer(&self) -> Peer<'_> {
        Peer {
            name: &self.peer,
            secrets: &self.secrets,
        }
    }
}
