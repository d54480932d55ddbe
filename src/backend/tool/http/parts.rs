//! A reply that comes in parts: what the tool reports, then its result.
//!
//! Of server-sent events those named `progress` are reports, `result` is the result and `error` its error. A line of
//! `application/x-ndjson`, and an event without a name, is an object with one of these keys.

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value as Json;

use crate::backend::wire::{Bounds, Failure, LINE, Lines, Peer, events};
use crate::ir::ErrorKind;
use crate::run::report::Reports;

use super::LIMIT;

/// The longest report.
const LONGEST: usize = 64 << 10;

/// How the parts of a reply stand in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Server-sent events.
    Events,
    /// A line each.
    Lines,
}

impl Parts {
    /// Those of a reply that comes in parts.
    pub fn of(response: &Response) -> Option<Self> {
        let kind = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
        match kind.split(';').next()?.trim() {
            "text/event-stream" => Some(Parts::Events),
            "application/x-ndjson" | "application/jsonl" => Some(Parts::Lines),
            _ => None,
        }
    }
}

/// A part of a reply.
enum Part {
    Report(Result<Json, String>),
    Result(Json),
    Other,
}

/// Passes on what a reply reports, and gives its result.
///
/// # Errors
/// Of the connection; `Network` where it ends before its result; `ToolError` where it says an error; `InvalidOutput` where a part is
/// no JSON.
pub async fn read(
    response: Response,
    parts: Parts,
    peer: Peer<'_>,
    bounds: &Bounds,
    reports: &Reports,
) -> Result<Json, Failure> {
    let mut parts = match parts {
        Parts::Events => Reading::Events(Box::new(events(response, peer, bounds.clone(), None))),
        Parts::Lines => Reading::Lines {
            response,
            lines: Lines::default(),
            left: LIMIT,
        },
    };
    while let Some((name, text)) = parts.next(peer, bounds).await? {
        match part(&name, &text, peer)? {
            Part::Report(report) => reports.send(report).await,
            Part::Result(result) => return Ok(result),
            Part::Other => {}
        }
    }
    let name = peer.name;
    Err(Failure::network(format!(
        "the reply of `{name}` ended before its result"
    )))
}

/// A reply as it is read.
enum Reading {
    Events(Box<crate::backend::wire::Events>),
    Lines {
        response: Response,
        lines: Lines,
        left: usize,
    },
}

impl Reading {
    /// The next part: its name, which may be empty, and its text.
    async fn next(
        &mut self,
        peer: Peer<'_>,
        bounds: &Bounds,
    ) -> Result<Option<(String, String)>, Failure> {
        match self {
            Reading::Events(events) => Ok(events.next_named().await?),
            Reading::Lines {
                response,
                lines,
                left,
            } => loop {
                match lines.next_line() {
                    Ok(Some(line)) if line.trim_ascii().is_empty() => continue,
                    Ok(Some(line)) => return Ok(Some(named(line))),
                    Ok(None) => {}
                    Err(_) => return Err(Failure::line_too_long(peer, LINE)),
                }
                let chunk = bounds.receive(response.chunk()).await?;
                match chunk.map_err(|error| Failure::transport(peer, error))? {
                    Some(chunk) => {
                        let less = left.checked_sub(chunk.len());
                        *left = less.ok_or_else(|| Failure::too_long(peer, LIMIT))?;
                        lines.push(&chunk);
                    }
                    None => {
                        let rest = lines.rest().trim_ascii();
                        return Ok((!rest.is_empty()).then(|| named(rest)));
                    }
                }
                tokio::task::yield_now().await;
            },
        }
    }
}

fn named(line: &[u8]) -> (String, String) {
    (String::new(), String::from_utf8_lossy(line).into_owned())
}

/// What a part says.
fn part(name: &str, text: &str, peer: Peer<'_>) -> Result<Part, Failure> {
    let is_known = |name: &str| matches!(name, "progress" | "result" | "error");
    let (name, json) = match name {
        "" | "message" => {
            let Json::Object(entries) = json(text, peer)? else {
                return Ok(Part::Other);
            };
            match entries.into_iter().find(|(key, _)| is_known(key)) {
                Some(entry) => entry,
                None => return Ok(Part::Other),
            }
        }
        "progress" => match json(text, peer) {
            Ok(json) => (name.to_owned(), json),
            Err(failure) => return Ok(Part::Report(Err(failure.message))),
        },
        name if is_known(name) => (name.to_owned(), json(text, peer)?),
        _ => return Ok(Part::Other),
    };
    match name.as_str() {
        "progress" if text.len() > LONGEST => {
            let why = format!("one of more than {} KiB", LONGEST >> 10);
            Ok(Part::Report(Err(why)))
        }
        "progress" => Ok(Part::Report(Ok(json))),
        "result" => Ok(Part::Result(json)),
        _ => {
            let message = json.get("message").unwrap_or(&json);
            let message = message
                .as_str()
                .map_or_else(|| message.to_string(), str::to_owned);
            Err(Failure::new(ErrorKind::ToolError, message))
        }
    }
}

fn json(text: &str, peer: Peer<'_>) -> Result<Json, Failure> {
    serde_json::from_str(text).map_err(|_| {
        let begins = peer.excerpt(text);
        let message = format!(
            "`{}` sent a part that is no JSON; it begins: {begins}",
            peer.name
        );
        Failure::new(ErrorKind::InvalidOutput, message)
    })
}
