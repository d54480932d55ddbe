//! One connection to a server, from its handshake to its end.

mod http;
mod lines;
mod process;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
    ClientCapabilities, ClientConfig, ClientRequest, Implementation, MetaObject,
    PaginatedRequestParams, ProgressToken, RequestId, RequestMetaObject, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RunningService, ServiceError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Map as JsonMap, Value as Json};
use tokio::sync::OnceCell;

use crate::backend::secret::Secret;
use crate::backend::wire::{self, Failure, Wire};
use crate::ir::ErrorKind;
use crate::run::report::Reports;

use super::failure;
use super::server::Offered;
use super::transport::{Progress, Watched};
use crate::project::spec::mcp::{DEFAULT_LIMIT, ServerSpec, ServerTransport};

use http::Watching;
use lines::Lines;
use process::Process;

/// How long a server is given to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// How often a broken stream of a reply is taken up again.
const RECONNECTS: usize = 3;
/// Most tools of a server that are looked at.
const MOST_TOOLS: usize = 10_000;
/// Most bytes of their descriptions and schemas.
const MOST_BYTES: usize = 64 << 20;
/// Longest time in which a server must list its tools.
const LISTING: Duration = Duration::from_secs(60);
/// Where the idempotency key of a call stands in its `_meta`.
const KEY: &str = "graphc/idempotency_key";

/// A connection that has shaken hands.
pub struct Session {
    spec: ServerSpec,
    service: RunningService<RoleClient, ClientConfig>,
    progress: Progress,
    /// The program, where the server is one; ended when this is dropped.
    process: Option<Process>,
    /// Whether it has sent a message that is longer than one may be, and no call has failed with that so far.
    too_long: Arc<AtomicBool>,
    /// What it offers, once it was asked.
    listing: OnceCell<Arc<[Offered]>>,
}

/// A call of a tool.
pub struct Request<'a> {
    /// Its name at the server.
    pub tool: &'a str,
    /// Arguments.
    pub args: JsonMap<String, Json>,
    /// The call's idempotency key.
    pub key: &'a str,
    /// Where its progress is reported.
    pub reports: Option<&'a Reports>,
}

impl Session {
    /// Starts the server or connects to it, and shakes hands.
    ///
    /// # Errors
    /// Why that failed; nothing of it is left then.
    pub async fn begin(
        spec: &ServerSpec,
        folder: &Path,
        wire: &Arc<Wire>,
    ) -> Result<Self, Failure> {
        let too_long: Arc<AtomicBool> = Arc::default();
        let long = Arc::clone(&too_long);
        match &spec.transport {
            ServerTransport::Command(command) => {
                let started = Process::start(command, folder);
                let (process, stdout, stdin) = started.map_err(|why| {
                    let program = command.argv.first().map_or("", String::as_str);
                    let why = format!("the program `{program}` could not be started: {why}");
                    failure::unsent(spec, &why)
                })?;
                let stdout = Lines::new(stdout, DEFAULT_LIMIT, long);
                let transport = AsyncRwTransport::new_client(stdout, stdin);
                let transport = transport.with_max_line_length(usize::MAX);
                Self::shake_hands(spec, transport, Some(process), too_long).await
            }
            ServerTransport::Http(url, headers) => {
                let mut retry = ExponentialBackoff::default();
                retry.max_times = Some(RECONNECTS);
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(custom(headers))
                    .max_sse_event_size(DEFAULT_LIMIT)
                    .max_json_response_size(DEFAULT_LIMIT);
                config.retry_config = Arc::new(retry);
                let client = Watching::new(wire.client()?.clone(), long);
                let transport = StreamableHttpClientTransport::with_client(client, config);
                Self::shake_hands(spec, transport, None, too_long).await
            }
        }
    }

    async fn shake_hands<T>(
        spec: &ServerSpec,
        transport: T,
        process: Option<Process>,
        too_long: Arc<AtomicBool>,
    ) -> Result<Self, Failure>
    where
        T: Transport<RoleClient> + 'static,
    {
        let progress = Progress::default();
        let transport = Watched {
            inner: transport,
            progress: progress.clone(),
        };
        let us = Implementation::new("graphc", env!("CARGO_PKG_VERSION"));
        let us = ClientConfig::new(ClientCapabilities::default(), us);
        let begun = tokio::time::timeout(spec.start_timeout, us.serve(transport)).await;
        let why = match begun {
            Ok(Ok(service)) => {
                return Ok(Self {
                    spec: spec.clone(),
                    service,
                    progress,
                    process,
                    too_long,
                    listing: OnceCell::new(),
                });
            }
            Ok(Err(error)) => failure::of_handshake(spec, &error),
            Err(_) => {
                let within = crate::base::duration::show(spec.start_timeout);
                failure::unsent(spec, &format!("it was not ready within {within}"))
            }
        };
        Err(match process {
            Some(process) => failure::with_last_words(why, spec, &process.last_words().await),
            None => why,
        })
    }

