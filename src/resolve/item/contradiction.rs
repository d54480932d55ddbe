//! Attributes of a tool that contradict each other or come to nothing.

use crate::base::Span;
use crate::diag::{Diagnostic, codes};
use crate::ir::flow::ToolEffect;

use super::super::Resolver;
use super::super::program::Tool;

impl Resolver<'_> {
    /// Reports attributes that can't hold together, and those that say nothing on this tool.
    pub(super) fn contradictions(&mut self, tool: &Tool) {
        let name = &tool.name.node;
        match (tool.unattended, tool.approve) {
            (Some(unattended), Some(approve)) => {
                let (first, second) = match approve.start < unattended.start {
                    true => (approve, unattended),
                    false => (unattended, approve),
                };
                let message = format!(
                    "tool `{name}` is both `@approve` and `@unattended`: a person is asked before each call, or nobody is"
                );
                let diagnostic = Diagnostic::new(&codes::BAD_VALUE, message, second)
                    .label(first, "contradicts this")
                    .help("take one of them out");
                self.diags.push(diagnostic);
            }
            (Some(span), None) if tool.effect != ToolEffect::Destructive => {
                let message = format!(
                    "`@unattended` means nothing on tool `{name}`, which is not `@effect(destructive)`"
                );
                let help = "take it out, or say `@effect(destructive)` if what the tool does can't be undone";
                self.useless(message, span, help);
            }
            _ => {}
        }
        if tool.returns.is_some() {
            return;
        }
        let marks = [
            ("untrusted", tool.marks.untrusted),
            ("private", tool.marks.private),
            ("secret", tool.marks.secret),
        ];
        for (word, span) in marks {
            if let Some(span) = span {
                let message =
                    format!("`@{word}` speaks of a result, and tool `{name}` gives nothing back");
                self.useless(message, span, "take it out, or give the tool a result");
            }
        }
    }

    fn useless(&mut self, message: String, span: Span, help: &str) {
        self.diags
            .push(Diagnostic::new(&codes::USELESS_ATTRIBUTE, message, span).help(help));
    }
}
