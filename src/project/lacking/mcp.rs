//! Tools of MCP servers.

use crate::project::config::unknown_server;
use crate::project::spec::mcp::{McpSpec, ServerTransport};

use super::Lacking;

impl Lacking<'_> {
    /// The server of a tool, once for all of its tools: one that is not described, or whose program is not on this machine.
    pub fn server(&mut self, tool: &McpSpec) {
        if !self.seen.servers.insert(tool.server.clone()) {
            return;
        }
        let known = &self.config.mcp_servers;
        let Some(entry) = known.get(&tool.server) else {
            let names = known.keys().map(String::as_str);
            self.found.push(unknown_server(tool, names));
            return;
        };
        self.variables(&entry.missing);
        if let ServerTransport::Command(command) = &entry.value.transport {
            let whose = format!("MCP server `{}`", entry.value.name);
            self.program(&whose, command, entry.span);
        }
    }
}
