//! A server as all of its tools share it: one session, begun at the first call and begun anew once it was lost.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value as Json;
use tokio::sync::Mutex;
use tracing::{info, warn};

use crate::backend::wire::{Failure, Wire};
use crate::base::log::MCP;

use super::session::Session;
use super::spec::ServerSpec;

/// A server.
pub struct Server {
    spec: ServerSpec,
    folder: PathBuf,
    wire: Arc<Wire>,
    /// Held while a session begins, so that calls made at the same time share one.
    open: Mutex<Option<Arc<Session>>>,
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

impl Server {
    /// A server that has not been asked anything. A program of it runs in `folder`, the one of `graphc.yaml`.
    pub fn new(spec: ServerSpec, folder: impl Into<PathBuf>, wire: Arc<Wire>) -> Self {
        Self {
            spec,
            folder: folder.into(),
            wire,
            open: Mutex::default(),
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
    /// Why none could be begun: nothing was asked of the server then.
    pub async fn session(&self) -> Result<Arc<Session>, Failure> {
        let mut open = self.open.lock().await;
        if let Some(session) = open.as_ref().filter(|session| session.is_open()) {
            return Ok(Arc::clone(session));
        }
        let server = self.name();
        if open.take().is_some() {
            warn!(target: MCP, server, "server lost");
        }
        let begun = Session::begin(&self.spec, &self.folder, &self.wire).await;
        let begun = begun.inspect_err(|failure| {
            let (error, message) = (failure.kind.word(), &*failure.message);
            warn!(target: MCP, server, error, reason = message, "server not started");
        })?;
        info!(target: MCP, server, "server started");
        Ok(Arc::clone(open.insert(Arc::new(begun))))
    }

    /// What it offers.
    ///
    /// # Errors
    /// Why it could not be asked.
    pub async fn tools(&self) -> Result<Vec<Offered>, Failure> {
        self.session().await?.tools().await
    }

    /// Ends the session. A later call begins another.
    pub async fn close(&self) {
        let session = self.open.lock().await.take();
        if let Some(session) = session.and_then(Arc::into_inner) {
            session.end().await;
            info!(target: MCP, server = self.name(), "server ended");
        }
    }
}
