//! Tools of MCP servers.

use std::sync::Arc;

use crate::backend::tool::mcp::McpTool;
use crate::backend::tool::mcp::server::Server;
use crate::ir::{Flow, Tool};
use crate::project::spec::mcp::{McpSpec, ServerSpec};
use crate::run::tool::ToolBackend;

use super::Binding;

impl Binding<'_> {
    /// A tool of a server; one that is never called where its server is not described.
    pub(super) fn mcp(&mut self, flow: &Flow, tool: &Tool, spec: &McpSpec) -> Arc<dyn ToolBackend> {
        let server = self.server(spec);
        Arc::new(McpTool::new(spec.clone(), server, tool, &flow.types))
    }

    /// The server of a tool, made once for all of its tools. It is started at its first call.
    pub(super) fn server(&mut self, tool: &McpSpec) -> Arc<Server> {
        if let Some(made) = self.servers.get(&tool.server) {
            return Arc::clone(made);
        }
        let spec = match self.config.mcp_servers.get(&tool.server) {
            Some(entry) => entry.value.clone(),
            None => ServerSpec::unknown(&tool.server),
        };
        let made = Arc::new(Server::new(spec, self.folder, Arc::clone(&self.wire)));
        self.servers.insert(tool.server.clone(), Arc::clone(&made));
        made
    }
}
