//! HTTP as every backend uses it: one client, bounds in time, errors by kind, no secret in a message.
//!
//! [`Wire`] is the client, [`Bounds`] what ends a call early, [`Failure`] why one failed,
//! [`reported`] what the other side's errors mean, [`Lines`] splits what comes in chunks, [`events`](mod@events) reads a stream of
//! server-sent events. [`connect`] makes a connection and sends nothing.

mod bounds;
mod connect;
mod events;
mod failure;
mod lines;
mod public;
mod redirect;
mod reported;
mod retry_after;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::{Client, ClientBuilder, RequestBuilder, Response};
use sha2::{Digest, Sha256};
use tracing::trace;

use crate::backend::secret::Secrets;
use crate::base::log::HTTP;

pub use bounds::Bounds;
pub use events::{Events, events};
pub use failure::{Failure, causes};
pub use lines::{LINE, LineTooLong, Lines};

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(20);
/// Longest wait for the answer to a request that only tries whether there is one.
pub const PROBE: Duration = Duration::from_secs(20);
/// Most bytes of an error's body that are read.
const ERROR_BODY: usize = 64 << 10;

/// A client that is made at its first use, because making it reads the machine's certificates.
/// Shared by all backends of a run, so that they share connections. Proxies come from the
/// environment (`HTTPS_PROXY`, `NO_PROXY`, ...).
#[derive(Default)]
pub struct Wire {
    client: OnceLock<Result<Client, String>>,
    public: OnceLock<Result<Client, String>>,
    connecting: OnceLock<Result<Client, String>>,
}

impl Wire {
    /// A client to share.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The client itself.
    ///
    /// # Errors
    /// `Network` where the machine has no usable certificates.
    pub fn client(&self) -> Result<&Client, Failure> {
        made(&self.client, |client| client)
    }

    /// A client that connects to public addresses alone. It uses no proxy, which would look names up itself.
    ///
    /// # Errors
    /// As [`Wire::client`] has them.
    pub fn public_client(&self) -> Result<&Client, Failure> {
        made(&self.public, |client| {
            client.no_proxy().dns_resolver(Arc::new(public::PublicOnly))
        })
    }
}

/// A client, made at its first use.
fn made(
    cell: &OnceLock<Result<Client, String>>,
    more: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> Result<&Client, Failure> {
    let made = cell.get_or_init(|| {
        // An error means that the program around us has chosen a provider, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(concat!("graphc/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .redirect(redirect::policy())
            .referer(false);
        more(client)
            .build()
            .map_err(|error| failure::causes(&error))
    });
    made.as_ref()
        .map_err(|why| Failure::network(format!("no HTTP client could be made: {why}")).unsent())
}

/// Who is asked, for messages.
#[derive(Debug, Clone, Copy)]
pub struct Peer<'a> {
    /// Its name: that of a provider or tool.
    pub name: &'a str,
    /// What must not be told.
    pub secrets: &'a Secrets,
}

impl Peer<'_> {
    /// The beginning of what it said, without secrets: they are taken out before the cut, which else left the beginning of one.
    pub fn excerpt(&self, text: &str) -> String {
        crate::base::size::excerpt(&self.secrets.scrub(text))
    }
}

/// An idempotency key as others are given it: a hash of 32 hexadecimal digits. Ids of threads are often those of people.
pub fn key(key: &str) -> String {
    let digest = Sha256::digest(key.as_bytes());
    let bytes = digest.iter().take(16);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// Sends a request and waits for the head of the reply.
///
/// # Errors
/// By kind: what kept the request from being answered, or a status that isn't success, with the
/// message that its body holds.
pub async fn send(
    request: RequestBuilder,
    peer: Peer<'_>,
    bounds: &Bounds,
) -> Result<Response, Failure> {
    let response = answer(request, peer, bounds).await?;
    match response.status().is_success() {
        true => Ok(response),
        false => Err(refused(response, peer, bounds).await),
    }
}

/// Sends a request and waits for the head of the reply, whatever its status.
///
/// # Errors
/// What kept the request from being answered.
pub async fn answer(
    request: RequestBuilder,
    peer: Peer<'_>,
    bounds: &Bounds,
) -> Result<Response, Failure> {
    let sent = bounds.receive(request.send()).await?;
    let response = sent.map_err(|error| Failure::transport(peer, error))?;
    let status = response.status().as_u16();
    trace!(target: HTTP, peer = peer.name, status, "answered");
    Ok(response)
}

/// What a reply means whose status isn't success, with the message that its body holds.
pub async fn refused(response: Response, peer: Peer<'_>, bounds: &Bounds) -> Failure {
    let status = response.status();
    let retry_after = retry_after::wanted(response.headers());
    let body = body(response, ERROR_BODY, peer, bounds)
        .await
        .unwrap_or_default();
    Failure::status(peer, status, retry_after, &body)
}

/// Reads the body of a reply.
///
/// # Errors
/// `Network` where the connection breaks, `InvalidRequest` where it is longer than `limit` bytes.
pub async fn body(
    mut response: Response,
    limit: usize,
    peer: Peer<'_>,
    bounds: &Bounds,
) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    loop {
        let chunk = bounds.receive(response.chunk()).await?;
        match chunk.map_err(|error| Failure::transport(peer, error))? {
            None => return Ok(bytes),
            Some(chunk) if bytes.len() + chunk.len() > limit => {
                return Err(Failure::too_long(peer, limit));
            }
            Some(chunk) => bytes.extend_from_slice(&chunk),
        }
    }
}
