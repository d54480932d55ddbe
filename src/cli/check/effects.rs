//! Tools of which nothing says what they do, where what serves them does more than read.

use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::project::config::{Config, Entry, ToolSpec};
use crate::resolve::Program;

/// Warns of tools without a body and without `@effect` that the settings bind to a program, or to a request that is none for
/// reading alone: such a tool counts as one that only reads.
pub fn not_said(program: &Program, config: &Config) -> Diagnostics {
    let mut found = Diagnostics::new();
    let tools = program.tools.iter();
    let own = tools.filter(|tool| tool.body.is_none() && tool.module.is_none());
    for tool in own.filter(|tool| tool.effect_span.is_none()) {
        let name = &tool.name.node;
        let Some(bound) = config.tools.get(name).and_then(does_more) else {
            continue;
        };
        let message = format!(
            "tool `{name}` is bound to {bound}, and does not say what it does: it counts as one that only reads"
        );
        found.push(
            Diagnostic::new(&codes::EFFECT_NOT_SAID, message, tool.name.span).help(
                "say it behind its result: `@effect(read)`, `@effect(write)`, or `@effect(destructive)` for what can't be undone",
            ),
        );
    }
    found
}

/// What a tool is bound to, in words, where that may do more than read.
fn does_more(entry: &Entry<ToolSpec>) -> Option<String> {
    match &entry.value {
        ToolSpec::Command(_) => Some("a program".to_owned()),
        ToolSpec::Http(spec) => {
            let method = spec.method.as_str();
            let reads = ["GET", "HEAD", "OPTIONS"].contains(&method);
            (!reads).then(|| format!("a request of method {method}"))
        }
        ToolSpec::Graph(spec) => Some(format!("a flow, `{}`", spec.file)),
        ToolSpec::Mcp(spec) => Some(format!("a tool of the MCP server `{}`", spec.server)),
        ToolSpec::Sql(spec) => {
            let word = spec.writes()?;
            Some(format!("a query that writes (`{word}`)"))
        }
        ToolSpec::Script(_) => None,
    }
}
