//! `command` tools, and programs of MCP servers.

use std::sync::Arc;

use crate::backend::limit::TOOL_TIMEOUT;
use crate::backend::tool::command::CommandTool;
use crate::base::Span;
use crate::ir::Tool;
use crate::project::spec::command::CommandSpec;
use crate::project::spec::command::absent::absent;
use crate::run::tool::ToolBackend;

use super::Binding;
use super::tool::limited;

impl Binding<'_> {
    /// A program. One that is not on this machine is reported.
    pub(super) fn command(
        &mut self,
        tool: &Tool,
        spec: &CommandSpec,
        span: Option<Span>,
    ) -> Arc<dyn ToolBackend> {
        let runs_it = format!("tool `{}`", tool.name);
        self.program(&runs_it, spec, span);
        let tool = CommandTool::new(spec.clone(), self.folder);
        let most = (spec.max_concurrency, (spec.timeout, TOOL_TIMEOUT));
        limited(Arc::new(tool), &self.places.commands, most)
    }

    /// Reports a program or its script that is not on this machine; `whose` runs it.
    pub(super) fn program(&mut self, whose: &str, spec: &CommandSpec, span: Option<Span>) {
        let Some(absent) = absent(spec, self.folder) else {
            return;
        };
        let (message, help) = absent.words(whose);
        let span = spec.at.get(absent.word()).copied().or(span);
        self.report(span, message, help.to_owned());
    }
}
