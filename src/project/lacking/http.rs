//! `http` tools.

use crate::base::name;
use crate::ir::Tool;
use crate::project::config::{Entry, ToolSpec};
use crate::project::spec::http::host::is_filled_in;
use crate::project::spec::http::{self, HttpSpec};

use super::Lacking;

impl Lacking<'_> {
    /// Arguments that the tool hasn't got, and a host that none of `allow_hosts` can allow.
    pub(super) fn http(&mut self, tool: &Tool, spec: &HttpSpec, entry: &Entry<ToolSpec>) {
        let span = entry.span;
        // A text that is no template was refused when the file was read. A check looks at them at their places.
        let used = match self.declared {
            Some(_) => Vec::new(),
            None => http::arguments(spec).unwrap_or_default(),
        };
        for (used, text) in used {
            let known = || tool.params.iter().map(|param| param.name.as_str());
            if known().any(|name| name == used) {
                continue;
            }
            let help = match name::closest(&used, known()) {
                Some(near) => format!("did you mean `args.{near}`?"),
                None => format!("its parameters: {}", name::list(known())),
            };
            let name = &tool.name;
            let message = format!("tool `{name}` has no parameter `{used}`, used in `{text}`");
            self.report(span, message, help);
        }
        let hosts = self.config.allow_hosts.as_deref().unwrap_or_default();
        if hosts.is_empty() && entry.missing.is_empty() && is_filled_in(&spec.url) {
            let name = &tool.name;
            let message = format!("arguments of tool `{name}` make up the host that it asks");
            let help =
                "say which hosts it may reach: `allow_hosts: [api.example.com, \"*.example.org\"]`";
            self.report(span, message, help.to_owned());
        }
    }
}
