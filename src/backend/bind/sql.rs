//! `sql` tools.

use std::path::Path;
use std::sync::Arc;

use crate::backend::tool::sql::SqlTool;
use crate::backend::tool::sql::pool::Pool;
use crate::ir::{Flow, Tool};
use crate::project::spec::sql::SqlSpec;
use crate::run::tool::ToolBackend;
use crate::store;

use super::Binding;

/// What is wrong with an address of PostgreSQL. A relative path of a certificate is one from `folder`.
pub fn wrong_address(url: &str, folder: &Path) -> Option<String> {
    let wrong = store::Server::parse(url, folder).err();
    wrong.map(|error| error.to_string())
}

impl Binding<'_> {
    /// A query.
    pub(super) fn sql(&mut self, flow: &Flow, tool: &Tool, spec: &SqlSpec) -> Arc<dyn ToolBackend> {
        let pool = spec.server().and_then(|url| self.database(url));
        let types = &flow.types;
        Arc::new(SqlTool::new(spec.clone(), tool, types, self.folder, pool))
    }

    /// Connections to a database, shared by all tools that name it.
    fn database(&mut self, url: &str) -> Option<Arc<Pool>> {
        if let Some(made) = self.databases.get(url) {
            return Some(Arc::clone(made));
        }
        let server = store::Server::parse(url, self.folder).ok()?;
        let made = Arc::new(Pool::new(server));
        self.databases.insert(url.to_owned(), Arc::clone(&made));
        Some(made)
    }
}
