//! What `graphc.yaml` says of servers and of their tools.

use std::fmt;
use std::time::Duration;

use crate::base::Span;
use crate::base::secret::{Secret, Secrets};

use super::command::CommandSpec;

/// How long a server may take to start and to shake hands, unless its entry says otherwise: `npx` may have to download one.
pub const DEFAULT_START: Duration = Duration::from_secs(60);

/// Most bytes of one message of a server, and of a result unless its tool says otherwise.
pub const DEFAULT_LIMIT: usize = 16 << 20;

/// A server: an entry of `mcp_servers`.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSpec {
    /// Its name in the file.
    pub name: String,
    /// How it is reached.
    pub transport: ServerTransport,
    /// How long it may take to be ready.
    pub start_timeout: Duration,
    /// What must not be told.
    pub secrets: Secrets,
}

impl ServerSpec {
    /// One that nothing describes: it is never asked, since a flow that needs it does not run.
    pub fn unknown(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            transport: ServerTransport::Http(String::new(), Vec::new()),
            start_timeout: DEFAULT_START,
            secrets: Secrets::default(),
        }
    }
}

/// How a server is reached.
#[derive(Clone, PartialEq)]
pub enum ServerTransport {
    /// A program that is spoken to over its stdin and stdout. Its `limit` is that of one message.
    Command(CommandSpec),
    /// An address, by streamable HTTP, with headers that each request has.
    Http(String, Vec<(String, Secret)>),
}

impl fmt::Debug for ServerTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerTransport::Command(spec) => spec.fmt(f),
            ServerTransport::Http(_, headers) => {
                let names = headers.iter().map(|(name, _)| name);
                write!(f, "http {:?}", names.collect::<Vec<_>>())
            }
        }
    }
}

/// A tool of a server: `mcp` in an entry of `tools`.
#[derive(Debug, Clone, PartialEq)]
pub struct McpSpec {
    /// Name of the server in `mcp_servers`.
    pub server: String,
    /// Where that is written.
    pub server_at: Span,
    /// What the server calls it; as the flow does where this is `None`.
    pub tool: Option<String>,
    /// Longest time of one call.
    pub timeout: Option<Duration>,
    /// Most bytes of a result.
    pub limit: usize,
}
