//! Tools, by the kind of their binding.

use crate::base::name;
use crate::ir::flow::MEMORY;
use crate::ir::{Flow, Tool};
use crate::project::config::{Entry, ToolSpec};

use super::Lacking;

impl Lacking<'_> {
    /// What a tool lacks that no scenario plays.
    pub fn tool(&mut self, flow: &Flow, tool: &Tool) {
        let brought = self
            .brings
            .is_some_and(|brings| brings.brings_tool(&tool.name));
        if brought || tool.body.is_some() {
            return;
        }
        match self.config.tools.get(&tool.name) {
            Some(entry) => {
                self.variables(&entry.missing);
                self.bound(flow, tool, entry);
            }
            None if tool.is_of(MEMORY) => self.memory(),
            None => self.unbound(flow, tool),
        }
    }

    fn bound(&mut self, flow: &Flow, tool: &Tool, entry: &Entry<ToolSpec>) {
        match &entry.value {
            ToolSpec::Sql(spec) => self.sql(flow, tool, spec, entry),
            ToolSpec::Graph(spec) => self.graph(flow, tool, spec),
            ToolSpec::Mcp(spec) => self.server(spec),
            ToolSpec::Command(spec) => {
                let runs_it = format!("tool `{}`", tool.name);
                self.program(&runs_it, spec, entry.span);
            }
            ToolSpec::Script(_) => {}
            ToolSpec::Http(spec) => self.http(tool, spec, entry),
        }
    }

    fn unbound(&mut self, flow: &Flow, tool: &Tool) {
        let declared = self.declared.and_then(|place| place(&tool.at, &tool.name));
        let file = flow.files.get(tool.at.file as usize);
        let place = match (declared, file) {
            (None, Some(file)) => format!(" ({file}:{})", tool.at.line),
            _ => String::new(),
        };
        let profile = match &self.config.profile {
            Some(profile) => format!(" in profile `{profile}`"),
            None => String::new(),
        };
        let message = format!(
            "tool `{}`{place} has no body and is bound to nothing{profile}",
            tool.name
        );
        // A binding of another tool is not this one's, misspelt.
        let is_other = |name: &&str| flow.tools.iter().any(|other| other.name == **name);
        let known = self.config.tools.keys().map(String::as_str);
        let near = name::closest(&tool.name, known.filter(|name| !is_other(name)));
        let help = match near {
            Some(near) => format!("graphc.yaml binds `{near}`; did you mean that?"),
            None => format!(
                "add `{}: {{ command: [..] }}` under `tools` in graphc.yaml, or run with `--scenario NAME`",
                tool.name
            ),
        };
        // A check says it at the misspelt name.
        let meant = near.is_some_and(|near| name::closest(near, [&*tool.name]).is_some());
        if meant && self.declared.is_some() {
            return;
        }
        let finding = Self::finding(declared, message, help);
        let bound = near.and_then(|near| self.config.tools.get(near)?.span);
        self.found.push(match (bound, declared) {
            (Some(bound), Some(_)) => finding.label(bound, "no tool of the flow has this name"),
            _ => finding,
        });
    }
}
