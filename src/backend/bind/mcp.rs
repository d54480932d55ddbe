//! Tools of MCP servers.

use std::sync::Arc;

use crate::backend::tool::mcp::McpTool;
use crate::backend::tool::mcp::server::Server;
use crate::base::Span;
use crate::ir::{Flow, Tool};
use crate::project::config::unknown_server;
use crate::project::spec::mcp::{McpSpec, Reach, ServerSpec};
use crate::run::tool::ToolBackend;

use super::Binding;

impl Binding<'_> {
    /// A tool of a server. One whose server is not described is reported; the backend is not used then.
    pub(super) fn mcp(&mut self, flow: &Flow, tool: &Tool, spec: &McpSpec) -> Arc<dyn ToolBackend> {
        let server = self.server(spec);
        Arc::new(McpTool::new(spec.clone(), server, tool, &flow.types))
    }

    /// The server of a tool, made once for all of its tools. It is started at its first call.
    pub(super) fn server(&mut self, tool: &McpSpec) -> Arc<Server> {
        if let Some(made) = self.servers.get(&tool.server) {
            return Arc::clone(made);
        }
        let known = &self.config.mcp_servers;
        let spec = match known.get(&tool.server) {
            Some(entry) => {
                self.variables(&entry.missing);
                self.reachable(&entry.value, entry.span);
                entry.value.clone()
            }
            None => {
                let names = known.keys().map(String::as_str);
                self.found.push(unknown_server(tool, names));
                ServerSpec::unknown(&tool.server)
            }
        };
        let made = Arc::new(Server::new(spec, self.folder, Arc::clone(&self.wire)));
        self.servers.insert(tool.server.clone(), Arc::clone(&made));
        made
    }

    /// Reports a program of a server that is not on this machine.
    fn reachable(&mut self, spec: &ServerSpec, span: Option<Span>) {
        if let Reach::Command(command) = &spec.reach {
            let whose = format!("MCP server `{}`", spec.name);
            self.program(&whose, command, span);
        }
    }
}
