//! `command` tools.

use std::sync::Arc;

use crate::backend::limit::TOOL_TIMEOUT;
use crate::backend::tool::command::CommandTool;
use crate::project::spec::command::CommandSpec;
use crate::run::tool::ToolBackend;

use super::Binding;
use super::tool::limited;

impl Binding<'_> {
    /// A program.
    pub(super) fn command(&mut self, spec: &CommandSpec) -> Arc<dyn ToolBackend> {
        let tool = CommandTool::new(spec.clone(), self.folder);
        let most = (spec.max_concurrency, (spec.timeout, TOOL_TIMEOUT));
        limited(Arc::new(tool), &self.places.commands, most)
    }
}
