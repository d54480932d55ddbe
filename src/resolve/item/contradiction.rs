//! Attributes of a tool that contradict each other or come to nothing.

use crate::ast::ty::Attribute;
use crate::base::Span;
use crate::diag::{Diagnostic, codes};
use crate::ir::flow::ToolEffect;

use super::super::Resolver;
use super::super::program::Tool;

impl Resolver<'_> {
    /// Reports attributes that can't hold together, and those that say nothing on this tool.
    pub(super) fn contradictions(&mut self, tool: &Tool, written: &[Attribute]) {
        let name = &tool.name.node;
        self.of_the_outside(tool, written);
        if let (Some(secret), Some(_)) = (tool.marks.secret, tool.progress) {
            let message = format!(
                "tool `{name}` is `@secret`, and what it reports with `@progress` is shown to whoever reads events"
            );
            let diagnostic = Diagnostic::new(&codes::SECRET_SHOWN, message, secret);
            self.diags.push(diagnostic.help("take one of them out"));
        }
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

    /// What is said of a call to the outside, on a tool whose body calls none: it takes no time that counts, and is made
    /// again as a whole.
    fn of_the_outside(&mut self, tool: &Tool, written: &[Attribute]) {
        if tool.body.is_none() {
            return;
        }
        let mut seen = Vec::new();
        for attribute in written {
            let word = attribute.name.node.as_str();
            if !matches!(word, "timeout" | "idempotent" | "progress") || seen.contains(&word) {
                continue;
            }
            seen.push(word);
            let message = format!(
                "`@{word}` means nothing on tool `{}`, which has a body and calls nothing outside",
                tool.name.node
            );
            let help = "take it out, or take the body out and bind the tool in `graphc.yaml`";
            self.useless(message, attribute.span, help);
        }
    }

    fn useless(&mut self, message: String, span: Span, help: &str) {
        self.report(&codes::USELESS_ATTRIBUTE, message, span, help);
    }
}
