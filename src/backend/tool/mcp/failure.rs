//! What the SDK's errors mean for a call.

use std::error::Error;

use reqwest::StatusCode;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpError,
};

use crate::backend::wire::{Failure, Peer, causes};
use crate::ir::ErrorKind;

use crate::project::spec::mcp::ServerSpec;

/// A server that could not be begun with: nothing was asked of it.
pub fn unsent(spec: &ServerSpec, why: &str) -> Failure {
    let why = spec.secrets.scrub(why);
    Failure::network(format!("MCP server `{}`: {why}", spec.name)).unsent()
}

/// Why a handshake failed.
pub fn of_handshake(spec: &ServerSpec, error: &ClientInitializeError) -> Failure {
    if let ClientInitializeError::TransportError { error, .. } = error {
        return of_transport(spec, error.error.as_ref()).unsent();
    }
    unsent(
        spec,
        &match error {
            ClientInitializeError::ConnectionClosed(_) => {
                "it ended before it had shaken hands".to_owned()
            }
            ClientInitializeError::JsonRpcError(error) => {
                format!("it refuses the handshake: {}", error.message)
            }
            other => format!("the handshake failed: {other}"),
        },
    )
}

/// Why a request has no result.
pub fn of_request(spec: &ServerSpec, error: &ServiceError) -> Failure {
    let name = &spec.name;
    match error {
        // The server has understood the request and says no, of an unknown tool or bad arguments too.
        ServiceError::McpError(error) => Failure::new(
            ErrorKind::ToolError,
            spec.secrets
                .scrub(&format!("MCP server `{name}`: {}", error.message)),
        ),
        ServiceError::TransportSend(error) => of_transport(spec, error.error.as_ref()),
        ServiceError::TransportClosed => Failure::network(format!(
            "MCP server `{name}` broke the connection off before it had answered"
        )),
        ServiceError::UnexpectedResponse => Failure::new(
            ErrorKind::InvalidOutput,
            format!("MCP server `{name}` answered something else than the result of a tool"),
        ),
        other => {
            let why = spec.secrets.scrub(&other.to_string());
            Failure::network(format!("MCP server `{name}`: {why}"))
        }
    }
}

/// A message that did not get through.
fn of_transport(spec: &ServerSpec, error: &(dyn Error + 'static)) -> Failure {
    let name = &spec.name;
    let peer = Peer {
        name,
        secrets: &spec.secrets,
    };
    let mut next = Some(error);
    while let Some(one) = next {
        if let Some(status) = one.downcast_ref::<HttpStatusError>()
            && let Ok(code) = StatusCode::from_u16(status.status)
        {
            return Failure::status(peer, code, None, b"");
        }
        if one.is::<AuthRequiredError>() || one.is::<InsufficientScopeError>() {
            let message = format!(
                "MCP server `{name}` asks for authorization, which its `headers` do not give"
            );
            return Failure::new(ErrorKind::Auth, message);
        }
        let inner = one.downcast_ref::<StreamableHttpError<reqwest::Error>>();
        if let Some(StreamableHttpError::ResponseBodyTooLarge { max_size }) = inner {
            return Failure::too_long(peer, *max_size);
        }
        let client = match inner {
            // Not among its sources.
            Some(StreamableHttpError::Client(error)) => Some(error),
            _ => one.downcast_ref::<reqwest::Error>(),
        };
        if let Some(error) = client {
            let what = match error.is_connect() {
                true => "can't be reached",
                false => "broke the connection off",
            };
            // An address may have a key behind its path, and says nothing that the file does not.
            let why = error.source().map(causes).unwrap_or_default();
            let why = spec.secrets.scrub(&why);
            let failure = Failure::network(format!("MCP server `{name}` {what}: {why}"));
            return match error.is_connect() {
                true => failure.unsent(),
                false => failure,
            };
        }
        next = one.source();
    }
    let why = spec.secrets.scrub(&causes(error));
    Failure::network(format!("MCP server `{name}`: {why}"))
}

/// A failure, with what a program that has ended said last.
pub fn with_last_words(mut failure: Failure, spec: &ServerSpec, said: &str) -> Failure {
    if !said.is_empty() {
        failure.message.push_str("; it said last: ");
        failure.message.push_str(&spec.secrets.scrub(said));
    }
    failure
}
