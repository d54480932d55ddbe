//! A server as all of its tools share it: one session, begun at the first call and begun anew once it was lost.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value as Json;
use tokio::sync::Mutex;
use tracing::{info, warn};

use crate::backend::wire::{Failure, Wire};
use crate::base::log::MCP;

use super::session::Session;
use crate::project::spec::mcp::ServerSpec;

/// A server.
pub struct Server {
    spec: ServerSpec,
    folder: PathBuf,
    wire: Arc<Wire>,
    /// Held while a session begins, so that calls made at the same time share one.
    state: Mutex<State>,
    /// Attempts to begin a session that have failed.
    failures: AtomicU64,
}

#[derive(Default)]
struct State {
    open: Option<Arc<Session>>,
    /// Why the last attempt to begin one failed.
    failure: Option<Failure>,
}

/// A tool that a server offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input: Json,
    /// JSON Schema of its structured results.
    pub output: Option<Json>,
    /// What the server says of its effect.
    pub hints: Hints,
}

/// `annotations` of a tool, as far as they are about its effect; `None` where the server says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hints {
    /// `readOnlyHint`
    pub read_only: Option<bool>,
    /// `destructiveHint`
    pub destructive: Option<bool>,
    /// `idempotentHint`
    pub idempotent: Option<bool>,
}

impl From<rmcp::model::Tool> for Offered {
    fn from(tool: rmcp::model::Tool) -> Self {
        let hints = tool.annotations.unwrap_or_default();
        Self {
            name: tool.name.into_owned(),
            description: tool.description.unwrap_or_default().into_owned(),
            input: Json::Object(Arc::unwrap_or_clone(tool.input_schema)),
            output: tool
                .output_schema
                .map(|schema| Json::Object(Arc::unwrap_or_clone(schema))),
            hints: Hints {
                read_only: hints.read_only_hint,
                destructive: hints.destructive_hint,
                idempotent: hints.idempotent_hint,
            },
        }
    }
}

impl Server {
    /// A server that has not been asked anything. A program of it runs in `folder`, the one of `graphc.yaml`.
    pub fn new(spec: ServerSpec, folder: impl Into<PathBuf>, wire: Arc<Wire>) -> Self {
        Self {
            spec,
            folder: folder.into(),
            wire,
            state: Mutex::default(),
            failures: AtomicU64::default(),
        }
    }

    /// Its name in `graphc.yaml`.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// What `graphc.yaml` says of it.
    pub fn spec(&self) -> &ServerSpec {
        &self.spec
    }

    /// The session that is open; a new one where there is none, or where it was lost.
    ///
    /// # Errors
    /// Why none could be begun: nothing was asked of the server then. Calls that waited for the same attempt all have its error.
    pub async fn session(&self) -> Result<Arc<Session>, Failure> {
        let failures = self.failures.load(Ordering::Relaxed);
        let mut state = self.state.lock().await;
        if let Some(session) = state.open.as_ref().filter(|session| session.is_open()) {
            return Ok(Arc::clone(session));
        }
        if let Some(failure) = &state.failure
            && self.failures.load(Ordering::Relaxed) != failures
        {
            return Err(failure.clone());
        }
        let server = self.name();
        if std::mem::take(&mut *state).open.is_some() {
            warn!(target: MCP, server, "server lost");
        }
        match Session::begin(&self.spec, &self.folder, &self.wire).await {
            Ok(begun) => {
                info!(target: MCP, server, "server started");
                Ok(Arc::clone(state.open.insert(Arc::new(begun))))
            }
            Err(failure) => {
                let (error, message) = (failure.kind.word(), &*failure.message);
                warn!(target: MCP, server, error, reason = message, "server not started");
                self.failures.fetch_add(1, Ordering::Relaxed);
                state.failure = Some(failure.clone());
                Err(failure)
            }
        }
    }

    /// What it offers, asked for once a session.
    ///
    /// # Errors
    /// Why it could not be asked.
    pub async fn tools(&self) -> Result<Arc<[Offered]>, Failure> {
        self.session().await?.tools().await
    }

    /// Ends the session. A later call begins another.
    pub async fn close(&self) {
        let session = self.state.lock().await.open.take();
        if let Some(session) = session.and_then(Arc::into_inner) {
            session.end().await;
            info!(target: MCP, server = self.name(), "server ended");
        }
    }
}
