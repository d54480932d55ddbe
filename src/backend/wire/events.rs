//! Server-sent events, as the HTML standard has them: <https://html.spec.whatwg.org/multipage/server-sent-events.html>.

use std::time::Duration;

use reqwest::Response;

use crate::backend::secret::Secrets;

use super::lines::{LINE, Lines};
use super::{Bounds, Failure, Peer};

/// The most bytes of a whole stream: each word of a model has some 300 bytes of its own around it.
const LIMIT: usize = 64 << 20;

/// Name and data of an event.
type Named = (String, String);

/// The events of a reply, in order. Ends where the reply ends, which says nothing about
/// whether it was whole. Dropping it closes the connection.
pub struct Events {
    response: Response,
    lines: Lines,
    open: Open,
    /// Bytes that may still come.
    left: usize,
    peer: String,
    secrets: Secrets,
    bounds: Bounds,
    idle: Option<Duration>,
    silent: bool,
}

/// The event that is read now.
#[derive(Default)]
struct Open {
    name: String,
    data: Option<String>,
    /// The first line that can't be one of an event.
    stray: Option<String>,
}

impl Open {
    /// Takes in a line; gives the event that it ends.
    fn take(&mut self, line: &[u8]) -> Option<Named> {
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            return Some((name, self.data.take()?));
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                None => self.data = Some(value.to_owned()),
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            },
            "event" => value.clone_into(&mut self.name),
            "" | "id" | "retry" => {}
            _ if self.stray.is_none() => self.stray = Some(line.into_owned()),
            _ => {}
        }
        None
    }
}

/// The events of a reply. `idle` is how long it may be silent: whatever comes begins that anew, also what is no event.
pub fn events(
    response: Response,
    peer: Peer<'_>,
    bounds: Bounds,
    idle: Option<Duration>,
) -> Events {
    Events {
        response,
        lines: Lines::default(),
        open: Open::default(),
        left: LIMIT,
        peer: peer.name.to_owned(),
        secrets: peer.secrets.clone(),
        bounds,
        idle,
        silent: false,
    }
}

impl Events {
    /// The next event's data; `None` at the end of the reply.
    ///
    /// # Errors
    /// `Network` for a broken connection, `Timeout`, `Cancelled`, `InvalidRequest` for a reply or a line that is too long.
    pub async fn next(&mut self) -> Result<Option<String>, Failure> {
        let next = self.next_named().await?;
        Ok(next.map(|(_, data)| data))
    }

    /// The same with the event's name, which may be empty.
    ///
    /// # Errors
    /// As [`Events::next`].
    pub async fn next_named(&mut self) -> Result<Option<Named>, Failure> {
        loop {
            loop {
                let line = match self.lines.next_line() {
                    Ok(Some(line)) => line,
                    Ok(None) => break,
                    Err(_) => return Err(Failure::line_too_long(self.peer(), LINE)),
                };
                if let Some(event) = self.open.take(line) {
                    return Ok(Some(event));
                }
            }
            match self.chunk().await? {
                true => {}
                // What has no empty line behind it is no event.
                false => {
                    self.open.take(self.lines.rest());
                    return Ok(None);
                }
            }
            // A server that sends without a pause leaves others their turn, and timers theirs.
            tokio::task::yield_now().await;
        }
    }

    /// Reads a chunk; `false` at the end.
    async fn chunk(&mut self) -> Result<bool, Failure> {
        let next = self.response.chunk();
        let chunk = match self.idle {
            None => self.bounds.receive(next).await?,
            Some(idle) => {
                let timed = tokio::time::timeout(idle, next);
                match self.bounds.within(timed).await? {
                    Ok(chunk) => chunk,
                    Err(_) => {
                        self.silent = true;
                        return Err(Failure::silent(&self.peer, idle));
                    }
                }
            }
        };
        let chunk = chunk.map_err(|error| Failure::transport(self.peer(), error))?;
        let Some(chunk) = chunk else {
            return Ok(false);
        };
        let left = self.left.checked_sub(chunk.len());
        self.left = left.ok_or_else(|| Failure::too_long(self.peer(), LIMIT))?;
        self.lines.push(&chunk);
        Ok(true)
    }

    /// The beginning of a line that was none of an event, where there was one: what came was no stream of events then.
    pub fn stray(&self) -> Option<String> {
        let stray = self.open.stray.as_ref();
        stray.map(|stray| self.peer().excerpt(stray))
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
