//! `sql` tools.

use std::sync::Arc;

use crate::backend::tool::sql::SqlTool;
use crate::backend::tool::sql::pool::Pool;
use crate::ir::{Flow, Tool};
use crate::project::config::{Entry, ToolSpec};
use crate::project::spec::sql::{SqlSpec, fit};
use crate::run::tool::ToolBackend;
use crate::store;

use super::Binding;

impl Binding<'_> {
    /// A query. What does not fit the tool, and a file that is not there, is reported.
    pub(super) fn sql(
        &mut self,
        flow: &Flow,
        tool: &Tool,
        spec: &SqlSpec,
        entry: &Entry<ToolSpec>,
    ) -> Arc<dyn ToolBackend> {
        self.query(flow, tool, spec, entry);
        let pool = spec.server().and_then(|url| self.database(url, entry));
        let types = &flow.types;
        Arc::new(SqlTool::new(spec.clone(), tool, types, self.folder, pool))
    }

    /// Connections to a database, shared by all tools that name it.
    fn database(&mut self, url: &str, entry: &Entry<ToolSpec>) -> Option<Arc<Pool>> {
        if !entry.missing.is_empty() {
            return None;
        }
        if let Some(made) = self.databases.get(url) {
            return Some(Arc::clone(made));
        }
        match store::Server::parse(url, self.folder) {
            Ok(server) => {
                let made = Arc::new(Pool::new(server));
                self.databases.insert(url.to_owned(), Arc::clone(&made));
                Some(made)
            }
            Err(error) => {
                let help = "write `postgres://USER:PASSWORD@HOST/DATABASE`";
                self.report(entry.span, error.to_string(), help.to_owned());
                None
            }
        }
    }

    /// Reports what of a query does not fit the tool, which a check looks at at its places, and a file that is not there.
    fn query(&mut self, flow: &Flow, tool: &Tool, spec: &SqlSpec, entry: &Entry<ToolSpec>) {
        let span = entry.span;
        if self.declared.is_none() {
            let params = tool.params.iter();
            let params = params
                .map(|param| (param.name.as_str(), &param.ty))
                .collect();
            let returns = tool.returns.as_ref().map(|ty| (ty, &flow.types));
            for misfit in fit::misfits(spec, &tool.name, &params, returns) {
                self.report(span, misfit.message, misfit.help);
            }
        }
        let file = spec.file().filter(|_| entry.missing.is_empty());
        if let Some(path) = file.filter(|path| !self.folder.join(path).is_file()) {
            let name = &tool.name;
            let message = format!("there is no file `{path}`, which tool `{name}` asks");
            let help = "make it, or correct the path, which is one from the folder of graphc.yaml";
            self.report(span, message, help.to_owned());
        }
    }
}
