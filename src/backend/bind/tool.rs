//! Tools: what serves each, by the kind of its binding.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::backend::limit::{self, Limited, TOOL_TIMEOUT};
use crate::backend::mask;
use crate::backend::tool::script::ScriptTool;
use crate::ir::{Flow, Tool};
use crate::project::config::{Entry, ToolSpec};
use crate::run::memory::{self, MemoryTool};
use crate::run::tool::ToolBackend;

use super::Binding;

pub(super) fn limited(
    tool: Arc<dyn ToolBackend>,
    places: &Arc<Semaphore>,
    (most, timeouts): (Option<usize>, (Option<Duration>, Duration)),
) -> Arc<dyn ToolBackend> {
    let own = most.map(limit::places);
    Arc::new(Limited::new(tool, own, places, timeouts))
}

impl Binding<'_> {
    /// Whether a scenario plays a tool, so that it needs no settings.
    pub(super) fn plays_tool(&self, tool: &Tool) -> bool {
        let Some(script) = self.script else {
            return false;
        };
        let scenario = script.scenario();
        let recording = scenario.recorded && script.is_recording();
        script.tool(&tool.name).is_some()
            || tool.is_of(memory::MODULE)
            || !(scenario.is_real(&tool.name) || recording)
    }

    /// What serves a tool, without secrets in what it gives. The outer `None` stands for one that nothing serves, the inner one for the tool's own body.
    #[allow(clippy::option_option)]
    pub(super) fn tool(
        &mut self,
        flow: &Flow,
        tool: &Tool,
    ) -> Option<Option<Arc<dyn ToolBackend>>> {
        let serves = self.unmasked_tool(flow, tool)?;
        Some(serves.map(|serves| mask::tool(serves, &self.secrets)))
    }

    #[allow(clippy::option_option)]
    fn unmasked_tool(&mut self, flow: &Flow, tool: &Tool) -> Option<Option<Arc<dyn ToolBackend>>> {
        if let Some(given) = self.given.and_then(|given| given.tool(&tool.name)) {
            return Some(Some(given));
        }
        if let Some(played) = self.script.and_then(|script| script.tool(&tool.name)) {
            return Some(Some(played));
        }
        if tool.body.is_some() {
            return Some(None);
        }
        if let (true, Some(script)) = (tool.is_of(memory::MODULE), self.script) {
            return Some(Some(script.memory_tool()));
        }
        // A scenario in which a reply was forgotten must not pay, mail or delete.
        if let Some(script) = self.script
            && !script.scenario().is_real(&tool.name)
        {
            match (script.scenario().recorded, script.is_recording()) {
                (false, _) => return Some(Some(script.absent_tool())),
                (true, false) => return Some(Some(script.recorded_tool(None))),
                (true, true) => {}
            }
        }
        let Some(entry) = self.config.tools.get(&tool.name) else {
            if tool.is_of(memory::MODULE) {
                return Some(Some(Arc::new(MemoryTool::new(self.memory()?))));
            }
            return None;
        };
        let bound = self.bound(flow, tool, entry);
        Some(Some(match self.script {
            Some(script) if script.scenario().is_real(&tool.name) => script.real_tool(bound),
            Some(script) => script.recorded_tool(Some(bound)),
            None => bound,
        }))
    }

    pub(super) fn bound(
        &mut self,
        flow: &Flow,
        tool: &Tool,
        entry: &Entry<ToolSpec>,
    ) -> Arc<dyn ToolBackend> {
        match &entry.value {
            ToolSpec::Sql(spec) => self.sql(flow, tool, spec),
            ToolSpec::Graph(spec) => self.graph(flow, tool, spec),
            ToolSpec::Mcp(spec) => {
                let made = self.mcp(flow, tool, spec);
                let most = (None, (spec.timeout, TOOL_TIMEOUT));
                limited(made, &self.places.requests, most)
            }
            ToolSpec::Command(spec) => self.command(spec),
            ToolSpec::Script(replies) => Arc::new(ScriptTool::new(replies.clone())),
            ToolSpec::Http(spec) => self.http(spec),
        }
    }
}
