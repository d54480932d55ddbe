//! Why a call over HTTP failed.

use std::error::Error;
use std::time::Duration;

use tracing::warn;

use crate::base::log::HTTP;
use crate::base::size::show_size;
use crate::ir::ErrorKind;
use crate::run::model::ModelError;
use crate::run::probe::Problem;
use crate::run::tool::ToolError;

use super::{Peer, redirect};

/// Why a call failed, of either kind of backend.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Kind.
    pub kind: ErrorKind,
    /// For people, without secrets.
    pub message: String,
    /// When to ask again.
    pub retry_after: Option<Duration>,
    /// Whether the other side may have done what it was asked all the same.
    pub in_doubt: bool,
}

impl Failure {
    /// A failure of that kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
            in_doubt: kind.leaves_doubt(),
        }
    }

    /// The connection failed.
    pub fn network(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Network, message)
    }

    /// The other side failed.
    pub fn server(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ServerError, message)
    }

    /// The run was cancelled.
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the run was cancelled")
    }

    /// The call took longer than it may.
    pub fn timeout(limit: Duration) -> Self {
        let message = format!("no answer within {limit:?}");
        Self::new(ErrorKind::Timeout, message)
    }

    /// A stream said nothing for as long as it may.
    pub fn silent(peer: &str, idle: Duration) -> Self {
        let idle = crate::base::duration::show(idle);
        Self::new(
            ErrorKind::Timeout,
            format!("`{peer}` said nothing for {idle}"),
        )
    }

    /// A reply takes more bytes than is read of one. It would again: of a kind that no policy tries again by itself.
    pub fn too_long(peer: Peer<'_>, limit: usize) -> Self {
        Self::beyond(&format!("the reply of `{}`", peer.name), limit)
    }

    /// The same of one line of it.
    pub fn line_too_long(peer: Peer<'_>, limit: usize) -> Self {
        Self::beyond(&format!("a line of the reply of `{}`", peer.name), limit)
    }

    fn beyond(what: &str, limit: usize) -> Self {
        let limit = show_size(limit);
        let message =
            format!("{what} is longer than {limit}, which is the most that is read of one");
        Self {
            in_doubt: true,
            ..Self::new(ErrorKind::InvalidRequest, message)
        }
    }

    /// Whether our side ended the call: its time was up, or the run was cancelled.
    pub fn is_ours(&self) -> bool {
        matches!(self.kind, ErrorKind::Cancelled | ErrorKind::Timeout)
    }

    /// The same of a request that never left.
    pub fn unsent(self) -> Self {
        Self {
            in_doubt: false,
            ..self
        }
    }

    /// The same as what a probe found, with the way out.
    pub fn problem(self) -> Problem {
        let help = match self.kind {
            ErrorKind::Network => Some("start it, or correct its address"),
            ErrorKind::Auth => Some("give it a key that is allowed there"),
            _ => None,
        };
        let problem = match self.kind {
            ErrorKind::RateLimit => Problem::warning(self.message),
            _ => Problem::missing(self.message),
        };
        Problem {
            help: help.map(str::to_owned),
            ..problem
        }
    }

    /// The request or its reply did not get through. The address is shown without path and query,
    /// where keys may stand.
    pub fn transport(peer: Peer<'_>, error: reqwest::Error) -> Self {
        if let Some(elsewhere) = redirect::elsewhere(&error) {
            warn!(target: HTTP, peer = peer.name, to = elsewhere.to, "redirect refused");
            let message = format!(
                "`{}` redirects to `{}`, which graphc.yaml does not name: nothing was sent there",
                peer.name, elsewhere.to
            );
            return Self {
                // The server that was asked may have done it, and point to what came of it.
                in_doubt: true,
                ..Self::new(ErrorKind::InvalidRequest, message)
            };
        }
        let unsent = error.is_connect() || error.is_builder();
        let (kind, what) = if error.is_timeout() {
            (ErrorKind::Timeout, "did not answer in time")
        } else if error.is_builder() {
            (ErrorKind::InvalidRequest, "can't be asked this")
        } else if error.is_connect() {
            (ErrorKind::Network, "can't be reached")
        } else if error.is_redirect() {
            (ErrorKind::InvalidRequest, "redirects without end")
        } else {
            (ErrorKind::Network, "broke the connection off")
        };
        let host = error
            .url()
            .filter(|url| url.has_host())
            .map(|url| format!(" at {}", url.origin().ascii_serialization()))
            .unwrap_or_default();
        let why = peer.secrets.scrub(&causes(&error.without_url()));
        Self {
            in_doubt: !unsent,
            ..Self::new(kind, format!("`{}`{host} {what}: {why}", peer.name))
        }
    }
}

/// An error and what is behind it, without saying anything twice.
pub fn causes(error: &dyn Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
        next = error.source();
    }
    parts.join(": ")
}

impl From<Failure> for ModelError {
    fn from(failure: Failure) -> Self {
        ModelError {
            kind: failure.kind,
            message: failure.message,
            retry_after: failure.retry_after,
        }
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        ToolError {
            kind: failure.kind,
            message: failure.message,
            retry_after: failure.retry_after,
            in_doubt: failure.in_doubt,
        }
    }
}
