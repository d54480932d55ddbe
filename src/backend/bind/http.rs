//! `http` tools.

use std::sync::Arc;

use crate::backend::limit::TOOL_TIMEOUT;
use crate::backend::tool::http::HttpTool;
use crate::project::spec::http::HttpSpec;
use crate::run::tool::ToolBackend;

use super::Binding;
use super::tool::limited;

impl Binding<'_> {
    /// A request, with the hosts that it may reach.
    pub(super) fn http(&mut self, spec: &HttpSpec) -> Arc<dyn ToolBackend> {
        let mut spec = spec.clone();
        spec.hosts = self.config.allow_hosts.clone().unwrap_or_default();
        let most = (spec.max_concurrency, (spec.timeout, TOOL_TIMEOUT));
        let tool = HttpTool::new(spec, Arc::clone(&self.wire));
        limited(Arc::new(tool), &self.places.requests, most)
    }
}
