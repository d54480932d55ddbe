//! `mcp` tools: tools of a server that speaks the Model Context Protocol, through its official SDK (`rmcp`).
//!
//! [`spec`](crate::project::spec::mcp) is what `graphc.yaml` says, [`server`] a server that is started or connected to at its first call and shared by
//! all of its tools, [`session`] one connection to it, `transport` the way that messages take, [`content`] what a result is as
//! JSON, [`failure`] what an error means, [`fit`] whether a declaration fits what the server offers.

pub mod content;
pub mod failure;
pub mod fit;
pub mod server;
pub mod session;
mod transport;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map as JsonMap, Value as Json};

use crate::backend::wire::{self, Bounds, Failure};
use crate::expr::Type;
use crate::expr::ty::{RecordField, TypeTable};
use crate::ir::{ErrorKind, Tool};
use crate::run::model::CallContext;
use crate::run::probe::{Probed, Problem};
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

use crate::project::spec::mcp::McpSpec;
use server::Server;
use session::Request;

/// A tool of a server.
pub struct McpTool {
    spec: McpSpec,
    server: Arc<Server>,
    declared: Tool,
    types: TypeTable,
}

impl McpTool {
    /// The tool that a flow declares, served by one of a server.
    pub fn new(spec: McpSpec, server: Arc<Server>, declared: &Tool, types: &TypeTable) -> Self {
        Self {
            spec,
            server,
            declared: declared.clone(),
            types: types.clone(),
        }
    }

    /// What the server calls it.
    fn name(&self) -> &str {
        self.spec.tool.as_deref().unwrap_or(&self.declared.name)
    }

    async fn ask(&self, call: &ToolCall, cx: &CallContext) -> Result<Json, Failure> {
        let session = {
            // A server that starts takes none of the call's time.
            let _waiting = cx.waits.begin();
            let start = self.server.session();
            tokio::select! {
                biased;
                () = cx.stop.cancelled() => return Err(Failure::cancelled().unsent()),
                session = start => session?,
            }
        };
        let bounds = Bounds::new(cx, self.spec.timeout);
        let request = Request {
            tool: self.name(),
            args: sent(&call.args, &self.declared.params, &self.types),
            key: &wire::key(&cx.idempotency_key),
            reports: cx.reports.as_ref(),
        };
        let result = bounds.receive(session.call(request)).await;
        let result = result.map_err(|mut failure| {
            if failure.kind == ErrorKind::Timeout {
                let (tool, server) = (self.name(), self.server.name());
                failure.message = format!(
                    "`{tool}` of server `{server}` took too long: {}",
                    failure.message
                );
            }
            failure
        })??;
        let returns = self.declared.returns.as_ref().unwrap_or(&Type::Json);
        content::result(result, (returns, &self.types), self.spec.limit)
    }
}

/// Arguments as they are sent: a field that is null is left out, in records too, since a schema says of a property that need not be given
/// that it may be missing, and seldom that it may be null. What is `json` stays as it is.
fn sent(
    given: &JsonMap<String, Json>,
    fields: &[RecordField],
    types: &TypeTable,
) -> JsonMap<String, Json> {
    let given = given.iter().filter(|(_, value)| !value.is_null());
    let sent = given.map(
        |(name, value)| match fields.iter().find(|field| field.name == *name) {
            Some(field) => (
                field.outer_name().to_owned(),
                trimmed(value, &field.ty, types),
            ),
            None => (name.clone(), value.clone()),
        },
    );
    sent.collect()
}

fn trimmed(value: &Json, ty: &Type, types: &TypeTable) -> Json {
    match (ty, value) {
        (Type::Nullable(of), _) => trimmed(value, of, types),
        (Type::List(of), Json::Array(items)) => {
            items.iter().map(|item| trimmed(item, of, types)).collect()
        }
        (Type::Map(of), Json::Object(entries)) => {
            let entries = entries.iter();
            Json::Object(
                entries
                    .map(|(name, value)| (name.clone(), trimmed(value, of, types)))
                    .collect(),
            )
        }
        (Type::Record(id), Json::Object(entries)) => {
            let fields = types.records.get(*id).map(|record| &record.fields);
            Json::Object(sent(
                entries,
                fields.map(Vec::as_slice).unwrap_or_default(),
                types,
            ))
        }
        _ => value.clone(),
    }
}

#[async_trait]
impl ToolBackend for McpTool {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        Ok(self.ask(&call, cx).await?)
    }

    async fn probe(&self) -> Probed {
        let offered = match self.server.tools().await {
            Ok(offered) => offered,
            Err(failure) => return Problem::missing(failure.message).into(),
        };
        let (name, server) = (self.name(), self.server.name());
        let misfits = fit::misfits((&self.declared, &self.types), (name, server), &offered);
        match misfits.is_empty() {
            true => Probed::Ok(format!("`{server}` offers it as it is declared")),
            false => Probed::Problems(misfits.into_iter().map(Problem::missing).collect()),
        }
    }

    async fn close(&self) {
        self.server.close().await;
    }
}
