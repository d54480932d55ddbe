//! Programs: `command` tools, and MCP servers.

use crate::base::Span;
use crate::project::spec::command::CommandSpec;
use crate::project::spec::command::absent::absent;

use super::Lacking;

impl Lacking<'_> {
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
