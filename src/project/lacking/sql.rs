//! `sql` tools.

use crate::ir::{Flow, Tool};
use crate::project::config::{Entry, ToolSpec};
use crate::project::spec::sql::{SqlSpec, fit};

use super::Lacking;

impl Lacking<'_> {
    /// What of a query does not fit the tool, which a check looks at at its places, a file that is not there, and an address that is none.
    pub(super) fn sql(
        &mut self,
        flow: &Flow,
        tool: &Tool,
        spec: &SqlSpec,
        entry: &Entry<ToolSpec>,
    ) {
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
        if !entry.missing.is_empty() {
            return;
        }
        if let Some(path) = spec.file().filter(|path| !self.folder.join(path).is_file()) {
            let name = &tool.name;
            let message = format!("there is no file `{path}`, which tool `{name}` asks");
            let help = "make it, or correct the path, which is one from the folder of graphc.yaml";
            self.report(span, message, help.to_owned());
        }
        let wrong = spec
            .server()
            .and_then(|url| (self.address)(url, self.folder));
        if let Some(why) = wrong {
            let help = "write `postgres://USER:PASSWORD@HOST/DATABASE`";
            self.report(span, why, help.to_owned());
        }
    }
}