    /// Whether it can take a call.
    pub fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed()
    }

    /// What the server offers, as it was when this was first asked for: all pages of it, up to 10,000 tools or 64 MiB.
    ///
    /// # Errors
    /// Why it could not be asked.
    pub async fn tools(&self) -> Result<Arc<[Offered]>, Failure> {
        let listed = self.listing.get_or_try_init(|| self.list()).await?;
        Ok(Arc::clone(listed))
    }

    async fn list(&self) -> Result<Arc<[Offered]>, Failure> {
        match tokio::time::timeout(LISTING, self.pages()).await {
            Ok(Ok(offered)) => Ok(offered.into()),
            Ok(Err(error)) => Err(self.failed(error).await),
            Err(_) => {
                let within = crate::base::duration::show(LISTING);
                let name = &self.spec.name;
                let message = format!("MCP server `{name}` did not list its tools within {within}");
                Err(Failure::new(ErrorKind::Timeout, message))
            }
        }
    }

    async fn pages(&self) -> Result<Vec<Offered>, ServiceError> {
        let (mut offered, mut bytes, mut cursor) = (Vec::new(), 0, None);
        loop {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.service.list_tools(Some(params)).await?;
            for tool in page.tools {
                bytes += serde_json::to_vec(&tool).map_or(0, |json| json.len());
                if offered.len() >= MOST_TOOLS || bytes > MOST_BYTES {
                    return Ok(offered);
                }
                offered.push(Offered::from(tool));
            }
            if page.next_cursor.is_none() {
                return Ok(offered);
            }
            cursor = page.next_cursor;
        }
    }

    /// Calls a tool, and reports its progress meanwhile. Where this is dropped before it has ended, the server is told that the
    /// call is cancelled.
    ///
    /// # Errors
    /// By kind, where the server gave no result.
    pub async fn call(&self, request: Request<'_>) -> Result<CallToolResult, Failure> {
        let mut params = CallToolRequestParams::new(request.tool.to_owned());
        params.arguments = Some(request.args);
        let mut options = PeerRequestOptions::no_options();
        if !request.key.is_empty() {
            let mut meta = MetaObject::new();
            meta.insert(KEY.to_owned(), request.key.into());
            options = options.with_meta(RequestMetaObject::from(meta));
        }
        let call = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent = self.service.send_request_with_option(call, options).await;
        let handle = match sent {
            Ok(handle) => handle,
            // The connection had gone before the call did.
            Err(error) => return Err(self.failed(error).await.unsent()),
        };
        let mut under_way = UnderWay {
            peer: self.service.peer(),
            progress: &self.progress,
            id: Some(handle.id.clone()),
            token: handle.progress_token.clone(),
        };
        let mut heard = request
            .reports
            .map(|to| (self.progress.of(&under_way.token), to));
        let mut answer = std::pin::pin!(handle.await_response());
        let answer = loop {
            let next = async {
                match &mut heard {
                    Some((reports, to)) => (reports.recv().await, *to),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                (Some(report), to) = next => to.send(Ok(report)).await,
                answer = &mut answer => break answer,
            }
        };
        under_way.id = None;
        while let Some((reports, to)) = &mut heard
            && let Ok(report) = reports.try_recv()
        {
            to.send(Ok(report)).await;
        }
        match answer {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(_) => Err(self.failed(ServiceError::UnexpectedResponse).await),
            Err(error) => Err(self.failed(error).await),
        }
    }

    /// What an error of a request means.
    async fn failed(&self, error: ServiceError) -> Failure {
        let failure = failure::of_request(&self.spec, &error);
        let closed = matches!(error, ServiceError::TransportClosed);
        if closed && self.too_long.swap(false, Ordering::Relaxed) {
            let peer = wire::Peer {
                name: &self.spec.name,
                secrets: &self.spec.secrets,
            };
            return Failure::too_long(peer, DEFAULT_LIMIT);
        }
        match &self.process {
            Some(process) if !self.is_open() => {
                failure::with_last_words(failure, &self.spec, &process.last_words().await)
            }
            _ => failure,
        }
    }

    /// Ends it in order: the server is told, given a while to end by itself, and killed with all that it has started.
    pub async fn end(mut self) {
        let _ = self.service.close_with_timeout(GRACE).await;
        if let Some(process) = self.process {
            process.end(GRACE).await;
        }
    }
}

/// Headers as the SDK takes them; what can't be one was refused when the settings were read.
fn custom(headers: &[(String, Secret)]) -> HashMap<HeaderName, HeaderValue> {
    let headers = headers.iter().filter_map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let mut value = HeaderValue::from_str(value.reveal()).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    });
    headers.collect()
}

/// A call that the server works on.
struct UnderWay<'a> {
    peer: &'a Peer<RoleClient>,
    progress: &'a Progress,
    /// The request; `None` once it was answered.
    id: Option<RequestId>,
    token: ProgressToken,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.progress.forget(&self.token);
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        // Without a runtime the process is ending, and the server with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let why = "nobody waits for it any more".to_owned();
                let cancelled = CancelledNotificationParam::new(Some(id), Some(why));
                let _ = peer.notify_cancelled(cancelled).await;
            });
        }
    }
}
